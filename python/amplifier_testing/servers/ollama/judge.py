"""Judges requests for an answer as Ollama does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..serving.reading import json_problem
from ..serving.refusal import Refusal, RefusedError
from . import rules_messages, rules_parameters
from .judged_request import BODY, JudgedRequest, read_messages
from .models import MODELS, OllamaModel, find_model
from .refusals import check_fields, make_refusal

RULES: tuple[Callable[[JudgedRequest], None], ...] = (
    rules_parameters.check_chat,
    rules_parameters.check_think,
    rules_parameters.check_tools,
    rules_parameters.check_options,
    rules_parameters.check_keep_alive,
    rules_parameters.check_format,
    rules_messages.check_some_message,
    rules_messages.check_images,
    rules_messages.check_calls,
    rules_messages.check_results,
    rules_messages.check_content,
)
"""The rules, in the order in which they are judged."""


def judge(
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
    *,
    models: Iterable[OllamaModel] = MODELS,
    api_key: str | None = None,
) -> Refusal | None:
    """Return why Ollama refuses a request of `/api/chat`, or `None` if it takes it.

    Args:
        body: The parsed body.
        headers: The headers, their names in lower case; without them they are not judged.
        models: The models that it has.
        api_key: The key that the headers must carry; without it, none is needed.
    """
    try:
        if headers is not None:
            check_key(headers, api_key)
        problem = json_problem(body)
        if problem is not None:
            raise make_refusal(f"invalid character in the body: {problem}")
        check_fields(body, BODY)
        asked = JudgedRequest(
            dict(body), model_of(body["model"], models), read_messages(dict(body))
        )
        for rule in RULES:
            rule(asked)
    except RefusedError as error:
        return error.refusal
    return None


def check_key(headers: Mapping[str, str], api_key: str | None) -> None:
    """Refuse a request without the key, if one is needed."""
    if api_key is not None and headers.get("authorization") != f"Bearer {api_key}":
        raise make_refusal("unauthorized", 401)


def model_of(name: str, models: Iterable[OllamaModel]) -> OllamaModel:
    """Return the model of a name, or refuse a name that is unknown."""
    if not name:
        raise make_refusal("model is required")
    model = find_model(name, models)
    if model is None:
        raise make_refusal(f"model '{name}' not found", 404)
    return model
