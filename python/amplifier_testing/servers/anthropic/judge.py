"""Judges requests for messages as the Messages API does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..serving.issued import Issued
from ..serving.reading import json_problem
from ..serving.refusal import Refusal, RefusedError
from . import (
    rules_cache,
    rules_calls,
    rules_media,
    rules_messages,
    rules_parameters,
    rules_thinking,
    rules_tools,
)
from .judged_request import JudgedRequest, read_turns
from .models import MODELS, AnthropicModel, find_model
from .refusals import make_invalid, of_status
from .sent_thoughts import SentAnswers
from .shapes import BETA_BLOCKS, BETA_BODY, BLOCKS, BODY, check_fields

RULES: tuple[Callable[[JudgedRequest], None], ...] = (
    rules_parameters.check_max_tokens,
    rules_parameters.check_stop_sequences,
    rules_parameters.check_metadata,
    rules_parameters.check_thinking,
    rules_parameters.check_sampling,
    rules_parameters.check_sampling_while_thinking,
    rules_parameters.check_output_config,
    rules_tools.check_tools,
    rules_tools.check_names_are_unique,
    rules_tools.check_tool_choice,
    rules_messages.check_system,
    rules_messages.check_some_message,
    rules_messages.check_first_role,
    rules_messages.check_alternation,
    rules_messages.check_roles_of_blocks,
    rules_messages.check_content,
    rules_messages.check_texts,
    rules_messages.check_final_text,
    rules_messages.check_prefill,
    rules_calls.check_ids,
    rules_calls.check_ids_are_unique,
    rules_calls.check_results_come_first,
    rules_calls.check_every_result_has_its_call,
    rules_calls.check_one_result_per_call,
    rules_calls.check_every_call_has_its_result,
    rules_calls.check_server_calls,
    rules_media.check_media,
    rules_media.check_result_content,
    rules_cache.check_marks,
    rules_thinking.check_signatures,
    rules_thinking.check_thoughts_come_first,
    rules_thinking.check_thoughts_are_kept,
)
"""The rules, in the order in which they are judged."""


def judge(
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
    *,
    issued: Issued | None = None,
    sent: SentAnswers | None = None,
    alternation: bool = True,
    models: Iterable[AnthropicModel] = MODELS,
    api_key: str | None = None,
) -> Refusal | None:
    """Return why the Messages API refuses a request, or `None` if it takes it.

    Args:
        body: The parsed body.
        headers: The headers, their names in lower case; without them they are not judged.
        issued: What signed the thoughts that may come back; without it, any signature will do.
        sent: The answers whose thoughts must be kept.
        alternation: Refuse two messages of one role in a row, which the API joins.
        models: The models that exist.
        api_key: The key that the headers must carry; without it, any key.
    """
    try:
        if headers is not None:
            rules_parameters.check_key(headers, api_key)
            rules_parameters.check_version(headers)
            rules_parameters.check_content_type(headers)
        problem = json_problem(body)
        if problem is not None:
            raise make_invalid(f"The request body is not valid JSON: {problem}")
        is_beta = bool((headers or {}).get("anthropic-beta"))
        check_fields(body, BETA_BODY if is_beta else BODY, ())
        asked = JudgedRequest(
            body=dict(body),
            headers=headers or {},
            model=_find_known_model(body["model"], models),
            turns=read_turns(dict(body), BETA_BLOCKS if is_beta else BLOCKS),
            issued=issued,
            sent=sent,
            alternation=alternation,
        )
        for rule in RULES:
            rule(asked)
    except RefusedError as error:
        return error.refusal
    return None


def _find_known_model(name: str, models: Iterable[AnthropicModel]) -> AnthropicModel:
    if not name:
        raise make_invalid("String should have at least 1 character", ("model",))
    model = find_model(name, models)
    if model is None:
        raise RefusedError(of_status(404, f"model: {name}"))
    return model
