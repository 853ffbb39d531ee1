"""The configuration of `provider-anthropic`: what a mount plan may say, checked once at mount."""

from __future__ import annotations

import difflib
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, cast
from urllib.parse import urlsplit

from amplifier_core.llm_errors import ConfigurationError

from .anthropic_models import DEFAULT_MODEL
from .tag_options import read_tags

logger = logging.getLogger(__name__)

DEFAULT_BASE_URL = "https://api.anthropic.com"

# Keys that mount plans written for other providers of this API carry; they ask for nothing here.
_TOLERATED = frozenset({"raw", "filtered", "use_streaming", "instance_id"})


@dataclass(frozen=True)
class AnthropicConfig:
    """Settings of one provider; the key is left out of the `repr`."""

    api_key: str = field(repr=False)
    base_url: str = DEFAULT_BASE_URL
    default_model: str = DEFAULT_MODEL
    max_tokens: int = 16_000
    """Longest answer in tokens, thinking included; raised where the thinking budget needs it."""
    temperature: float | None = None
    """Sent only where the model takes it, so never together with thinking."""
    timeout: float = 600.0
    """Longest wait in seconds for the next byte from the server."""
    thinking_budget_tokens: int | None = None
    """Tokens to think with; 0 turns thinking off, None leaves it to effort and model."""
    reasoning_effort: str | None = None
    priority: int = 100
    """Loops choose the provider with the lowest one."""
    beta_headers: tuple[str, ...] = ()
    enable_prompt_caching: bool = True
    thinking_tags: tuple[str, ...] = ()
    """Tags in which a model without native thinking thinks; the provider makes blocks of it."""
    tool_tags: tuple[str, ...] = ()
    """Tags in which a model without native tools calls them; loops read and write them."""


def read_config(
    config: Mapping[str, Any] | None, environment: Mapping[str, str] | None = None
) -> AnthropicConfig | None:
    """Check `config` and fill its gaps from the environment.

    Args:
        config: The provider's section of the mount plan.
        environment: Where `ANTHROPIC_API_KEY` and `ANTHROPIC_BASE_URL` are looked up; the
            process environment by default.

    Returns:
        The settings, or None when there is no API key anywhere.

    Raises:
        ConfigurationError: A value has the wrong type or cannot work.
    """
    environment = os.environ if environment is None else environment
    given = {key: value for key, value in (config or {}).items() if value is not None}
    _warn_of_unknown_keys(given)
    key = _text(given, "api_key", environment.get("ANTHROPIC_API_KEY", "")).strip()
    if not key:
        return None
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise _wrong(
            "`api_key` holds characters that no API key has (blanks, control or non-ASCII)"
        )
    base_url = _text(given, "base_url", environment.get("ANTHROPIC_BASE_URL", "")).strip()
    return AnthropicConfig(
        api_key=key,
        base_url=_checked_url(base_url or DEFAULT_BASE_URL),
        default_model=_text(given, "default_model", DEFAULT_MODEL),
        max_tokens=_integer(given, "max_tokens", 16_000, least=1),
        temperature=_number(given, "temperature", least=0.0),
        timeout=_number(given, "timeout", least=0.001) or 600.0,
        thinking_budget_tokens=(
            _integer(given, "thinking_budget_tokens", 0, least=0)
            if "thinking_budget_tokens" in given
            else None
        ),
        reasoning_effort=_text(given, "reasoning_effort", "") or None,
        priority=_integer(given, "priority", 100),
        beta_headers=_beta_headers(given.get("beta_headers", ())),
        enable_prompt_caching=_switch(given, "enable_prompt_caching", True),
        thinking_tags=_tags(given, "thinking_tags", "thinking"),
        tool_tags=_tags(given, "tool_tags", "tool"),
    )


def _warn_of_unknown_keys(given: Mapping[str, Any]) -> None:
    known = [item.name for item in fields(AnthropicConfig)]
    for key in given:
        if key in known or key in _TOLERATED:
            continue
        near = difflib.get_close_matches(key, known, n=1)
        advice = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(sorted(known))}"
        logger.warning("provider-anthropic ignores the unknown config key `%s` (%s)", key, advice)


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or not url.isprintable() or " " in url:
        # It may hold a password, so only its form is told.
        raise _wrong(
            "`base_url` or `ANTHROPIC_BASE_URL` is not an address like `https://host:port/path`"
        )
    return url.rstrip("/").removesuffix("/v1")


def _beta_headers(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        raise _wrong(f"`beta_headers` must be a list of texts, found {type(value).__name__}")
    texts = [_text({"beta_headers": item}, "beta_headers", "") for item in cast("list[Any]", names)]
    return tuple(text.strip() for text in texts if text.strip())


def _text(given: Mapping[str, Any], key: str, default: str) -> str:
    value = given.get(key, default)
    if not isinstance(value, str):
        raise _wrong(f"`{key}` must be a text, found {type(value).__name__}")
    return value


def _integer(given: Mapping[str, Any], key: str, default: int, least: int | None = None) -> int:
    value = given.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(f"`{key}` must be a whole number, found {type(value).__name__}")
    if least is not None and value < least:
        raise _wrong(f"`{key}` is {value}, but must be at least {least}")
    return value


def _number(given: Mapping[str, Any], key: str, least: float) -> float | None:
    value = given.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(f"`{key}` must be a number, found {type(value).__name__}")
    if not least <= value < float("inf"):
        raise _wrong(f"`{key}` is {value}, but must be a finite number of at least {least}")
    return float(value)


def _switch(given: Mapping[str, Any], key: str, default: bool) -> bool:
    value = given.get(key, default)
    if not isinstance(value, bool):
        raise _wrong(f"`{key}` must be true or false, found {type(value).__name__}")
    return value


def _tags(given: Mapping[str, Any], key: str, default: str) -> tuple[str, ...]:
    try:
        return read_tags(key, given.get(key), default)
    except (TypeError, ValueError) as error:
        raise _wrong(str(error)) from None


def _wrong(message: str) -> ConfigurationError:
    return ConfigurationError(f"provider-anthropic: {message}", provider="anthropic")
