"""The options of one call: its keywords, then the request, then the settings of the provider."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from amplifier_core.llm_errors import ConfigurationError, InvalidRequestError
from amplifier_core.message_models import ChatRequest, ResponseFormat

from .fields import JsonDict, fields_of


def given_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the keywords of a call that say something."""
    return {key: value for key, value in (options or {}).items() if value is not None}


def named_model(
    request: ChatRequest, options: Mapping[str, Any], default: str | None, provider: str
) -> str:
    """Return the model that a call asks for.

    Args:
        request: The request, which may name one.
        options: Keywords of the call, whose `model` overrides it.
        default: The model of the settings, for requests that name none.
        provider: Whose models they are.

    Raises:
        ConfigurationError: Nobody names one.
    """
    model = options.get("model") or request.model or default
    if not model:
        raise ConfigurationError(
            "no model is named: neither the request nor the settings have one",
            provider=provider,
            hint=f"set `default_model`, or name it: `{provider}:MODEL`",
        )
    return str(model)


def asked_effort(options: Mapping[str, Any], request: ChatRequest, settings: Any) -> str | None:
    """Return the effort of a call: `reasoning` or `reasoning_effort`, wherever it is set first.

    `reasoning` may be a mapping with `effort`.
    """
    for value in (
        options.get("reasoning"),
        options.get("reasoning_effort"),
        request.reasoning_effort,
        getattr(settings, "reasoning", None),
        settings.reasoning_effort,
    ):
        if value is None:
            continue
        effort = fields_of(value).get("effort") if isinstance(value, Mapping) else value
        if isinstance(effort, str) and effort:
            return effort
    return None


def stop_texts(request: ChatRequest) -> list[str]:
    """Return the texts that end an answer, without blank ones, which services refuse."""
    return [stop for stop in request.stop or [] if stop.strip()]


def tool_fields(request: ChatRequest) -> list[JsonDict]:
    """Return the tools of a request as dicts; those of a name once."""
    return list({tool.name: fields_of(tool) for tool in request.tools or ()}.values())


def format_instructions(response_format: ResponseFormat) -> str:
    """Return what tells a model in words of which form its answer must be."""
    if response_format.type != "json_schema":
        return "Answer with JSON only, without any other text."
    schema = json.dumps(response_format.json_schema, ensure_ascii=False)
    return f"Answer with JSON only, without any other text, as this JSON schema says:\n{schema}"


def nothing_to_send(provider: str, model: str) -> InvalidRequestError:
    """Make the error for a history without any content."""
    return InvalidRequestError(
        "no message to send: the conversation has no text of the user",
        provider=provider,
        model=model,
    )


def unknown_choice(choice: Any, names: list[str], provider: str, model: str) -> InvalidRequestError:
    """Make the error for a `tool_choice` that means nothing."""
    return InvalidRequestError(
        f"unknown tool choice `{choice}` (known: `auto`, `none`, `any`, `required`, or the name of"
        f" a tool: {', '.join(f'`{name}`' for name in names)})",
        provider=provider,
        model=model,
    )
