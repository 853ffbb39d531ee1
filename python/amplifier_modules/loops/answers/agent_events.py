"""The events of an answer for agents, as hooks hear them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

from amplifier_core.session_capabilities import AGENT_EVENTS

from ...running.failure import describe_error

if TYPE_CHECKING:
    from amplifier_core.message_models import ToolCall
    from amplifier_stream import AgentEvent, ParsedCall

PREFIX = "agent:"
CUSTOM = "agent:custom"
"""Event: one of the application or the provider that has no name of its own."""
NAMES: dict[str, str] = {
    "ThinkingStartEvent": "agent:thinking_start",
    "ThinkingContentEvent": "agent:thinking_content",
    "ThinkingEndEvent": "agent:thinking_end",
    "ToolCallStartEvent": "agent:tool_call_start",
    "ToolCallContentEvent": "agent:tool_call_content",
    "ToolCallEndEvent": "agent:tool_call_end",
    "MessageStartEvent": "agent:message_start",
    "MessageContentEvent": "agent:message_content",
    "MessageEndEvent": "agent:message_end",
    "RestartEvent": "agent:restart",
    "ErrorEvent": "agent:error",
}
"""The name of each type of event of `process_stream`."""
EVENTS = [*NAMES.values(), CUSTOM]
"""All events of this module."""


def list_names(coordinator: Any) -> list[str]:
    """Return the names of these events, with those that the application has named."""
    return [*EVENTS, *own_event_names(coordinator).values()]


def own_event_names(coordinator: Any) -> dict[str, str]:
    """Return the names of the application's own events, by their types and custom names.

    Raises:
        TypeError: The capability `agent.events` is no mapping of types or names to names.
    """
    capability = getattr(coordinator, "get_capability", None)
    given = capability(AGENT_EVENTS) if callable(capability) else None
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(
            f"the capability `{AGENT_EVENTS}` is a `{type(given).__name__}` (must be a mapping of"
            " types of events, or names of custom events, to names for hooks)"
        )
    known: dict[str, str] = {}
    for key, name in cast("Mapping[Any, Any]", given).items():
        if not isinstance(name, str) or not isinstance(key, str | type):
            raise TypeError(
                f"the capability `{AGENT_EVENTS}` names {key!r} as {name!r} (must be a type or a"
                " name, and a name for hooks)"
            )
        known[key if isinstance(key, str) else key.__name__] = name
    return known


def hook_event(
    event: AgentEvent, own: Mapping[str, str], ended: ToolCall | None = None
) -> tuple[str, dict[str, Any]]:
    """Return the name and the payload of an event.

    Args:
        event: The event.
        own: The names of the application's own events, see `registered`.
        ended: The call that has ended, with arguments of the types of its schema.
    """
    from amplifier_providers.answers.gathered_answer import tool_call
    from amplifier_stream import CustomEvent, ErrorEvent, ToolCallEndEvent

    kind = event.type
    data = {each.name: getattr(event, each.name) for each in fields(event)}
    if isinstance(event, CustomEvent):
        return own.get(event.name, CUSTOM), data
    if isinstance(event, ToolCallEndEvent):
        data["call"] = _call(event.call, ended or tool_call(event.call))
    elif isinstance(event, ErrorEvent):
        error = event.error
        data["error"] = (
            describe_error(error)
            if isinstance(error, Exception)
            else {"type": "error", "msg": str(error)}
        )
    if kind in own:
        return own[kind], data
    if kind in NAMES:
        return NAMES[kind], data
    return CUSTOM, {"name": kind, "data": data}


def _call(call: ParsedCall, ended: ToolCall) -> dict[str, Any]:
    error = (ended.model_extra or {}).get("error")
    return {
        "id": ended.id,
        "name": ended.name,
        "arguments": None if error else ended.arguments,
        "error": error,
        "raw": call.raw,
        "is_native": call.is_native,
        "findings": call.findings,
    }
