"""The settings of `provider-anthropic`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from ..services import ANTHROPIC
from ..settings import Env, OptionalText
from ..wire.mounting import settings_with_key
from ..wire.service import Service
from ..wire.settings import Address, ApiKey, HeaderNames, HttpSettings, ServiceTools, base_url_or
from .models import DEFAULT_MODEL

PROVIDER = ANTHROPIC.name
"""The name under which the provider is mounted, and by which errors and events name it."""
DEFAULT_BASE_URL = ANTHROPIC.base_url
SERVICE = Service.of(ANTHROPIC)
FALLBACK_MODEL = "sonnet"
"""The model for `fallback_on_overload` where none is named."""


def _or_fallback(model: str | None) -> str:
    return model or FALLBACK_MODEL


class AnthropicConfig(HttpSettings):
    """How the Anthropic API is called."""

    unknown_keys = "warn"
    ignored_keys = frozenset({"instance_id"})
    renamed_keys: ClassVar[Mapping[str, str]] = {"effort": "reasoning_effort"}

    api_key: Annotated[ApiKey, Env(ANTHROPIC.key_variable)] = Field(repr=False)
    """The API key; without one the provider is not mounted."""
    base_url: Annotated[
        str,
        AfterValidator(base_url_or(DEFAULT_BASE_URL, without="/v1")),
        Address,
        Env(ANTHROPIC.address_variable),
    ] = Field(default=DEFAULT_BASE_URL, repr=False)
    """Address of the API; it may contain a password, so it is treated as a secret."""
    default_model: str = DEFAULT_MODEL
    """Model of requests that name none."""
    max_tokens: int = Field(default=16_000, ge=1)
    """Tokens of the longest answer, thinking included; raised if thinking needs more."""
    max_continuations: int = Field(default=5, ge=0, le=100)
    """Further requests for an answer that the API paused."""
    thinking_budget_tokens: int | None = Field(default=None, ge=0)
    """Tokens for thinking; 0 turns thinking off, without it effort and model decide."""
    thinking_type: Literal["adaptive", "enabled", "disabled"] | None = None
    """How models think; without it the kind that the model knows."""
    thinking_display: Literal["summarized", "omitted"] | None = None
    """Whether thinking is shown; omitted thinking has a signature only."""
    speed: Literal["fast"] | None = None
    """`fast` for the faster and dearer mode of the models that have one."""
    task_budget_tokens: int | None = Field(default=None, ge=1)
    """Tokens that a task may take, as the model reads, tools included."""
    enable_web_search: bool = False
    """Whether the model may search the web with the tool of the API."""
    tools: ServiceTools = Field(default_factory=list[dict[str, Any]])
    """Tools of the API itself, as it takes them: `[{"type": "code_execution_20250825", "name":
    "code_execution"}]`."""
    enable_1m_context: bool = True
    """Whether models that need a header for a context of a million tokens get it."""
    fallback_model: Annotated[OptionalText, AfterValidator(_or_fallback)] = FALLBACK_MODEL
    """The model for `fallback_on_overload`: `sonnet`, `haiku` or the name of one."""
    beta_headers: HeaderNames = ()
    """Values of the header `anthropic-beta`; text is split at commas."""
    native_tool_search: bool = False
    """Whether tools that a loop defers are sent with `defer_loading`, and what a search finds as
    `tool_reference`, as models from Claude 4.5 on take it, in the place of `call_tool`."""
    enable_prompt_caching: bool = True
    """Whether the API is asked to cache the beginning of requests."""


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
    return settings_with_key(AnthropicConfig, config, SERVICE.module_name, environment)
