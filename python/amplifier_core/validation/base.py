"""What a validation finds, and how the module that is validated is imported."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from amplifier_core._loading import check as package_check

__all__ = [
    "ValidationCheck",
    "ValidationResult",
    "check_on_session_ready",
    "import_module_from_path",
]

Severity = Literal["error", "warning", "info"]


@dataclass
class ValidationCheck:
    """One thing that was looked at."""

    name: str
    passed: bool
    message: str
    severity: Severity
    """How bad it is if it did not pass; a validation fails by errors only."""


class Checks:
    """A list of checks, and what it amounts to."""

    checks: list[ValidationCheck]

    @property
    def passed(self) -> bool:
        """Whether no check of severity `error` failed."""
        return not self.errors

    @property
    def errors(self) -> list[ValidationCheck]:
        """The failed checks of severity `error`."""
        return self._failed("error")

    @property
    def warnings(self) -> list[ValidationCheck]:
        """The failed checks of severity `warning`."""
        return self._failed("warning")

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

    def _failed(self, severity: Severity) -> list[ValidationCheck]:
        return [check for check in self.checks if check.severity == severity and not check.passed]


@dataclass
class ValidationResult(Checks):
    """What the validation of a module found."""

    module_type: str
    module_path: str
    checks: list[ValidationCheck] = field(default_factory=list[ValidationCheck])


def check_on_session_ready(module: Any) -> ValidationCheck | None:
    """Give the failed check of an `on_session_ready` that cannot be called, else None.

    It has to be `async def on_session_ready(coordinator)`; a module need not have one.
    """
    for check in package_check.check_on_session_ready(module):
        return ValidationCheck(check.name, check.passed, check.message, "error")
    return None


def import_module_from_path(module_path: str | Path) -> ModuleType:
    """Import the package or file at a path, or the module of a dotted name.

    Args:
        module_path: Folder of a package, folder with a package `amplifier_module_*` in it, Python
            file, or dotted name of something importable.

    Raises:
        ImportError: There is nothing of the kind, or a module of that name is loaded from
            elsewhere.
        Exception: Whatever the module raises while it is imported.
    """
    path = Path(module_path)
    if not path.exists():
        return _import_by_name(str(module_path))
    path = path.resolve()
    if path.is_dir():
        package = package_check.find_package(path.name, path)
        if package is None:
            raise ImportError(f"no `__init__.py` in {path}", path=str(path))
        return import_from(package.parent, package.name, package / "__init__.py")
    if path.suffix != ".py":
        raise ImportError(f"{path} is neither a package nor a Python file", path=str(path))
    folder, name = path.parent, path.stem
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        # Part of a package, which it may import from relatively.
        folder, name = folder.parent, f"{folder.name}.{name}"
    return import_from(folder, name, path)


def import_from(folder: Path, name: str, file: Path | None = None) -> ModuleType:
    """Import a module by name with a folder in front of `sys.path`.

    Args:
        folder: Where it lies.
        name: Name of the module.
        file: File it has to come from; None for any.

    Raises:
        ImportError: It comes from another file.
    """
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        importlib.invalidate_caches()
        module = importlib.import_module(name)
    finally:
        sys.path.remove(entry)
    origin = getattr(module, "__file__", None)
    if file is not None and (origin is None or Path(origin).resolve() != file.resolve()):
        raise ImportError(
            f"refusing to import `{name}` from {file}: it is loaded from {origin}", name=name
        )
    return module


def _import_by_name(name: str) -> ModuleType:
    if "/" in name or not all(part.isidentifier() for part in name.split(".")):
        raise ImportError(f"no file, folder or importable module `{name}`")
    return importlib.import_module(name)
