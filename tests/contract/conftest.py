"""Where the Python side of each shared type is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from amplifier_core import content_models, interfaces, message_models, models
from amplifier_guard import claude

NOT_A_MODEL: dict[str, Any] = {
    "ContentBlock": message_models.ContentBlockUnion,
    "ResponseFormat": message_models.ResponseFormat,
    "HookAction": models.HookResult.model_fields["action"].annotation,
    "ContextInjectionRole": models.ContextInjection.model_fields["role"].annotation,
    "ApprovalDefault": models.HookResult.model_fields["approval_default"].annotation,
    "UserMessageLevel": models.HookResult.model_fields["user_message_level"].annotation,
    "ConfigFieldType": models.ConfigField.model_fields["field_type"].annotation,
    "ModuleType": models.ModuleInfo.model_fields["type"].annotation,
    "SessionState": models.SessionStatus.model_fields["status"].annotation,
    "Role": message_models.Role,
    "Visibility": message_models.Visibility,
    "ContentBlockType": content_models.ContentBlockType,
}


def type_named(name: str) -> Any:
    """The annotation that stands for a shared type in Python."""
    if name in NOT_A_MODEL:
        return NOT_A_MODEL[name]
    if name.startswith("claude::"):
        return getattr(claude, name.removeprefix("claude::"))
    # `models.ToolCall` is the older form of seed names; the shared one is in `message_models`.
    for module in (message_models, models, interfaces):
        if hasattr(module, name):
            return getattr(module, name)
    raise LookupError(f"no type of Python is named `{name}`")


@pytest.fixture(scope="session")
def python_type() -> Callable[[str], Any]:
    """Looks up the annotation that stands for a shared type in Python."""
    return type_named
