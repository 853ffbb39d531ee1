"""Validation of orchestrators."""

from __future__ import annotations

from typing import Any

from ._members import check_coroutine
from ._validator import MountingValidator
from .base import ValidationResult

__all__ = ["OrchestratorValidator"]


class OrchestratorValidator(MountingValidator):
    """Validates modules that mount a loop."""

    module_type = "orchestrator"
    interface = "Orchestrator"
    mount_point = "orchestrator"
    required = ("execute",)

    def _check_members(self, result: ValidationResult, instance: Any) -> None:
        expected = "prompt, context, providers, tools, hooks"
        check = "orchestrator_execute"
        check_coroutine(result, check, "Orchestrator", instance, "execute", expected)
