"""Validation of mount plans, without loading any module."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from amplifier_core.mount_plan import LISTS, MAIN_MODULES, SECTIONS, STORE
from amplifier_core.utils.truncate import redact_secrets, truncate_values

from .base import Checks, ValidationCheck

__all__ = ["MountPlanValidationResult", "MountPlanValidator"]

_EXPECTED = "{'module': 'module-name', 'source': '...', 'config': {...}}"


@dataclass
class MountPlanValidationResult(Checks):
    """What the validation of a mount plan found."""

    checks: list[ValidationCheck] = field(default_factory=list[ValidationCheck])

    def format_errors(self) -> str:
        """List the failed checks of severity `error`, numbered; `No errors` without any."""
        if not self.errors:
            return "No errors"
        listed = (
            f"  {number}. [{check.name}] {check.message}"
            for number, check in enumerate(self.errors, 1)
        )
        total = f"Total: {len(self.errors)} error(s)"
        return "\n".join(["Mount Plan Validation Failed:", "", *listed, "", total])


class MountPlanValidator:
    """Validates the form of mount plans.

    Args:
        allow_names: Whether a module may be named by its id alone, as the session allows.
    """

    def __init__(self, *, allow_names: bool = False) -> None:
        self._allow_names = allow_names

    def validate(self, mount_plan: Any) -> MountPlanValidationResult:
        """Validate a mount plan; any object is taken and nothing raised."""
        result = MountPlanValidationResult()
        if not isinstance(mount_plan, dict):
            result.note(
                "root_type", False, f"Mount plan must be a dict, got {_name_kind(mount_plan)}"
            )
            return result
        plan = dict(cast("dict[Any, Any]", mount_plan))
        result.note("root_type", True, "Mount plan is a dict")
        if "session" not in plan:
            message = "Mount plan is missing the required section 'session'"
            result.note("session_present", False, message)
        else:
            result.note("session_present", True, "Section 'session' is present")
        unknown = sorted(_write_value(name) for name in plan if name not in SECTIONS)
        if unknown:
            message = f"Unknown sections will be ignored: {', '.join(unknown)}"
            result.note("unknown_sections", False, message, "warning")
        if "session" in plan:
            self._check_session(result, plan["session"])
        for section in LISTS:
            if section in plan:
                self._check_list(result, section, plan[section])
        return result

    def _check_session(self, result: MountPlanValidationResult, session: Any) -> None:
        if not isinstance(session, dict):
            message = f"Section 'session' must be a dict, got {_name_kind(session)}"
            result.note("session_type", False, message)
            return
        specs = cast("dict[Any, Any]", session)
        for name in MAIN_MODULES:
            if name in specs:
                self._check_spec(result, f"session.{name}", specs[name])
            else:
                message = f"Section 'session' is missing the required field '{name}'"
                result.note(f"session_{name}_present", False, message)
        if STORE in specs:
            self._check_spec(result, "session.store", specs[STORE])

    def _check_list(self, result: MountPlanValidationResult, section: str, specs: Any) -> None:
        if not isinstance(specs, list):
            message = f"Section '{section}' must be a list, got {_name_kind(specs)}"
            result.note(f"{section}_type", False, message)
            return
        entries = cast("list[Any]", specs)
        if not entries:
            result.note(f"{section}_empty", True, f"Section '{section}' is empty")
        for position, spec in enumerate(entries):
            self._check_spec(result, f"{section}[{position}]", spec)

    def _check_spec(self, result: MountPlanValidationResult, path: str, spec: Any) -> None:
        if isinstance(spec, str) and self._allow_names:
            _check_name(result, path, spec)
            return
        if not isinstance(spec, dict):
            message = f"Module spec at {path} must be a dict, got {_name_kind(spec)}"
            result.note(f"{path}_type", False, message)
            return
        entries = cast("dict[Any, Any]", spec)
        if "module" in entries:
            _check_name(result, path, entries["module"])
        else:
            message = (
                f"Module spec at {path} is missing the required field 'module'.\n"
                f"  Got: {_write_value(entries)}\n  Expected: {_EXPECTED}"
            )
            result.note(f"{path}_module_required", False, message)
        if not isinstance(entries.get("config", {}), dict):
            message = (
                f"Value of 'config' at {path} must be a dict, got {_name_kind(entries['config'])}"
            )
            result.note(f"{path}_config_type", False, message)
        if not isinstance(entries.get("source", ""), str):
            kind = _name_kind(entries["source"])
            message = f"Value of 'source' at {path} must be a string, got {kind}"
            result.note(f"{path}_source_type", False, message)


def _check_name(result: MountPlanValidationResult, path: str, name: Any) -> None:
    if not isinstance(name, str):
        message = f"Value of 'module' at {path} must be a string, got {_name_kind(name)}"
        result.note(f"{path}_module_type", False, message)
    elif not name.strip():
        result.note(f"{path}_module_empty", False, f"Value of 'module' at {path} cannot be empty")
    else:
        result.note(f"{path}_module_valid", True, f"Module '{name}' at {path} is named well")


def _name_kind(value: Any) -> str:
    return type(value).__name__


def _write_value(value: Any) -> str:
    """A value in one line, without its secrets."""
    try:
        return repr(truncate_values(redact_secrets(value)))
    except Exception:  # noqa: BLE001 (whatever a foreign `__repr__` raises)
        return f"<{type(value).__name__}>"
