"""Rules for the parameters of a request."""

from __future__ import annotations

from ..openai.refusals import (
    as_object,
    check_fields,
    check_length,
    check_range,
    check_value,
    make_invalid,
)
from ..openai.schemas import check_answer_schema, check_name
from ..serving.reading import read_items, read_mapping
from ..serving.refusal import Refusal, RefusedError
from .judged_request import JudgedRequest
from .shapes import FORMATS, INCLUDES, REASONING, STREAM_OPTIONS, TEXT

MIN_OUTPUT_TOKENS = 16
_MAX_PAIRS = 16
_MAX_KEY, _MAX_VALUE = 64, 512
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def check_input(asked: JudgedRequest) -> None:
    """There is something to answer."""
    others = ("previous_response_id", "prompt", "conversation")
    if not asked.body.get("input") and not any(asked.body.get(name) for name in others):
        raise make_invalid(
            "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be"
            " provided.",
            "input",
            "missing_required_parameter",
        )


def check_numbers(asked: JudgedRequest) -> None:
    """Numbers are in their range."""
    check_range(
        asked.body.get("max_output_tokens"), MIN_OUTPUT_TOKENS, asked.model.max_output,
        ("max_output_tokens",),
    )  # fmt: skip
    check_range(asked.body.get("temperature"), 0, 2, ("temperature",))
    check_range(asked.body.get("top_p"), 0, 1, ("top_p",))
    check_range(asked.body.get("top_logprobs"), 0, 20, ("top_logprobs",))
    check_range(asked.body.get("max_tool_calls"), 1, None, ("max_tool_calls",))


def check_sampling(asked: JudgedRequest) -> None:
    """Reasoning models take no sampling parameters while they reason."""
    if not asked.model.reasons or (asked.effort == "none" and "none" in asked.model.efforts):
        return
    for name in ("temperature", "top_p", "top_logprobs"):
        if asked.body.get(name) is not None:
            raise make_invalid(
                f"Unsupported parameter: '{name}' is not supported with this model.", name
            )


def check_reasoning(asked: JudgedRequest) -> None:
    """The effort is one of the model, the summary one that exists."""
    reasoning = read_mapping(asked.body.get("reasoning"))
    check_fields(reasoning, REASONING, ("reasoning",))
    effort = reasoning.get("effort")
    for name in ("effort", "summary"):
        if reasoning.get(name) is not None and not asked.model.reasons:
            raise make_invalid(
                f"Unsupported parameter: 'reasoning.{name}' is not supported with this model.",
                f"reasoning.{name}",
                "unsupported_parameter",
            )
    if effort is not None:
        check_value(effort, _EFFORTS, ("reasoning", "effort"))
        if effort not in asked.model.efforts:
            known = ", ".join(f"'{each}'" for each in sorted(asked.model.efforts))
            raise make_invalid(
                f"Unsupported value: '{effort}' is not supported with the '{asked.body['model']}'"
                f" model. Supported values are: {known}.",
                "reasoning.effort",
                "unsupported_value",
            )
    for name in ("summary", "generate_summary"):
        if reasoning.get(name) is not None:
            values = ("auto", "concise", "detailed")
            check_value(reasoning[name], values, ("reasoning", name))


def check_include(asked: JudgedRequest) -> None:
    """What is to be included exists."""
    for index, name in enumerate(read_items(asked.body.get("include"))):
        check_value(name, INCLUDES, ("include", index))
        if name == "reasoning.encrypted_content" and not asked.model.reasons:
            raise make_invalid("Encrypted content is not supported with this model.", "include")


def check_text(asked: JudgedRequest) -> None:
    """The format of the answer is one that can be held."""
    config = read_mapping(asked.body.get("text"))
    check_fields(config, TEXT, ("text",))
    if config.get("verbosity") is not None:
        check_value(config["verbosity"], ("low", "medium", "high"), ("text", "verbosity"))
    if "format" not in config:
        return
    path = ("text", "format")
    form = as_object(config["format"], path)
    if "type" not in form:
        check_fields(form, FORMATS["json_schema"], path)
    check_value(form["type"], FORMATS, (*path, "type"))
    inner = {name: form[name] for name in form if name != "type"}
    check_fields(inner, FORMATS[form["type"]], path)
    if form["type"] == "json_schema":
        check_name(form["name"], (*path, "name"))
        strict = form.get("strict") is not False
        check_answer_schema(form["name"], form["schema"], (*path, "schema"), strict=strict)


def check_words(asked: JudgedRequest) -> None:
    """Parameters with few values have one of them."""
    for name, allowed in (
        ("truncation", ("auto", "disabled")),
        ("service_tier", ("auto", "default", "flex", "scale", "priority")),
        ("prompt_cache_retention", ("in-memory", "in_memory", "24h")),
    ):
        if asked.body.get(name) is not None:
            check_value(asked.body[name], allowed, (name,))
    for name in ("prompt_cache_key", "safety_identifier"):
        check_length(asked.body.get(name) or "", _MAX_KEY, (name,))


def check_metadata(asked: JudgedRequest) -> None:
    """`metadata` has few and short pairs of strings."""
    metadata = read_mapping(asked.body.get("metadata"))
    if len(metadata) > _MAX_PAIRS:
        raise make_invalid(
            f"Invalid 'metadata': too many properties. Expected an object with at most {_MAX_PAIRS}"
            f" properties, but got an object with {len(metadata)} properties instead.",
            "metadata",
            "object_above_max_properties",
        )
    for name, value in metadata.items():
        if not isinstance(value, str):
            raise make_invalid(
                f"Invalid type for 'metadata.{name}': expected a string.",
                f"metadata.{name}",
                "invalid_type",
            )
        check_length(name, _MAX_KEY, ("metadata",))
        check_length(value, _MAX_VALUE, ("metadata", name))


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


def check_background(asked: JudgedRequest) -> None:
    """What goes on in the background is stored."""
    if asked.body.get("background") and not asked.is_stored:
        raise make_invalid("Background mode requires 'store' to be true.", "background")


def check_previous_response(asked: JudgedRequest) -> None:
    """The response to go on from is stored."""
    name = asked.body.get("previous_response_id")
    if name is None:
        return
    if not name.startswith("resp"):
        raise make_invalid(
            f"Invalid 'previous_response_id': '{name}'. Expected an ID that begins with 'resp'.",
            "previous_response_id",
            "invalid_value",
        )
    if name not in asked.stored.responses:
        raise RefusedError(
            Refusal(
                400,
                "invalid_request_error",
                f"Previous response with id '{name}' not found.",
                "previous_response_id",
                "previous_response_not_found",
            )
        )
