"""What a handler answered, and the results and notices that the kernel makes of answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast, get_args

from .._hook_result import Action, ContextInjection, HookResult, Level, Role, read_hook_result
from .argument import any_text, make_refusal, take_flag, take_text
from .payload import Fields, Payload, top_level

_LEVELS: tuple[Level, ...] = get_args(Level)


class Notice:
    """One message to the user, made of those of all handlers."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._sources: list[str] = []
        self._level = 0
        self._suppresses_output = False

    @staticmethod
    def is_in(result: HookResult) -> bool:
        """Whether a result says anything to the user."""
        return result.user_message is not None or result.suppress_output is True

    def add(self, result: HookResult) -> None:
        """Add what the next handler says; fields of a wrong type say nothing."""
        self._suppresses_output |= result.suppress_output is True
        message = _text_of(result.user_message)
        if not message:
            return
        self._texts.append(message)
        if result.user_message_level in _LEVELS:
            self._level = max(self._level, _LEVELS.index(result.user_message_level))
        source = _text_of(result.user_message_source)
        if source and source not in self._sources:
            self._sources.append(source)

    def add_to(self, result: HookResult) -> HookResult:
        """Return a result with the message of all handlers: texts, highest level, sources."""
        update: dict[str, Any] = {}
        if self._suppresses_output:
            update["suppress_output"] = True
        if self._texts:
            update["user_message"] = "\n".join(self._texts)
            update["user_message_level"] = _LEVELS[self._level]
            update["user_message_source"] = ", ".join(self._sources) or None
        return result.model_copy(update=update) if update else result


def _text_of(value: object) -> str | None:
    """Return what is a text that can be shown, else None."""
    try:
        return take_text(value)
    except (TypeError, UnicodeEncodeError):
        return None


_ACTIONS: tuple[str, ...] = get_args(Action)
_ROLES: tuple[str, ...] = get_args(Role)
_INJECTION_FIELDS = (
    "context_injection",
    "context_injection_role",
    "ephemeral",
    "append_to_last_tool_result",
    "context_injections",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that does more than silently continue."""

    action: Action
    result: HookResult
    """The whole answer."""
    payload: Fields | None = None
    """What a `modify` puts in the place of the payload."""
    items: list[ContextInjection] = field(default_factory=list[ContextInjection])
    """What an `inject_context` injects."""


def result_of(value: Any) -> HookResult:
    """Read what a handler returned, but for None: a result itself or the fields of one.

    Raises:
        Exception: It cannot be understood.
    """
    if isinstance(value, HookResult):
        return value
    fields = top_level(value)
    if issubclass(type(fields), dict):
        return read_hook_result(fields)
    raise TypeError("not a `HookResult`, a dict or None")


def read_answer(value: Any, payload: Payload) -> Answer | None:
    """Read what a handler returned for a payload; None lets the event continue.

    Raises:
        Exception: It cannot be understood.
    """
    result = result_of(value)
    match any_text(result.action):
        case "continue":
            return _remark(result)
        case "deny":
            return Answer("deny", result)
        case "ask_user":
            return Answer("ask_user", result)
        case "modify":
            return _read_modification(result, payload)
        case "inject_context":
            items = list_injections(result)
            return Answer("inject_context", result, items=items) if items else _remark(result)
        case other:
            raise _unknown_action(other)


def check_action(result: HookResult) -> None:
    """Refuse an action that no validated result has."""
    action = any_text(result.action)
    if action not in _ACTIONS:
        raise _unknown_action(action)


def _unknown_action(action: str) -> ValueError:
    return ValueError(f"unknown action `{action}`")


def _remark(result: HookResult) -> Answer | None:
    """Read an answer that lets the event continue, for its message to the user."""
    return Answer("continue", result) if Notice.is_in(result) else None


def _read_modification(result: HookResult, payload: Payload) -> Answer | None:
    data: Any = result.data
    if data is None:
        return _remark(result)
    if not issubclass(type(data), dict):
        raise make_refusal(data, "dict")
    return Answer("modify", result, payload=payload.replaced_by(data))


def list_injections(
    result: Any, hook_name: str = "unknown", event: str = ""
) -> list[ContextInjection]:
    """Return the injections of a result: its list, else the one that its scalar fields describe.

    Older results have no list. `hook_name` and `event` of an item of the list are its own claims.

    Args:
        result: The result.
        hook_name: Whose the one of the scalar fields is.
        event: What it answers.
    """
    items = [
        ContextInjection(
            content=take_text(item.content),
            role=_read_role(item.role),
            ephemeral=take_flag(item.ephemeral),
            append_to_last_tool_result=take_flag(item.append_to_last_tool_result),
            hook_name=take_text(item.hook_name),
            event=take_text(item.event),
        )
        for item in getattr(result, "context_injections", ())
    ]
    scalar = result.context_injection
    if not items and scalar is not None:
        only = ContextInjection(
            content=take_text(scalar),
            role=_read_role(result.context_injection_role),
            ephemeral=take_flag(result.ephemeral),
            append_to_last_tool_result=take_flag(result.append_to_last_tool_result),
            hook_name=hook_name,
            event=event,
        )
        items.append(only)
    return items


def _read_role(value: object) -> Role:
    role = any_text(value)
    if role not in _ROLES:
        raise ValueError(f"unknown injection role `{role}`")
    return cast(Role, role)


def project_injections(items: list[ContextInjection]) -> dict[str, Any]:
    """Return the fields of a result that carry these injections, one at least."""
    return {
        "context_injection": "\n\n".join(item.content for item in items),
        "context_injection_role": items[0].role,
        "ephemeral": any(item.ephemeral for item in items),
        "append_to_last_tool_result": any(item.append_to_last_tool_result for item in items),
        "context_injections": items,
    }


def nothing_left() -> dict[str, Any]:
    """Return the fields of a result when nothing of its injections is left."""
    plain = HookResult()
    return {name: getattr(plain, name) for name in ("action", *_INJECTION_FIELDS)}


def copy_with(result: Any, update: dict[str, Any]) -> HookResult:
    """Make a changed copy of a result; what only looks like one is copied into one."""
    if isinstance(result, HookResult):
        return result.model_copy(update=update)
    fields = {
        name: getattr(result, name) for name in HookResult.model_fields if hasattr(result, name)
    }
    return HookResult(**{**fields, **update})


def make_continue(data: Any) -> HookResult:
    """Make `HookResult(action="continue", data=data)`, with the very object as its data."""
    result = HookResult(action="continue")
    # Past the validation, which would copy the data. `model_construct` would take 100 µs instead of
    # 2 µs for each event, as it reads the signature of every default factory.
    vars(result)["data"] = data
    result.model_fields_set.add("data")
    return result


def make_denial(reason: str) -> HookResult:
    """Make `HookResult(action="deny", reason=reason)`."""
    return HookResult(action="deny", reason=reason)
