"""Rules for the parameters of a request."""

from __future__ import annotations

import json

from ..openai.refusals import as_object, check_fields, check_range, check_value, make_invalid
from ..openai.schemas import check_answer_schema, check_name, check_parameters
from ..serving.fields import Path
from ..serving.reading import Json, read_items, read_mapping, read_text
from .judged_request import (
    CUSTOM_TOOL,
    FORMATS,
    FUNCTION,
    JSON_SCHEMA,
    STREAM_OPTIONS,
    TOOL,
    JudgedRequest,
)

MAX_TOOLS = 128
MAX_STOPS = 4
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_DEFAULTS = {"temperature": 1, "top_p": 1, "presence_penalty": 0, "frequency_penalty": 0, "n": 1}
_NOT_WHILE_REASONING = ("logprobs", "top_logprobs", "logit_bias", "stop")


def check_numbers(asked: JudgedRequest) -> None:
    """Numbers are in their range."""
    for name in ("max_tokens", "max_completion_tokens"):
        tokens, most = asked.body.get(name), asked.model.max_output
        check_range(tokens, 1, None, (name,))
        if tokens is not None and most is not None and tokens > most:
            raise make_invalid(
                f"{name} is too large: {tokens}. This model supports at most {most} completion"
                f" tokens, whereas you provided {tokens}.",
                name,
                "invalid_value",
            )
    check_range(asked.body.get("temperature"), 0, 2, ("temperature",))
    check_range(asked.body.get("top_p"), 0, 1, ("top_p",))
    check_range(asked.body.get("frequency_penalty"), -2, 2, ("frequency_penalty",))
    check_range(asked.body.get("presence_penalty"), -2, 2, ("presence_penalty",))
    check_range(asked.body.get("top_logprobs"), 0, 20, ("top_logprobs",))
    check_range(asked.body.get("n"), 1, 128, ("n",))


def check_max_tokens(asked: JudgedRequest) -> None:
    """Reasoning models take `max_completion_tokens`, and no model takes both."""
    if asked.body.get("max_tokens") is None:
        return
    if asked.model.reasons:
        raise make_invalid(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
            " 'max_completion_tokens' instead.",
            "max_tokens",
            "unsupported_parameter",
        )
    if asked.body.get("max_completion_tokens") is not None:
        raise make_invalid(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            "max_tokens",
            "invalid_parameter_combination",
        )


def check_sampling(asked: JudgedRequest) -> None:
    """Reasoning models take the usual sampling alone while they reason."""
    if not asked.model.reasons or (asked.effort == "none" and "none" in asked.model.efforts):
        return
    for name, usual in _DEFAULTS.items():
        value = asked.body.get(name)
        if value is not None and value != usual:
            raise make_invalid(
                f"Unsupported value: '{name}' does not support {value} with this model. Only the"
                f" default ({usual}) value is supported.",
                name,
                "unsupported_value",
            )
    for name in _NOT_WHILE_REASONING:
        if asked.body.get(name):
            raise make_invalid(
                f"Unsupported parameter: '{name}' is not supported with this model.",
                name,
                "unsupported_parameter",
            )


def check_effort(asked: JudgedRequest) -> None:
    """The effort is one of the model."""
    effort = asked.body.get("reasoning_effort")
    if effort is None or asked.preset.any_model:
        return
    check_value(effort, _EFFORTS, ("reasoning_effort",))
    if not asked.model.reasons:
        raise make_invalid(
            "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
            "reasoning_effort",
            "unsupported_parameter",
        )
    if effort not in asked.model.efforts:
        known = ", ".join(f"'{each}'" for each in sorted(asked.model.efforts))
        raise make_invalid(
            f"Unsupported value: 'reasoning_effort' does not support '{effort}' with this model."
            f" Supported values are: {known}.",
            "reasoning_effort",
            "unsupported_value",
        )


