"""Validation of providers."""

from __future__ import annotations

from typing import Any

from amplifier_core import ModuleCoordinator
from amplifier_core.error_messages import describe_failure
from amplifier_core.models import ProviderInfo

from ._members import check_coroutine, check_text
from ._validator import MountingValidator
from .base import ValidationResult

__all__ = ["ProviderValidator"]


class ProviderValidator(MountingValidator):
    """Validates modules that mount providers."""

    module_type = "provider"
    interface = "Provider"
    mount_point = "providers"
    required = ("name", "get_info", "list_models", "complete", "parse_tool_calls")

    def _is_empty(self, coordinator: ModuleCoordinator) -> bool:
        return not coordinator.get(self.mount_point)

    def _check_members(self, result: ValidationResult, instance: Any) -> None:
        check_text(result, "provider_name", "Provider", instance, "error")
        _check_info(result, instance)
        for member, expected in (("list_models", ""), ("complete", "request")):
            check = f"provider_{member}"
            check_coroutine(result, check, "Provider", instance, member, expected)
        callable_ = callable(instance.parse_tool_calls)
        message = "Provider.parse_tool_calls() " + ("is there" if callable_ else "is no method")
        result.note("provider_parse_tool_calls", callable_, message)


def _check_info(result: ValidationResult, instance: Any) -> None:
    check = "provider_get_info"
    try:
        found = instance.get_info()
    except Exception as error:  # noqa: BLE001 (a foreign method)
        message = f"Provider.get_info() raised {describe_failure(error)}"
        result.note(check, False, message, "warning")
        return
    if isinstance(found, ProviderInfo):
        result.note(check, True, "Provider.get_info() returns ProviderInfo")
    else:
        kind = type(found).__name__
        result.note(check, False, f"Provider.get_info() should return ProviderInfo, found `{kind}`")
