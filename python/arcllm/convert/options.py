"""The options of a call, as the request of the kernel and the keywords of its providers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from amplifier_core import message_models as kernel
from amplifier_core.error_messages import short_repr
from amplifier_core.suggest import suggest_or_list
from amplifier_providers.requests.requested_thinking import RequestedThinking

from ..exceptions import ArcLLMConfigError
from ..step import Call
from .messages import kernel_tools

JsonDict = dict[str, Any]

_FORMAT: TypeAdapter[Any] = TypeAdapter(kernel.ResponseFormat)
_MAX_NUMBER = 2**53
_FORMATS = {"text": "text", "json": "json", "json_object": "json"}


@dataclass(frozen=True)
class _Option:
    """What one option must be."""

    form: str
    """The same for people."""
    fits: Callable[[Any], bool]
    field: str = ""
    """The field of the request; empty for a keyword of the provider."""


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and isfinite(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MAX_NUMBER


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _are_texts(value: Any) -> bool:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple):
        return False
    return all(isinstance(text, str) for text in cast("list[Any]", texts))


def _is_choice(value: Any) -> bool:
    return _is_text(value) or (isinstance(value, dict) and bool(value))  # pyright: ignore[reportUnknownArgumentType] -- any mapping


def _is_thinking(value: Any) -> bool:
    try:
        return RequestedThinking.parse(value).is_on is not None
    except ValueError:
        return False


_OPTIONS: Mapping[str, _Option] = {
    "temperature": _Option(
        "a number from 0", lambda value: _is_number(value) and value >= 0, "temperature"
    ),
    "max_tokens": _Option(
        "a whole number from 1", lambda value: _is_whole(value) and value >= 1, "max_output_tokens"
    ),
    "top_p": _Option(
        "a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1, "top_p"
    ),
    "stop": _Option("a text or a list of texts", _are_texts, "stop"),
    "tool_choice": _Option(
        "`auto`, `none`, `required`, or the name of a tool", _is_choice, "tool_choice"
    ),
    "reasoning_effort": _Option(
        "`low`, `medium`, `high` or another that the model knows", _is_text, "reasoning_effort"
    ),
    "extended_thinking": _Option(
        'true or false, an effort, or {"type": "enabled", "budget_tokens": 2048}', _is_thinking
    ),
    "response_format": _Option(
        '`text`, `json`, or {"type": "json_schema", "schema": {...}}',
        lambda value: isinstance(value, str | dict | BaseModel),
        "response_format",
    ),
    "timeout": _Option(
        "seconds, more than 0", lambda value: _is_number(value) and value > 0, "timeout"
    ),
    "extra_headers": _Option(
        "a mapping of header names to texts", lambda value: isinstance(value, dict)
    ),
    "metadata": _Option("a mapping", lambda value: isinstance(value, dict), "metadata"),
}
OPTIONS = tuple(_OPTIONS)
"""The names of the options of a call."""


def kernel_request(
    call: Call, messages: list[kernel.Message]
) -> tuple[kernel.ChatRequest, JsonDict]:
    """Return what is asked of a model as the kernel has it: the request and the keywords.

    An option that is None counts as absent.

    Args:
        call: The call.
        messages: Its messages as the kernel has them.

    Raises:
        ArcLLMConfigError: An option is unknown or has a value that it cannot have.
    """
    fields: JsonDict = {}
    keywords: JsonDict = {}
    for name, value in call.options.items():
        option = _OPTIONS.get(name)
        if option is None:
            raise ArcLLMConfigError(f"unknown option `{name}`{suggest_or_list(name, OPTIONS)}")
        if value is None:
            continue
        if not option.fits(value):
            raise _make_misfit_error(name, value)
        if option.field:
            fields[option.field] = value
        else:
            keywords[name] = value
    if "stop" in fields:
        fields["stop"] = [fields["stop"]] if isinstance(fields["stop"], str) else fields["stop"]
    if "response_format" in fields:
        fields["response_format"] = _response_format(fields["response_format"])
    tools = kernel_tools(call.tools)
    return kernel.ChatRequest(messages=messages, tools=tools, **fields), keywords


def _response_format(value: Any) -> Any:
    """Return the form of an answer, also from the words that OpenAI has for it."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    form: JsonDict = {"type": value} if isinstance(value, str) else dict(value)
    if (kind := form.get("type")) in _FORMATS:
        form["type"] = _FORMATS[cast("str", kind)]
    if "schema" in form:
        form.setdefault("json_schema", form.pop("schema"))
    given = form.get("json_schema")
    inner = cast("JsonDict", given) if isinstance(given, dict) else {}
    if isinstance(inner.get("schema"), dict) and "type" not in inner:
        title = {"title": inner["name"]} if isinstance(inner.get("name"), str) else {}
        form["json_schema"] = {**title, **inner["schema"]}
        if "strict" in inner:
            form.setdefault("strict", inner["strict"])
    try:
        return _FORMAT.validate_python(form)
    except ValidationError as error:
        raise _make_misfit_error("response_format", value) from error


def _make_misfit_error(name: str, value: Any) -> ArcLLMConfigError:
    return ArcLLMConfigError(
        f"option `{name}` is `{short_repr(value)}` (must be {_OPTIONS[name].form})"
    )
