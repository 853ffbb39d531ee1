"""What happened while a session's modules were mounted, for the review of its mount plan."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from .handled_events import serials

_ATTRIBUTE = "_load_report"
_reasons: ContextVar[list[str] | None] = ContextVar("amplifier_core_unmounted", default=None)


@dataclass(frozen=True)
class LoadFailure:
    """A module that was left out."""

    kind: str
    module_id: Any
    text: str
    """What went wrong, in one line."""
    error: Exception
    is_required: bool
    """Whether the session cannot begin without it."""

    def __str__(self) -> str:
        """Name the module and what went wrong."""
        return f"Failed to load {self.kind} '{self.module_id}': {self.text}"


@dataclass(frozen=True)
class Mounted:
    """A module that was mounted, with the settings that it declares."""

    module_id: Any
    config: Any
    settings: Any
    """The model that the module names by `__amplifier_settings__`."""


@dataclass
class LoadReport:
    """The modules of one load."""

    earlier_handlers: dict[str, set[int]]
    """By event, the handlers that no module has registered."""
    failures: list[LoadFailure] = field(default_factory=list[LoadFailure])
    mounted: list[Mounted] = field(default_factory=list[Mounted])
    """Those that declare their settings."""
    replaced: list[str] = field(default_factory=list[str])
    """What one spec mounted in the place of another."""


def begin_report(coordinator: Any) -> LoadReport:
    """Begin the report of a load; the review of the mount plan finds it with the coordinator."""
    report = LoadReport(serials(coordinator.hooks))
    with suppress(AttributeError):  # a stand-in may take no attributes
        setattr(coordinator, _ATTRIBUTE, report)
    return report


def take_report(coordinator: Any) -> LoadReport | None:
    """Return the report of the last load, once; None if there was none."""
    report = getattr(coordinator, _ATTRIBUTE, None)
    if not isinstance(report, LoadReport):
        return None
    setattr(coordinator, _ATTRIBUTE, None)
    return report


def expect_reasons() -> list[str]:
    """Return the list in which a module that is mounted next says why it mounts nothing."""
    reasons: list[str] = []
    _reasons.set(reasons)
    return reasons


def explain(reason: str) -> bool:
    """Say why a module mounts nothing; False if no session is mounting it, so nobody listens."""
    reasons = _reasons.get()
    if reasons is None:
        return False
    reasons.append(reason)
    return True


def is_loading() -> bool:
    """Whether a session is mounting a module, and reports what fails."""
    return _reasons.get() is not None


def end_reasons() -> None:
    """Stop listening for reasons."""
    _reasons.set(None)
