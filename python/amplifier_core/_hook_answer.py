"""What a handler answered, and the results that the kernel makes of answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ._argument import any_text, flag, refusal, text
from ._hook_result import ContextInjection, HookResult
from ._payload import Fields, Payload


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that does more than let the event go on."""

    action: Literal["deny", "ask_user", "modify", "inject_context"]
    result: HookResult
    """The whole answer."""
    payload: Fields | None = None
    """What a `modify` puts in the place of the payload."""
    items: list[ContextInjection] = field(default_factory=list[ContextInjection])
    """What an `inject_context` injects."""


def read_answer(value: Any, payload: Payload) -> Answer | None:
    """Read what a handler returned for a payload; None lets the event go on.

    Raises:
        Exception: It cannot be understood.
    """
    if isinstance(value, HookResult):
        result = value
    elif issubclass(type(value), dict):
        result = HookResult.model_validate(value)
    else:
        raise TypeError("not a `HookResult`, a dict or None")
    match any_text(result.action):
        case "continue":
            return None
        case "deny":
            return Answer("deny", result)
        case "ask_user":
            return Answer("ask_user", result)
        case "modify":
            return _modification(result, payload)
        case "inject_context":
            items = injections(result)
            return Answer("inject_context", result, items=items) if items else None
        case other:
            raise ValueError(f"unknown action `{other}`")


def _modification(result: HookResult, payload: Payload) -> Answer | None:
    data: Any = result.data
    if data is None:
        return None
    if not issubclass(type(data), dict):
        raise refusal(data, "dict")
    return Answer("modify", result, payload=payload.replaced_by(data))


def injections(result: Any) -> list[ContextInjection]:
    """Give the injections of a result: its list, else the one that its scalar fields describe.

    `hook_name` and `event` of an item are its own claims here.
    """
    items = [
        ContextInjection(
            content=text(item.content),
            role=_role(item.role),
            ephemeral=flag(item.ephemeral),
            append_to_last_tool_result=flag(item.append_to_last_tool_result),
            hook_name=text(item.hook_name),
            event=text(item.event),
        )
        for item in result.context_injections
    ]
    scalar = result.context_injection
    if not items and scalar is not None:
        only = ContextInjection(
            content=text(scalar),
            role=_role(result.context_injection_role),
            ephemeral=flag(result.ephemeral),
            append_to_last_tool_result=flag(result.append_to_last_tool_result),
        )
        items.append(only)
    return items


def _role(value: object) -> Literal["system", "user", "assistant"]:
    role = any_text(value)
    if role not in ("system", "user", "assistant"):
        raise ValueError(f"unknown injection role `{role}`")
    return role


def projection(items: list[ContextInjection]) -> dict[str, Any]:
    """Give the fields of a result that carry these injections, one at least."""
    return {
        "context_injection": "\n\n".join(item.content for item in items),
        "context_injection_role": items[0].role,
        "ephemeral": any(item.ephemeral for item in items),
        "append_to_last_tool_result": any(item.append_to_last_tool_result for item in items),
        "context_injections": items,
    }


def continuing(data: Any) -> HookResult:
    """Make `HookResult(action="continue", data=data)`, with the very object as its data."""
    return HookResult.model_construct(_fields_set={"action", "data"}, action="continue", data=data)


def denying(reason: str) -> HookResult:
    """Make `HookResult(action="deny", reason=reason)`."""
    return HookResult(action="deny", reason=reason)
