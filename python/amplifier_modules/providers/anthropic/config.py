"""The settings of `provider-anthropic`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, cast
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticKnownError

from ...settings import Env, OptionalText, SettingError, read_settings
from ...value_problems import Form
from ..retries import RetrySettings
from ..tag_options import ThinkingTags, ToolTags
from .models import DEFAULT_MODEL

PROVIDER = "anthropic"
"""The name under which the provider is mounted, and by which errors and events name it."""
DEFAULT_BASE_URL = "https://api.anthropic.com"
MAX_ANSWER_BYTES = 1024**3
"""Bytes of a streamed answer where no setting says otherwise."""

_KEY = Form("text of visible ASCII characters")
_URL = Form("an address like `https://host:port/path`")
_HEADERS = Form("text, or a list of texts, of visible ASCII characters without commas")


def _api_key(text: str) -> str:
    key = text.strip()
    if not key:
        raise PydanticKnownError("missing")
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError
    return key


def _base_url(text: str) -> str:
    url = text.strip() or DEFAULT_BASE_URL
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in {"http", "https"} and parts.port != 0 and _is_host(parts.hostname)
    except ValueError:
        is_good = False
    # The path of a request comes after it, so there can be no query and no fragment.
    if not is_good or not url.isprintable() or any(sign in url for sign in " ?#"):
        raise ValueError
    return url.rstrip("/").removesuffix("/v1")


def _is_host(name: str | None) -> bool:
    if not name or name.isascii():
        return bool(name)
    import httpx2

    try:
        httpx2.URL(scheme="https", host=name)
    except httpx2.InvalidURL:
        return False
    return True


def _beta_headers(value: Any) -> Any:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        return value
    given = cast("list[Any]", names)
    stripped = (name.strip() if isinstance(name, str) else name for name in given)
    return tuple(name for name in stripped if name != "")


def _header_names(names: tuple[str, ...]) -> tuple[str, ...]:
    # One header lists them all: a line break, a blank or a comma would end or split a name.
    if not all(re.fullmatch(r"[\x21-\x2b\x2d-\x7e]+", name) for name in names):
        raise ValueError
    return names


class AnthropicConfig(RetrySettings):
    """How the Anthropic API is called."""

    unknown_keys = "warn"
    ignored_keys = frozenset({"raw", "filtered", "use_streaming", "instance_id"})
    renamed_keys: ClassVar[Mapping[str, str]] = {"effort": "reasoning_effort"}

    api_key: Annotated[str, AfterValidator(_api_key), _KEY, Env("ANTHROPIC_API_KEY")] = Field(
        repr=False
    )
    """The API key; without one the provider is not mounted."""
    base_url: Annotated[str, AfterValidator(_base_url), _URL, Env("ANTHROPIC_BASE_URL")] = Field(
        default=DEFAULT_BASE_URL, repr=False
    )
    """Address of the API; it may contain a password, so it is treated as a secret."""
    default_model: str = DEFAULT_MODEL
    """Model of requests that name none."""
    max_tokens: int = Field(default=16_000, ge=1)
    """Tokens of the longest answer, thinking included; raised if thinking needs more."""
    temperature: float | None = Field(default=None, ge=0)
    """Randomness of answers; sent only if the model accepts it, so never with thinking."""
    timeout: float = Field(default=600.0, ge=0.001)
    """Seconds to wait for the next byte from the server; a model may think for minutes before it."""
    content_timeout: float | None = Field(default=None, ge=0.001)
    """Seconds without content after which an answer is ended; pings are no content."""
    max_answer_bytes: int | None = Field(default=None, ge=1, le=MAX_ANSWER_BYTES)
    """Bytes of an answer, as it is streamed, at most; 1 GiB if not set."""
    thinking_budget_tokens: int | None = Field(default=None, ge=0)
    """Tokens for thinking; 0 turns thinking off, without it effort and model decide."""
    reasoning_effort: OptionalText = None
    """Effort of requests that set none: `low`, `medium`, `high` or another that the model knows."""
    priority: int = 100
    """Loops use the provider with the lowest priority."""
    beta_headers: Annotated[
        tuple[str, ...],
        BeforeValidator(_beta_headers),
        AfterValidator(_header_names),
        _HEADERS,
    ] = ()
    """Values of the header `anthropic-beta`; text is split at commas."""
    enable_prompt_caching: bool = True
    """Whether the API is asked to cache the beginning of requests."""
    thinking_tags: ThinkingTags = ()
    """Tags in which a model without native thinking thinks; true means `thinking`."""
    tool_tags: ToolTags = ()
    """Tags in which a model without native tools calls them; true means `tool`."""


def read_config(
    config: Mapping[str, Any] | None, environment: Mapping[str, str] | None = None
) -> AnthropicConfig | None:
    """Check a config and fill its gaps from the environment.

    Args:
        config: The provider's section of the mount plan.
        environment: Where variables are looked up; the process environment by default.

    Returns:
        The settings, or None when there is no API key anywhere.

    Raises:
        SettingError: A value cannot be used.
    """
    try:
        return read_settings(AnthropicConfig, config, f"provider-{PROVIDER}", environment)
    except SettingError as error:
        if "api_key" in error.missing:
            return None
        raise
