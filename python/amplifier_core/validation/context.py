"""Validation of contexts."""

from __future__ import annotations

from typing import Any

from ._members import check_coroutine
from ._validator import MountingValidator
from .base import ValidationResult

__all__ = ["ContextValidator"]

_METHODS = {
    "add_message": "message",
    "get_messages_for_request": "",
    "get_messages": "",
    "set_messages": "messages",
    "clear": "",
}
"""Methods of a context, and the parameters that each has to take."""


class ContextValidator(MountingValidator):
    """Validates modules that mount the memory of a conversation."""

    module_type = "context"
    interface = "ContextManager"
    mount_point = "context"
    required = tuple(_METHODS)

    def _check_members(self, result: ValidationResult, instance: Any) -> None:
        for member, expected in _METHODS.items():
            check = f"context_{member}"
            check_coroutine(result, check, "ContextManager", instance, member, expected)
