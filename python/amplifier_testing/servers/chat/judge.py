"""Judges requests for completions as the Chat Completions API and its vendors do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..openai import keys
from ..openai.models import MODELS, OpenAIModel, find_model
from ..openai.refusals import INVALID, check_fields, make_invalid
from ..serving.fields import Fields
from ..serving.issued import Issued
from ..serving.reading import json_problem
from ..serving.refusal import Refusal, RefusedError
from . import rules_calls, rules_messages, rules_parameters
from .judged_request import BODY, JudgedRequest, read_messages
from .presets import PRESETS, Preset

RULES: tuple[Callable[[JudgedRequest], None], ...] = (
    rules_parameters.check_numbers,
    rules_parameters.check_max_tokens,
    rules_parameters.check_effort,
    rules_parameters.check_sampling,
    rules_parameters.check_stop,
    rules_parameters.check_stream_options,
    rules_parameters.check_tools,
    rules_parameters.check_tool_choice,
    rules_messages.check_some_message,
    rules_messages.check_names,
    rules_messages.check_content,
    rules_messages.check_parts,
    rules_calls.check_calls,
    rules_calls.check_results,
    rules_messages.check_alternation,
    rules_messages.check_order,
    rules_calls.check_reasoning,
    rules_parameters.check_response_format,
)
"""The rules, in the order in which they are judged."""


def judge(
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
    *,
    preset: str | Preset = "openai",
    issued: Issued | None = None,
    reasoned: Mapping[str, str] | None = None,
    models: Iterable[OpenAIModel] = MODELS,
    api_key: str | None = None,
    is_azure: bool = False,
) -> Refusal | None:
    """Return why a vendor of the dialect refuses a request, or `None` if it takes it.

    Args:
        body: The parsed body.
        headers: The headers, their names in lower case; without them they are not judged.
        preset: The vendor: one of `PRESETS`, or one of your own.
        issued: What signed the reasoning that may come back; without it, any will do.
        reasoned: The reasoning that came before calls, by the ids of these.
        models: The models that exist, for a vendor with a list of them.
        api_key: The key that the headers must carry; without it, any key.
        is_azure: Whether it is asked of Azure.
    """
    vendor = PRESETS[preset] if isinstance(preset, str) else preset
    try:
        if headers is not None:
            keys.check_key(headers, api_key, is_azure=is_azure)
            keys.check_content_type(headers)
        problem = json_problem(body)
        if problem is not None:
            raise make_invalid(f"We could not parse the JSON body of your request: {problem}")
        given = {**body}
        fields = Fields(BODY.required, {**BODY.optional, **vendor.fields})
        if vendor.ignores_unknown:
            known = {**fields.required, **fields.optional}
            given = {name: value for name, value in given.items() if name in known}
        check_fields(given, fields)
        asked = JudgedRequest(
            body=given,
            model=_find_known_model(given["model"], models, vendor),
            messages=read_messages(given, vendor),
            preset=vendor,
            issued=issued,
            reasoned=reasoned or {},
        )
        for rule in RULES:
            rule(asked)
    except RefusedError as error:
        return error.refusal
    return None


def _find_known_model(name: str, models: Iterable[OpenAIModel], vendor: Preset) -> OpenAIModel:
    model = OpenAIModel(name) if vendor.any_model else find_model(name, models)
    if model is None:
        raise RefusedError(
            Refusal(
                404,
                INVALID,
                f"The model `{name}` does not exist or you do not have access to it.",
                None,
                "model_not_found",
            )
        )
    return model
