"""The options of one call: its keywords, then the request, then the settings of the provider.

A keyword adds headers of the program, such as the trace that a call belongs to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol, cast

from amplifier_core.error_messages import short_repr
from amplifier_core.llm_errors import ConfigurationError, InvalidRequestError
from amplifier_core.message_models import ChatRequest, ResponseFormat

from ..running.count_noun import count_noun
from .body import WireRequest
from .fields import JsonDict, fields_of

OPTION = "extra_headers"
"""The keyword of a call."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TEXT = re.compile(r"[\x20-\x7e]*")
_OF_THE_REQUEST = frozenset(
    {
        "accept", "accept-encoding", "api-key", "authorization", "connection", "content-encoding",
        "content-length", "content-type", "cookie", "expect", "host", "proxy-authorization", "te",
        "trailer", "transfer-encoding", "upgrade", "x-api-key",
    }
)  # fmt: skip
"""What the request itself says, its key among it."""


class Degraded(Protocol):
    """What notes what is not done as requested."""

    def degrade(self, requested: str, actual: str, reason: str) -> None:
        """Note that something is not done as requested."""
        ...


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


def asked_length(
    options: Mapping[str, Any], request: ChatRequest, settings: Any, provider: str
) -> int | None:
    """Return the tokens of the answer that the caller or a setting names, None for a default.

    Raises:
        InvalidRequestError: They are no whole number from 1.
    """
    for value in (options.get("max_tokens"), request.max_output_tokens):
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            message = f"`max_tokens` is {short_repr(value)} (must be a whole number from 1)"
            raise InvalidRequestError(message, provider=provider)
        return value
    return settings.max_tokens if "max_tokens" in settings.model_fields_set else None


def asked_temperature(
    options: Mapping[str, Any], request: ChatRequest, settings: Any
) -> float | None:
    """Return the temperature of the call, else of the request, else of the settings."""
    temperature = options.get("temperature", request.temperature)
    return settings.temperature if temperature is None else temperature


def note_unsent_sampling(
    encoded: WireRequest, temperature: float | None, top_p: float | None, reason: str
) -> None:
    """Note the randomness that is asked for and not sent."""
    if temperature is not None:
        encoded.degrade(f"a temperature of {temperature:g}", "the model's own", reason)
    if top_p is not None:
        encoded.degrade(f"a `top_p` of {top_p:g}", "the model's own", reason)


def note_unsent_choice(encoded: Degraded, choice: Any) -> None:
    """Note a call that is wanted where there is no tool that could be called."""
    kind = fields_of(choice).get("type", choice) if isinstance(choice, Mapping) else choice
    if kind not in (None, "auto", "none"):
        encoded.degrade("a tool call", "none", "the request has no tools")


def stop_texts(encoded: WireRequest, request: ChatRequest) -> list[str]:
    """Return the texts that end an answer, without blank ones, which services refuse."""
    asked = request.stop or []
    stops = [stop for stop in asked if stop.strip()]
    if blank := len(asked) - len(stops):
        encoded.degrade(count_noun(blank, "blank stop text"), "none", "services refuse blank ones")
    return stops


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


def can_be_sent(headers: Mapping[str, str]) -> bool:
    """Whether names and values have the form of headers."""
    return all(_NAME.fullmatch(name) and _TEXT.fullmatch(headers[name]) for name in headers)


def extra_headers(options: Mapping[str, Any], provider: str) -> dict[str, str]:
    """Return the headers that a call adds to its requests, with small letters.

    Raises:
        ConfigurationError: They are no headers, or would replace those of the request itself.
    """
    given = options.get(OPTION)
    if not given:
        return {}
    if not isinstance(given, Mapping) or not all(
        isinstance(part, str) for item in cast("Mapping[Any, Any]", given).items() for part in item
    ):
        raise _make_refusal("is no mapping of texts", provider)
    headers = cast("Mapping[str, str]", given)
    if not can_be_sent(headers):
        raise _make_refusal("has a name or a value that no header can have", provider)
    named = {name.lower(): value for name, value in headers.items()}
    if own := sorted(_OF_THE_REQUEST & named.keys()):
        names = ", ".join(f"`{name}`" for name in own)
        raise _make_refusal(f"has {names}, which the request has itself", provider)
    return named


def _make_refusal(what: str, provider: str) -> ConfigurationError:
    # Without the values: one may be a key.
    message = f"`{OPTION}` {what} (must be a mapping of header names to text of ASCII characters)"
    return ConfigurationError(message, provider=provider)