def check_stop(asked: JudgedRequest) -> None:
    """There are at most four stop sequences."""
    count = len(read_items(asked.body.get("stop")))
    if count > MAX_STOPS:
        raise make_invalid(
            f"Invalid 'stop': array too long. Expected an array with maximum length {MAX_STOPS},"
            f" but got an array with length {count} instead.",
            "stop",
            "array_above_max_length",
        )


def check_stream_options(asked: JudgedRequest) -> None:
    """Options of a stream need a stream."""
    options = asked.body.get("stream_options")
    if options is None:
        return
    if not asked.body.get("stream"):
        raise make_invalid(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        )
    check_fields(options, STREAM_OPTIONS, ("stream_options",))


def check_response_format(asked: JudgedRequest) -> None:
    """The format of the answer is one that can be held."""
    if "response_format" not in asked.body:
        return
    path: Path = ("response_format",)
    form = asked.body["response_format"]
    check_value(form.get("type"), FORMATS, (*path, "type"))
    inner = {name: form[name] for name in form if name != "type"}
    check_fields(inner, FORMATS[form["type"]], path)
    if form["type"] == "json_object" and "json" not in json.dumps(asked.messages).lower():
        raise make_invalid(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type"
            " 'json_object'.",
            "messages",
        )
    if form["type"] == "json_schema":
        given, here = form["json_schema"], (*path, "json_schema")
        check_fields(given, JSON_SCHEMA, here)
        check_name(given["name"], (*here, "name"))
        if given.get("strict") or "schema" in given:
            check_answer_schema(
                given["name"],
                read_mapping(given.get("schema")),
                (*here, "schema"),
                strict=bool(given.get("strict")),
            )


def check_tools(asked: JudgedRequest) -> None:
    """Each tool is one that can be; there is one, and not too many."""
    if "tools" not in asked.body:
        return
    count = len(asked.body["tools"])
    if count == 0 and not asked.preset.any_model:
        raise make_invalid(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an"
            " empty array instead.",
            "tools",
            "empty_array",
        )
    if count > MAX_TOOLS:
        raise make_invalid(
            f"Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS},"
            f" but got an array with length {count} instead.",
            "tools",
            "array_above_max_length",
        )
    names: set[str] = set()
    for index, value in enumerate(asked.body["tools"]):
        path: Path = ("tools", index)
        tool = as_object(value, path)
        if tool.get("type") == "custom":
            check_fields(tool, CUSTOM_TOOL, path)
            continue
        check_fields(tool, TOOL, path)
        check_value(tool["type"], ("function", "custom"), (*path, "type"))
        _check_function(tool["function"], (*path, "function"))
        name = tool["function"]["name"]
        if name in names:
            raise make_invalid(
                f"Duplicate tool name '{name}' in 'tools'.", "tools", "invalid_value"
            )
        names.add(name)


def _check_function(function: Json, path: Path) -> None:
    check_fields(function, FUNCTION, path)
    check_name(function["name"], (*path, "name"))
    check_parameters(
        function["name"],
        function.get("parameters"),
        (*path, "parameters"),
        strict=bool(function.get("strict")),
    )


def check_tool_choice(asked: JudgedRequest) -> None:
    """A choice is one of tools that are there."""
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in asked.body and not asked.tools:
            raise make_invalid(
                f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.",
                name,
            )
    choice = asked.body.get("tool_choice", "auto")
    if isinstance(choice, str):
        check_value(choice, asked.preset.choices, ("tool_choice",))
        return
    check_value(
        choice.get("type"), ("function", "custom", "allowed_tools"), ("tool_choice", "type")
    )
    if choice["type"] != "function":
        return
    check_fields(choice, TOOL, ("tool_choice",))
    wanted = read_text(choice["function"].get("name"))
    if wanted not in {
        read_text(read_mapping(tool.get("function")).get("name")) for tool in asked.tools
    }:
        raise make_invalid(
            f"Invalid value for 'tool_choice': no function named '{wanted}' was specified in the"
            " 'tools' parameter.",
            "tool_choice",
        )
