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

from ..config_values import ConfigValues
from ..retries import RetrySettings
from ..tag_options import read_tags
from .models import DEFAULT_MODEL

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
    retries: RetrySettings = field(default_factory=RetrySettings)
    """The keys of `RetrySettings`, which stand beside the others."""


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
    values = ConfigValues("provider-anthropic", "anthropic", config)
    given = values.given
    _warn_of_unknown_keys(given)
    key = values.text("api_key", environment.get("ANTHROPIC_API_KEY", "")).strip()
    if not key:
        return None
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise values.wrong(
            "`api_key` holds characters that no API key has (blanks, control or non-ASCII)"
        )
    base_url = values.text("base_url", environment.get("ANTHROPIC_BASE_URL", "")).strip()
    return AnthropicConfig(
        api_key=key,
        base_url=_checked_url(values, base_url or DEFAULT_BASE_URL),
        default_model=values.text("default_model", DEFAULT_MODEL),
        max_tokens=values.integer("max_tokens", 16_000, least=1),
        temperature=(
            values.number("temperature", 0.0, least=0.0) if "temperature" in given else None
        ),
        timeout=values.number("timeout", 600.0, least=0.001),
        thinking_budget_tokens=(
            values.integer("thinking_budget_tokens", 0, least=0)
            if "thinking_budget_tokens" in given
            else None
        ),
        reasoning_effort=values.text("reasoning_effort", "") or None,
        priority=values.integer("priority", 100),
        beta_headers=_beta_headers(values),
        enable_prompt_caching=values.switch("enable_prompt_caching", True),
        thinking_tags=_tags(values, "thinking_tags", "thinking"),
        tool_tags=_tags(values, "tool_tags", "tool"),
        retries=RetrySettings.read(values),
    )


def _warn_of_unknown_keys(given: Mapping[str, Any]) -> None:
    known = [item.name for kind in (AnthropicConfig, RetrySettings) for item in fields(kind)]
    known.remove("retries")
    for key in given:
        if key in known or key in _TOLERATED:
            continue
        near = difflib.get_close_matches(key, known, n=1)
        advice = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(sorted(known))}"
        logger.warning("provider-anthropic ignores the unknown config key `%s` (%s)", key, advice)


def _checked_url(values: ConfigValues, url: str) -> str:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or not url.isprintable() or " " in url:
        # It may hold a password, so only its form is told.
        raise values.wrong(
            "`base_url` or `ANTHROPIC_BASE_URL` is not an address like `https://host:port/path`"
        )
    return url.rstrip("/").removesuffix("/v1")


def _beta_headers(values: ConfigValues) -> tuple[str, ...]:
    given = values.given.get("beta_headers", ())
    names = given.split(",") if isinstance(given, str) else given
    if not isinstance(names, list | tuple):
        raise values.wrong(f"`beta_headers` must be a list of texts, found {type(given).__name__}")
    for name in cast("list[Any]", names):
        if not isinstance(name, str):
            raise values.wrong(f"`beta_headers` must be a text, found {type(name).__name__}")
    return tuple(text for name in cast("list[str]", names) if (text := name.strip()))


def _tags(values: ConfigValues, key: str, default: str) -> tuple[str, ...]:
    try:
        return read_tags(key, values.given.get(key), default)
    except (TypeError, ValueError) as error:
        raise values.wrong(str(error)) from None
