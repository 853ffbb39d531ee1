"""Validation of results in their JSON form, as they cross between processes."""

from __future__ import annotations

from typing import Any, cast, get_args

from amplifier_core.error_messages import short_repr
from amplifier_core.models import HookResult

__all__ = ["validate_hook_result", "validate_tool_result"]


def _list_words(field: str) -> frozenset[str]:
    return frozenset(get_args(HookResult.model_fields[field].annotation))


VALID_HOOK_ACTIONS = _list_words("action")
VALID_CONTEXT_INJECTION_ROLES = _list_words("context_injection_role")
VALID_APPROVAL_DEFAULTS = _list_words("approval_default")
VALID_USER_MESSAGE_LEVELS = _list_words("user_message_level")

_WORDS = {
    "action": VALID_HOOK_ACTIONS,
    "context_injection_role": VALID_CONTEXT_INJECTION_ROLES,
    "approval_default": VALID_APPROVAL_DEFAULTS,
    "user_message_level": VALID_USER_MESSAGE_LEVELS,
}


def validate_tool_result(data: Any) -> list[str]:
    """List what is wrong with a tool result; nothing, if it is well-formed."""
    if not isinstance(data, dict):
        return [f"A tool result must be a dict, got {type(data).__name__}"]
    result = cast("dict[str, Any]", data)
    if "success" not in result:
        return ["Missing required field: 'success'"]
    success = result["success"]
    if not isinstance(success, bool):
        return [f"Field 'success' must be bool, got {type(success).__name__}"]
    return []


def validate_hook_result(data: Any) -> list[str]:
    """List what is wrong with a hook result; nothing, if it is well-formed."""
    if not isinstance(data, dict):
        return [f"A hook result must be a dict, got {type(data).__name__}"]
    result = cast("dict[str, Any]", data)
    found: list[str] = []
    for field, valid in _WORDS.items():
        value = result.get(field)
        if value is not None and not (isinstance(value, str) and value in valid):
            found.append(f"Invalid {field} {short_repr(value)}: must be one of {sorted(valid)}")
    return found
