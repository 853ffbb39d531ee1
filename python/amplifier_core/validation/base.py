"""What a validation finds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from amplifier_core._loading import check as package_check
from amplifier_core._packages.package import import_module_from_path

__all__ = [
    "ValidationCheck",
    "ValidationResult",
    "check_on_session_ready",
    "import_module_from_path",
]

Severity = Literal["error", "warning", "info"]


@dataclass
class ValidationCheck:
    """One check and its result."""

    name: str
    passed: bool
    message: str
    severity: Severity
    """How bad it is if it did not pass; a validation fails by errors only."""


class Checks:
    """A list of checks, and their overall result."""

    checks: list[ValidationCheck]

    @property
    def passed(self) -> bool:
        """Whether no check of severity `error` failed."""
        return not self.errors

    @property
    def errors(self) -> list[ValidationCheck]:
        """The failed checks of severity `error`."""
        return self._failed_checks("error")

    @property
    def warnings(self) -> list[ValidationCheck]:
        """The failed checks of severity `warning`."""
        return self._failed_checks("warning")

    def add(self, check: ValidationCheck) -> None:
        """Append a check."""
        self.checks.append(check)

    def summary(self) -> str:
        """Count the checks in one line."""
        verdict = "PASSED" if self.passed else "FAILED"
        passed = sum(check.passed for check in self.checks)
        counts = f"{passed}/{len(self.checks)} checks passed"
        return f"{verdict}: {counts} ({len(self.errors)} errors, {len(self.warnings)} warnings)"

    def note(self, name: str, passed: bool, message: str, severity: Severity = "error") -> None:
        """Append a check; one that passed is of severity `info`."""
        self.add(ValidationCheck(name, passed, message, "info" if passed else severity))

    def _failed_checks(self, severity: Severity) -> list[ValidationCheck]:
        return [check for check in self.checks if check.severity == severity and not check.passed]


@dataclass
class ValidationResult(Checks):
    """What the validation of a module found."""

    module_type: str
    module_path: str
    checks: list[ValidationCheck] = field(default_factory=list[ValidationCheck])


def check_on_session_ready(module: Any) -> ValidationCheck | None:
    """Return the failed check of an `on_session_ready` that cannot be called, else None.

    It has to be `async def on_session_ready(coordinator)`; a module need not have one.
    """
    for check in package_check.check_on_session_ready(module):
        return ValidationCheck(check.name, check.passed, check.message, "error")
    return None
