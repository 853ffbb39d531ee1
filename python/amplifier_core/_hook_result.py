"""What a hook handler answers; a file of its own, as nearly every program needs it first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast

from pydantic import Field, ModelWrapValidatorHandler, model_validator
from pydantic_core import SchemaValidator

from amplifier_core.base_models import ClosedModel

Action: TypeAlias = Literal["continue", "deny", "modify", "inject_context", "ask_user"]
"""What a hook asks for."""

Role: TypeAlias = Literal["system", "user", "assistant"]
"""Whose message an injection becomes."""

Level: TypeAlias = Literal["info", "warning", "error"]
"""How urgent a message to the user is, in rising order."""


UNKNOWN_KEYS = "_unknown_keys"
"""Where a result remembers the keys that it has no field for: beside its fields, which JSON,
equality and `repr` are made of."""


class ContextInjection(ClosedModel):
    """One text that a hook adds to the conversation."""

    content: str
    role: Role = "system"
    ephemeral: bool = False
    """Only for the next request, not stored."""
    append_to_last_tool_result: bool = False
    hook_name: str = "unknown"
    event: str = ""


# Calling `list[ContextInjection]` takes a fifth of what making a whole result does.
_NO_INJECTIONS = cast("Callable[[], list[ContextInjection]]", list)


class HookResult(ClosedModel):
    """What a hook handler decided.

    `context_injections` is the complete ordered list; the scalar fields about injection show the
    merged text of them.
    """

    action: Action = "continue"
    data: dict[str, Any] | None = None
    """With `modify`, the payload that later handlers and the caller get."""
    reason: str | None = None
    context_injection: str | None = None
    context_injection_role: Role = "system"
    ephemeral: bool = False
    approval_prompt: str | None = None
    approval_options: list[str] | None = None
    approval_timeout: float = 300.0
    """Seconds."""
    approval_default: Literal["allow", "deny"] = "deny"
    suppress_output: bool = False
    user_message: str | None = None
    user_message_level: Level = "info"
    user_message_source: str | None = None
    append_to_last_tool_result: bool = False
    context_injections: list[ContextInjection] = Field(default_factory=_NO_INJECTIONS)

    if not TYPE_CHECKING:  # type checkers know the fields; `**data` would hide them

        def __init__(self, /, **data: Any) -> None:
            """Make a result; keys that it has no field for are remembered, and have no effect."""
            __tracebackhide__ = True
            # A handler makes one for each event. Without a call of the wrapping validator, which
            # has nothing to remember of fields alone, that takes 1.5 instead of 2.1 microseconds.
            if type(self) is HookResult and data.keys() <= _FIELDS:
                (_validate_fields or _build_validator())(data, self_instance=self)
            else:
                super().__init__(**data)

        __init__.__pydantic_base_init__ = True  # reading a result does not call it

    @model_validator(mode="wrap")
    @classmethod
    def _remember_unknown_keys(cls, data: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        result = read(data)
        if type(data) is not dict or not data.keys() <= _FIELDS:
            _note_unknown_keys(result, data)
        return result

    def __getstate__(self) -> dict[Any, Any]:
        """Leave out what is remembered beside the fields: a pickle says what the result says."""
        state = super().__getstate__()
        if UNKNOWN_KEYS in self.__dict__:
            fields = {name: each for name, each in self.__dict__.items() if name != UNKNOWN_KEYS}
            state["__dict__"] = fields
        return state


_FIELDS = frozenset(HookResult.__pydantic_fields__)
_validate_fields: Callable[..., HookResult] | None = None


def _build_validator() -> Callable[..., HookResult]:
    """Build the validator of the fields alone, at first need."""
    global _validate_fields
    schema = cast("Any", HookResult.__pydantic_core_schema__)["schema"]  # within the wrapping one
    _validate_fields = cast("Callable[..., HookResult]", SchemaValidator(schema).validate_python)
    return _validate_fields


def read_hook_result(fields: dict[Any, Any]) -> HookResult:
    """Read the fields of a result, as `HookResult.model_validate` does.

    Raises:
        pydantic.ValidationError: A field has a wrong value.
    """
    if fields.keys() <= _FIELDS:
        return (_validate_fields or _build_validator())(fields)
    return HookResult.model_validate(fields)


def _note_unknown_keys(result: HookResult, data: Any) -> None:
    """Remember the keys of the data that a result has no field for, unless it keeps them itself."""
    fields = type(result).__pydantic_fields__
    if not isinstance(data, Mapping) or type(result).model_config.get("extra") == "allow":
        return
    names = {*fields, *(field.alias for field in fields.values())}
    if unknown := tuple(str(key) for key in cast("Mapping[Any, Any]", data) if key not in names):
        vars(result)[UNKNOWN_KEYS] = unknown
