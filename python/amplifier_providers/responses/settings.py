"""Settings of providers that speak the Responses API."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ..settings import OptionalText
from ..wire.settings import HttpSettings, ServiceTools


class ResponsesSettings(HttpSettings):
    """How models are asked over the Responses API."""

    unknown_keys = "warn"
    ignored_keys = frozenset({"instance_id"})

    default_model: OptionalText = None
    """Model of requests that name none."""
    max_tokens: int = Field(default=4_096, ge=1)
    """Tokens of one answer, reasoning included; `max_continuations` says how often one goes on."""
    max_continuations: int = Field(default=5, ge=0, le=100)
    """Further requests for an answer that `max_tokens` cut off."""
    reasoning_summary: Literal["auto", "concise", "detailed", "none"] = "detailed"
    """How much is shown of reasoning."""
    truncation: Literal["auto", "disabled"] | None = None
    """Whether the service may leave out the middle of a conversation that is too long."""
    enable_state: bool = False
    """Whether the service stores answers."""
    enable_response_chaining: bool | None = None
    """Whether requests go on with the stored answer before; without it as `enable_state` says. It
    stores answers, too."""
    enable_long_context: bool = False
    """Whether contexts may be so long that each token costs more."""
    prompt_cache_key: OptionalText = None
    """The same text in requests with the same beginning, so that the cache finds it."""
    prompt_cache_retention: str = "24h"
    """How long the cache of a prompt is kept, for models that can: `24h` or `in_memory`; blank for
    what the service does by itself."""
    safety_identifier: OptionalText = None
    """A name of the user that says nothing about the person, by which abuse is found."""
    parallel_tool_calls: bool = True
    """Whether one answer may have several tool calls."""
    tools: ServiceTools = Field(default_factory=list[dict[str, Any]])
    """Tools of the service itself, as it takes them: `[{"type": "web_search"}]`."""
    native_tool_search: bool = False
    """Whether tools that a loop defers are found by `tool_search` of the service, run here, as models
    from GPT-5.4 on take it, in the place of `call_tool`."""
    background: bool | None = None
    """Whether answers are made in the background and asked for; without it for slow models only."""
    poll_interval: float = Field(default=5.0, gt=0)
    """Seconds between two looks at an answer in the background."""
    background_timeout: float = Field(default=1_800.0, gt=0)
    """Seconds after which an answer in the background is cancelled."""
    filtered: bool = True
    """Whether `list_models` leaves out models that do not speak this API."""

    @property
    def is_chained(self) -> bool:
        """Whether requests go on with the answer before."""
        chosen = self.enable_response_chaining
        return self.enable_state if chosen is None else chosen

    @property
    def is_stored(self) -> bool:
        """Whether the service stores answers; without that nothing can go on with them."""
        return self.enable_state or self.is_chained
