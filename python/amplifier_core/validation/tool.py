"""Validation of tools."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

from amplifier_core import ModuleCoordinator
from amplifier_core.error_messages import describe_failure

from ._members import check_coroutine, check_text
from ._schema import schema_mistakes
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

    def _inspect(
        self, result: ValidationResult, coordinator: ModuleCoordinator, returned: Any, module: Any
    ) -> None:
        super()._inspect(result, coordinator, returned, module)
        # Not where a session mounts it: modules written for 2.0.2 are loaded as they are.
        check_schemas(result, coordinator, returned)


def check_schemas(
    result: ValidationResult, coordinator: ModuleCoordinator, returned: Any = None
) -> None:
    """Look into the schemas of the mounted tools, or else of what `mount` returned."""
    mounted = cast("dict[str, Any]", coordinator.get("tools") or {})
    for name, tool in mounted.items() or [(getattr(returned, "name", "?"), returned)]:
        schema: Any = None
        with suppress(Exception):  # a foreign property: its own check reports it
            schema = getattr(tool, "input_schema", None)
        if isinstance(schema, dict):
            for mistake in schema_mistakes(cast("dict[Any, Any]", schema)):
                message = f"Tool '{name}': input_schema: {mistake}"
                result.note("tool_schema_types", False, message)


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
