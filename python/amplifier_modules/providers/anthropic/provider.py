"""`provider-anthropic`: Claude over the Anthropic Messages API, streamed."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from amplifier_core import events
from amplifier_core._loading.load_report import explain
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest, ChatResponse, ToolCall
from amplifier_core.models import ConfigField, ModelInfo, ProviderInfo

from ..retries import Retries
from .config import PROVIDER, AnthropicConfig, read_config
from .messages import Conversation
from .models import model_profile
from .request import EncodedRequest, encode_request, named_kinds
from .response import build_response, usage_payload
from .transport import AnthropicTransport

if TYPE_CHECKING:
    from amplifier_stream import StreamEvent

logger = logging.getLogger(__name__)

_NO_KEY = "no API key; set `ANTHROPIC_API_KEY` or the config key `api_key`"
_CAPABILITIES = ["streaming", "tools", "thinking", "vision"]


class AnthropicProvider:
    """A provider for the Anthropic Messages API.

    The blocks of an answer are emitted as `content_block:*` events as they arrive; responses have
    `content_blocks_emitted` in their metadata. Every failure is one of `llm_errors`.
    """

    name = PROVIDER

    def __init__(
        self, config: AnthropicConfig, hooks: Any = None, *, retries: Retries | None = None
    ) -> None:
        """Set the provider up; nothing is sent and no connection is made.

        Args:
            config: Its settings, as `read_config` checks them.
            hooks: The registry that gets its events; None for no events.
            retries: The retries of its calls; None for those of the settings.
        """
        self.config = config
        self.priority = config.priority
        self.tool_tags = config.tool_tags
        self._hooks = hooks
        self._retries = retries or Retries(PROVIDER, config, hooks)
        self._transport = AnthropicTransport(config)
        self._reported_repairs: set[str] = set()
        self._reported_left_out: set[str] = set()

    def __repr__(self) -> str:
        """Show the base URL, never the key."""
        return f"AnthropicProvider(base_url={self._transport.shown_url!r})"

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """Send `request` and return the whole answer.

        Args:
            request: The conversation and the tools.
            **kwargs: What `encode_request` takes as options; others are ignored.

        Raises:
            LLMError: The call failed, after the retries that the settings allow. A stream that is
                cut off is a `StreamError`: a partial answer never becomes a response, and is not
                retried once a part of it was shown.
        """
        encoded = encode_request(request, self.config, kwargs)
        started = time.monotonic()
        await self._report_repairs(encoded.conversation)
        timeout = request.timeout or self.config.timeout
        await self._emit(events.LLM_REQUEST, _request_payload(encoded, timeout))
        response_payload = {"provider": PROVIDER, "model": encoded.model}
        is_shown = False

        async def show(event: StreamEvent) -> None:
            nonlocal is_shown
            is_shown = self._hooks is not None
            await self._emit(event.event, event.data)

        try:
            result = await self._retries.call(
                lambda: self._transport.stream(encoded, request.timeout, show),
                encoded.model,
                may_repeat=lambda: not is_shown,
            )
        except LLMError as error:
            _note_hint(error)
            payload = {"type": type(error).__name__, "msg": str(error)}
            response_payload |= {
                "status": "error",
                "duration_ms": _milliseconds_since(started),
                "error": payload,
            }
            await self._emit(events.LLM_RESPONSE, response_payload)
            raise
        response = build_response(
            result, requested_model=encoded.model, degradation=encoded.degradation
        )
        await self._emit(
            events.LLM_RESPONSE,
            {
                "provider": PROVIDER,
                "model": result.model or encoded.model,
                "status": "ok",
                "duration_ms": _milliseconds_since(started),
                "usage": usage_payload(response.usage) if response.usage else {},
            },
        )
        return response

    async def list_models(self) -> list[ModelInfo]:
        """Return the models that the key may use.

        Raises:
            LLMError: The API cannot be reached or refuses the key.
        """
        try:
            entries = await self._retries.call(self._transport.list_models, None)
        except LLMError as error:
            _note_hint(error)
            raise
        return [_model_info(entry) for entry in entries]

    def get_info(self) -> ProviderInfo:
        """Return what this provider can do and how it is configured."""
        profile = model_profile(self.config.default_model)
        return ProviderInfo(
            id=PROVIDER,
            display_name="Anthropic",
            credential_env_vars=["ANTHROPIC_API_KEY"],
            capabilities=list(_CAPABILITIES),
            defaults={
                "model": self.config.default_model,
                "max_tokens": self.config.max_tokens,
                "context_window": profile.context_window,
                "max_output_tokens": profile.max_output_tokens,
            },
            config_fields=[
                ConfigField(
                    id="api_key",
                    display_name="API key",
                    field_type="secret",
                    prompt="Anthropic API key",
                    env_var="ANTHROPIC_API_KEY",
                ),
                ConfigField(
                    id="base_url",
                    display_name="Base URL",
                    prompt="Address of the API",
                    env_var="ANTHROPIC_BASE_URL",
                    required=False,
                    default=self._transport.shown_url,
                ),
            ],
        )

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """Return the tool calls of `response` in the order the model made them.

        A call that cannot be run has an attribute `error` that says why, and no arguments.
        """
        return list(response.tool_calls or [])

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._transport.close()

    async def _report_repairs(self, conversation: Conversation) -> None:
        """Report each repair once, although each later request repeats it."""
        kinds = [kind for kind in conversation.left_out if kind not in self._reported_left_out]
        if kinds:
            self._reported_left_out.update(kinds)
            logger.warning(
                "content blocks left out of requests, as the API does not support them: %s",
                named_kinds(kinds),
            )
        new = [call for call in conversation.repaired if call not in self._reported_repairs]
        if new:
            self._reported_repairs.update(new)
            logger.warning("%d tool calls had no result and got a synthetic one", len(new))
            await self._emit(
                events.PROVIDER_TOOL_SEQUENCE_REPAIRED,
                {"provider": PROVIDER, "repair_count": len(new), "tool_call_ids": new},
            )

    async def _emit(self, event: str, data: dict[str, Any]) -> None:
        if self._hooks is not None:
            await self._hooks.emit(event, data)


def _note_hint(error: LLMError) -> None:
    """Write the hint into the notes of an error: a traceback shows no fields."""
    if error.hint and error.hint not in str(error):
        error.add_note(f"hint: {error.hint}")


def _request_payload(encoded: EncodedRequest, timeout: float) -> dict[str, Any]:
    """Return a summary: copying the history for each handler would be slow."""
    body = encoded.body
    return {
        "provider": PROVIDER,
        "model": encoded.model,
        "message_count": len(body["messages"]),
        "tool_count": len(body.get("tools", ())),
        "max_tokens": body["max_tokens"],
        "thinking": body.get("thinking"),
        "stream": True,
        "timeout": timeout,
    }


def _milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)


def _model_info(entry: Mapping[str, Any]) -> ModelInfo:
    model = str(entry.get("id") or "")
    profile = model_profile(model)
    capabilities = [name for name in _CAPABILITIES if name != "thinking"]
    if profile.thinking != "none":
        capabilities.append("thinking")
    return ModelInfo(
        id=model,
        display_name=str(entry.get("display_name") or model),
        context_window=_count(entry, "max_input_tokens") or profile.context_window,
        max_output_tokens=_count(entry, "max_tokens") or profile.max_output_tokens,
        capabilities=capabilities,
    )


def _count(entry: Mapping[str, Any], key: str) -> int | None:
    value = entry.get(key)
    return value if isinstance(value, int) else None


async def mount(
    coordinator: Any, config: Mapping[str, Any] | None = None
) -> Callable[[], Awaitable[None]] | None:
    """Mount the provider as `anthropic`.

    Args:
        coordinator: Where it is mounted; its hooks get the events.
        config: See `AnthropicConfig`; the key may come from `ANTHROPIC_API_KEY`.

    Returns:
        The callable that closes its connections, or None when there is no API key: then nothing
        is mounted, and one warning says so: that of the session that mounts it, or of this function.

    Raises:
        ConfigurationError: A setting has the wrong type or cannot work.
    """
    settings = read_config(config)
    if settings is None:
        if not explain(_NO_KEY):
            logger.warning("provider-anthropic is not mounted: %s", _NO_KEY)
        return None
    hooks = getattr(coordinator, "hooks", None)
    cancellation = getattr(coordinator, "cancellation", None)
    retries = Retries(PROVIDER, settings, hooks, cancellation)
    provider = AnthropicProvider(settings, hooks, retries=retries)
    await coordinator.mount("providers", provider, name=PROVIDER)
    return provider.close
