"""Validation of tools."""

from __future__ import annotations

from typing import Any

from amplifier_core._kernel.import_failure import describe_failure

from ._members import check_coroutine, check_text
from ._validator import MountingValidator
from .base import ValidationResult

__all__ = ["ToolValidator"]


class ToolValidator(MountingValidator):
    """Validates modules that mount tools."""

    module_type = "tool"
    interface = "Tool"
    mount_point = "tools"
    required = ("name", "execute")

    def _check_members(self, result: ValidationResult, instance: Any) -> None:
        check_text(result, "tool_name", "Tool", instance, "error")
        check_text(result, "tool_description", "Tool", instance, "warning")
        _check_schema(result, instance)
        check_coroutine(result, "tool_execute", "Tool", instance, "execute", "input")


def _check_schema(result: ValidationResult, instance: Any) -> None:
    check = "tool_input_schema"
    try:
        schema = getattr(instance, "input_schema", {})
    except Exception as error:  # noqa: BLE001 (a foreign property)
        message = f"Tool.input_schema raised {describe_failure(error)}"
        result.note(check, False, message, "warning")
        return
    if isinstance(schema, dict):
        result.note(check, True, "Tool.input_schema is a dict or absent")
    else:
        message = f"Tool.input_schema should be a dict, found a `{type(schema).__name__}`"
        result.note(check, False, message, "warning")
