"""The answers of the guard: denials, and questions to a person that nothing can imitate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.models import HookResult
from amplifier_guard.question import quote_value


def deny(reason: str) -> HookResult:
    """Deny, with the reason."""
    return HookResult(action="deny", reason=reason)


def ask(question: str) -> HookResult:
    """Ask a person; without an answer the default is to deny."""
    return HookResult(
        action="ask_user",
        approval_prompt=question,
        approval_options=["Allow once", "Deny"],
        approval_default="deny",
    )


_MAX_COMMAND_CHARS = 1000
_MAX_QUESTION_CHARS = 4000
"""Nobody reads more, and nobody can agree to what they have not read."""


def ask_about_call(
    tool: str, argument: str, tool_input: Mapping[str, Any], reason: str
) -> HookResult:
    """Ask a person about all arguments of a call; deny one that cannot be shown whole.

    Args:
        tool: The name of the tool.
        argument: The argument that holds the command.
        tool_input: All arguments.
        reason: Why the call needs approval; it may quote the command.
    """
    command = tool_input[argument]
    if len(command) > _MAX_COMMAND_CHARS:
        return _too_long("command", _MAX_COMMAND_CHARS, reason)
    shown = quote_value(command)
    # Between backticks nothing else can end the quotation.
    is_clear = shown.startswith("`") and '"' not in reason and "  " not in reason
    why = reason if is_clear else quote_value(reason)
    try:
        rows = [
            f"| {quote_value(name)}: {quote_value(value)}"
            for name, value in tool_input.items()
            if name != argument
        ]
    except (TypeError, ValueError) as error:
        return deny(f"nobody can be asked about the arguments of `{tool}`: {error}")
    question = "\n".join([f"run {shown} with `{tool}`? ({why})", *rows])
    if len(question) > _MAX_QUESTION_CHARS:
        return _too_long("call", _MAX_QUESTION_CHARS, reason)
    return ask(question)


def _too_long(what: str, most: int, reason: str) -> HookResult:
    return deny(f"the {what} is too long to ask about (limit: {most:,} characters; {reason})")
