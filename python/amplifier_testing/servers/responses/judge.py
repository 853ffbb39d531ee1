"""Judges requests for responses as the Responses API does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..openai import keys
from ..openai.models import MODELS, OpenAIModel, find_model
from ..openai.refusals import as_object, check_fields, make_invalid
from ..serving.issued import Issued
from ..serving.reading import Json, json_problem, read_items
from ..serving.refusal import Refusal, RefusedError
from . import rules_items, rules_parameters, rules_reasoning, rules_tools
from .judged_request import JudgedRequest
from .shapes import BODY
from .stored import Stored

RULES: tuple[Callable[[JudgedRequest], None], ...] = (
    rules_parameters.check_input,
    rules_parameters.check_numbers,
    rules_parameters.check_reasoning,
    rules_parameters.check_sampling,
    rules_parameters.check_include,
    rules_parameters.check_text,
    rules_parameters.check_words,
    rules_parameters.check_metadata,
    rules_parameters.check_stream_options,
    rules_parameters.check_background,
    rules_tools.check_tools,
    rules_tools.check_names_are_unique,
    rules_tools.check_tool_choice,
    rules_parameters.check_previous_response,
    rules_items.check_shapes,
    rules_items.check_ids,
    rules_items.check_messages,
    rules_items.check_calls,
    rules_items.check_outputs,
    rules_reasoning.check_encrypted_content,
    rules_reasoning.check_following_item,
    rules_reasoning.check_reasoning_before,
)
"""The rules, in the order in which they are judged."""


def judge(
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
    *,
    issued: Issued | None = None,
    stored: Stored | None = None,
    models: Iterable[OpenAIModel] = MODELS,
    api_key: str | None = None,
    is_azure: bool = False,
) -> Refusal | None:
    """Return why the Responses API refuses a request, or `None` if it takes it.

    Args:
        body: The parsed body.
        headers: The headers, their names in lower case; without them they are not judged.
        issued: What signed the reasoning that may come back; without it, any will do.
        stored: The responses that a request can go on from.
        models: The models that exist.
        api_key: The key that the headers must carry; without it, any key.
        is_azure: Whether it is asked of Azure.
    """
    try:
        if headers is not None:
            keys.check_key(headers, api_key, is_azure=is_azure)
            keys.check_content_type(headers)
        problem = json_problem(body)
        if problem is not None:
            raise make_invalid(f"We could not parse the JSON body of your request: {problem}")
        check_fields(body, BODY)
        asked = JudgedRequest(
            body=dict(body),
            model=_find_known_model(body["model"], models),
            input=read_input(body),
            issued=issued,
            stored=stored or Stored(),
        )
        for rule in RULES:
            rule(asked)
    except RefusedError as error:
        return error.refusal
    return None


def read_input(body: Mapping[str, Any]) -> list[Json]:
    """Read the items of the input, each with its type; a string is one message."""
    given = body.get("input")
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    found = [as_object(item, ("input", index)) for index, item in enumerate(read_items(given))]
    # An item without a type is a message: the short form of it.
    return [item if "type" in item else {"type": "message", **item} for item in found]


def _find_known_model(name: str, models: Iterable[OpenAIModel]) -> OpenAIModel:
    model = find_model(name, models)
    if model is None:
        raise make_invalid(
            f"The requested model '{name}' does not exist.", "model", "model_not_found"
        )
    return model
