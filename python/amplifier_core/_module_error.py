"""What goes wrong while a module is found, and the bounded categories of it."""

from __future__ import annotations

from . import module_sources
from .error_messages import describe_failure, missing_package, short_repr

MODULE_FAILURE_REASONS = frozenset(
    {
        "invalid_entry_point",
        "invalid_module_metadata",
        "invalid_package_layout",
        "missing_source",
        "unknown",
        "validation_failed",
    }
)
"""Every category that `module_failure_reason` can return."""


class ModuleValidationError(Exception):
    """A module was found, but is not one that can be mounted."""

    hint: str | None = None
    """What the user can do about it; the text says it, too."""

    def __init__(
        self, message: str, *, reason_code: str = "validation_failed", hint: str | None = None
    ) -> None:
        super().__init__(_with_hint(message, hint))
        self.reason_code = reason_code
        if hint is not None:
            self.hint = hint


class ModuleDiscoveryError(ValueError):
    """A module could not be found, or what was found could not be imported."""

    hint: str | None = None
    """What the user can do about it; the text says it, too."""

    def __init__(
        self, message: str, *, reason_code: str = "missing_source", hint: str | None = None
    ) -> None:
        super().__init__(_with_hint(message, hint))
        self.reason_code = reason_code
        if hint is not None:
            self.hint = hint


def _with_hint(message: str, hint: str | None) -> str:
    return message if hint is None else f"{message}; {hint}"


def module_failure_reason(error: BaseException) -> str:
    """Return the category of a failed load; the error's text is not read."""
    if isinstance(error, module_sources.ModuleNotFoundError):
        return "missing_source"
    if isinstance(error, ModuleValidationError | ModuleDiscoveryError):
        reason = error.reason_code
        return reason if reason in MODULE_FAILURE_REASONS else "unknown"
    return "unknown"


def check_id(module_id: object) -> None:
    """Refuse what cannot be the id of a module.

    Raises:
        ModuleDiscoveryError: It is no text, or an empty one.
    """
    if not isinstance(module_id, str) or not module_id:
        found = short_repr(module_id)
        raise ModuleDiscoveryError(
            f"Module '{'' if module_id == '' else found}' not found via entry points or filesystem: "
            f"a module id is a `str` that is not empty, found `{found}`"
        )


def not_loadable(words: str, failures: list[Exception]) -> ModuleDiscoveryError:
    """Make the error of a module that is there and broken, with the last failure as its cause."""
    reasons = "; ".join(describe_failure(failure) for failure in failures)
    text = f"{words}: {reasons}" if reasons else words
    hint = next(filter(None, map(missing_package, failures)), None)
    error = ModuleDiscoveryError(text, reason_code="invalid_entry_point", hint=hint)
    error.__cause__ = failures[-1] if failures else None
    return error
