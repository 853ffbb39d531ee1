"""The question about a call of a tool that asks before each run, and what tells others of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from uuid import uuid4

from amplifier_core._kernel.asker import AskedCall, note_asker
from amplifier_core.models import HookResult

_MAX_QUESTION_CHARS = 4000
"""Nobody reads more, and nobody can agree to what they have not read."""
_ASKER = "needs_approval"
"""What messages name where no hook asks, but the tool itself."""


def needs_approval(tool: Any) -> bool:
    """Whether a person must be asked before each call."""
    return getattr(tool, "needs_approval", False) is True


def question_about(tool: str, tool_input: Mapping[str, Any]) -> HookResult:
    """Ask a person about all arguments of a call; deny one that cannot be shown whole."""
    # Imported here: without the extension loops run, but no approved calls.
    from amplifier_guard.question import quoted

    try:
        rows = [f"| {quoted(name)}: {quoted(value)}" for name, value in tool_input.items()]
    except (TypeError, ValueError) as error:
        return _deny(f"nobody can be asked about the arguments of `{tool}`: {error}")
    prompt = "\n".join([f"run `{tool}`?", *rows])
    if len(prompt) > _MAX_QUESTION_CHARS:
        return _deny(
            f"the call is too long to ask about (limit: {_MAX_QUESTION_CHARS:,} characters)"
        )
    question = HookResult(action="ask_user", approval_prompt=prompt)
    note_asker(question, _ASKER)
    return question


def asked_call(call: Mapping[str, Any], tool_input: Any) -> AskedCall:
    """Return what those who answer are told of the call, under a new id."""
    is_object = isinstance(tool_input, dict)
    arguments = dict(cast("dict[str, Any]", tool_input)) if is_object else {}
    return AskedCall(uuid4().hex, str(call.get("tool_name") or ""), arguments)


def required_event(asked: AskedCall, result: Any) -> dict[str, Any]:
    """Return the data of `approval:required`."""
    return {
        "question_id": asked.question_id,
        "tool_name": asked.tool_name,
        "arguments": asked.arguments,
        "prompt": getattr(result, "approval_prompt", None),
        "options": getattr(result, "approval_options", None),
        "timeout": getattr(result, "approval_timeout", None),
        "default": getattr(result, "approval_default", None),
    }


def _deny(reason: str) -> HookResult:
    return HookResult(action="deny", reason=reason)
