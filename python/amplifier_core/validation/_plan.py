"""Validation of a whole mount plan: its form, then its modules, as a strict session sees them."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, cast

from amplifier_core._kernel.import_failure import describe_failure, error_text
from amplifier_core._loading.plan_keys import plan_mistakes
from amplifier_core._loading.review import mistakes_of

from .base import ValidationResult
from .mount_plan import MountPlanValidator

KIND = "plan"
"""What a mount plan is called where modules are called by their type."""

_SAID_BY_SESSION = "unknown_sections"


async def validate_plan(path: str) -> ValidationResult:
    """Validate the mount plan in a file; its modules are loaded and mounted once."""
    result = ValidationResult(KIND, path)
    plan = _read(Path(path), result)
    if not result.passed:
        return result
    form = MountPlanValidator(allow_names=True).validate(plan)
    for check in form.checks:
        if check.name != _SAID_BY_SESSION:
            result.add(check)
    if result.passed:
        await _mount(cast("dict[str, Any]", plan), result)
    elif isinstance(plan, dict):
        for text in plan_mistakes(cast("dict[str, Any]", plan)):
            result.note("strict", False, text)
    return result


def _read(path: Path, result: ValidationResult) -> Any:
    try:
        text = path.read_text("utf-8")
        if path.suffix == ".toml":
            import tomllib

            plan = tomllib.loads(text)
        else:
            plan = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        why = error_text(error) or type(error).__name__
        result.note("plan_readable", False, f"Cannot read {path}: {why}")
        return None
    result.note("plan_readable", True, f"Mount plan read from {path}")
    return plan


async def _mount(plan: dict[str, Any], result: ValidationResult) -> None:
    """Mount the modules of a plan in a strict session, and note what that session says."""
    from amplifier_core import AmplifierSession

    warnings = _Warnings()
    logger = logging.getLogger("amplifier_core.session")
    logger.addHandler(warnings)
    session = AmplifierSession({**plan, "session": {**plan["session"], "strict": True}})
    try:
        await session.initialize()
    except Exception as error:  # noqa: BLE001 (a module may raise anything)
        for text in mistakes_of(error) or [describe_failure(error)]:
            result.note("strict", False, text)
    else:
        result.note("strict", True, "Every module is mounted, and all that the plan says is known")
    finally:
        logger.removeHandler(warnings)
        await session.cleanup()
    for text in warnings.texts:
        result.note("session", False, text, "warning")


class _Warnings(logging.Handler):
    """Keeps what a session warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one warning."""
        self.texts.append(record.getMessage())
