"""Validation of hooks."""

from __future__ import annotations

from typing import Any

from amplifier_core import ModuleCoordinator

from ._validator import COMPLIANCE, ModuleValidator
from .base import ValidationCheck, ValidationResult

__all__ = ["HookValidator"]


class HookValidator(ModuleValidator):
    """Validates modules that register handlers; the handlers are not called."""

    module_type = "hook"

    def _inspect(
        self, result: ValidationResult, coordinator: ModuleCoordinator, returned: Any, module: Any
    ) -> None:
        listed = coordinator.hooks.list_handlers()
        events = [event for event, handlers in listed.items() if handlers]
        if events:
            shown = ", ".join(f"`{event}`" for event in events[:5])
            more = "" if len(events) <= 5 else f" and {len(events) - 5} more"
            result.note(COMPLIANCE, True, f"Handlers registered for {shown}{more}")
        elif callable(returned) or coordinator.channels or _is_late(module):
            message = "No handler was registered by mount(): it may be conditional, or done later"
            result.add(ValidationCheck(COMPLIANCE, True, message, "warning"))
        else:
            message = (
                "No hook was registered: mount() should call "
                "`coordinator.hooks.register(event, handler)`"
            )
            result.note(COMPLIANCE, False, message)


def _is_late(module: Any) -> bool:
    return getattr(module, "on_session_ready", None) is not None
