"""The process in which the command validates a module or a mount plan, whatever a module does to it."""

from __future__ import annotations

import asyncio
import json
from os import _exit as leave
from os import getpid, replace
from typing import NoReturn

from amplifier_core.error_messages import describe_failure

from ._plan import KIND, validate_plan
from ._validator import ModuleValidator
from .base import ValidationResult
from .context import ContextValidator
from .hook import HookValidator
from .orchestrator import OrchestratorValidator
from .provider import ProviderValidator
from .tool import ToolValidator

VALIDATORS: dict[str, type[ModuleValidator]] = {
    "provider": ProviderValidator,
    "tool": ToolValidator,
    "hook": HookValidator,
    "orchestrator": OrchestratorValidator,
    "context": ContextValidator,
}
PROCESS = "module_process"
"""The check that a module leaves its process to the validation."""
_MAX_MESSAGE_CHARS = 2_000


def main(verdict: str, module_type: str, module_path: str, entry_point: str | None) -> NoReturn:
    """Validate a module or a mount plan, write the verdict to a file, and leave.

    Nothing that the module left behind runs at the end: no thread, task or exit function.
    """
    owner = getpid()

    async def validate() -> None:
        if module_type == KIND:
            _leave(verdict, await validate_plan(module_path), owner)
        validator = VALIDATORS[module_type]()
        _leave(verdict, await validator.validate(module_path, entry_point), owner)

    try:
        asyncio.run(validate())
    except BaseException as error:  # noqa: BLE001 (a module may raise anything)
        result = ValidationResult(module_type, module_path)
        result.note(PROCESS, False, f"The module raised {describe_failure(error)}")
        _leave(verdict, result, owner)
    leave(1)


def _leave(verdict: str, result: ValidationResult, owner: int) -> NoReturn:
    checks = [
        (check.name, check.passed, clip_text(check.message), check.severity)
        for check in result.checks
    ]
    # A module may have forked: only the process that was started has a verdict.
    if getpid() == owner:
        with open(f"{verdict}.new", "w", encoding="ascii") as file:
            json.dump(checks, file)
        replace(f"{verdict}.new", verdict)
    leave(0)


def clip_text(text: str) -> str:
    """Cut a text that is too long to be read."""
    return text if len(text) <= _MAX_MESSAGE_CHARS else f"{text[:_MAX_MESSAGE_CHARS]}…"
