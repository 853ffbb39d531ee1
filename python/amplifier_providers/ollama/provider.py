"""`provider-ollama`: models of a server of Ollama, streamed."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from typing_extensions import override

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError
from amplifier_core.message_models import ChatRequest
from amplifier_core.models import ConfigField, ModelInfo, ProviderInfo

from ..openai_chat.raw_block import raw_block as raw_completion_block
from ..retries import Retries
from ..wire.body import WireRequest
from ..wire.call import note_hint
from ..wire.client import ServiceClient
from ..wire.events import PROVIDER_PULL_PROGRESS
from ..wire.fields import JsonDict
from ..wire.mounting import Prepared, mount_of
from ..wire.provider import WireProvider, new_call_id
from .advice import is_missing
from .completions import PRESET, CompletionsEncoder
from .config import MODULE, PROVIDER, SERVICE, OllamaConfig, read_config, without_effect
from .models import UNKNOWN, ModelLookup
from .pull import pull
from .request import OllamaEncoder

logger = logging.getLogger(__name__)

_PATHS = {"native": "/api/chat", "openai": "/v1/chat/completions"}
_LIMIT_KEYS = {"native": "num_predict", "openai": "max_tokens"}
_LOOK_SECONDS = 2.0
"""How long `mount` waits for a server."""
_LEARN_SECONDS = 10.0
_MAX_OUTPUT_TOKENS = 8_192
_TAGS = ("tool",)
_SAYS_NOTHING = (
    llm_errors.NotFoundError,
    llm_errors.InvalidRequestError,
    llm_errors.ConfigurationError,
)
"""How servers answer that do not know what is asked of them: older ones, and others in their place."""


class OllamaProvider(WireProvider):
    """A provider for one server.

    What a model can do is asked of the server before its first request.
    """

    own_events = (PROVIDER_PULL_PROGRESS,)

    def __init__(
        self,
        config: OllamaConfig,
        hooks: Any = None,
        *,
        retries: Retries | None = None,
        new_id: Callable[[], str] = new_call_id,
    ) -> None:
        """Set the provider up; nothing is sent and no connection is made.

        Args:
            config: Its settings, as `read_config` checks them.
            hooks: The registry that gets its events; None for no events.
            retries: The retries of its calls; None for those of the settings.
            new_id: Returns the id of a call; servers give none.
        """
        key = config.api_key

        async def headers() -> Mapping[str, str]:
            return {"authorization": f"Bearer {key}"} if key else {}

        service = config.service
        client = ServiceClient(service, config.address, headers, (key or "",))
        super().__init__(service, config, client, hooks, retries=retries, new_id=new_id)
        self.path = _PATHS[config.api]
        self.limit_key = _LIMIT_KEYS[config.api]
        self.config = config
        self._models = ModelLookup(client)
        encoder = OllamaEncoder if config.api == "native" else CompletionsEncoder
        self._encoder = encoder(config, self._models.facts)

    def get_info(self) -> ProviderInfo:
        """Return what this provider can do and how it is configured."""
        known = self.get_model_info()
        return ProviderInfo(
            id=self.name,
            display_name=SERVICE.title,
            credential_env_vars=[SERVICE.key_from],
            capabilities=known.capabilities,
            defaults=self.model_defaults(self.config.default_model, self.config.max_tokens),
            config_fields=[
                ConfigField(
                    id="host",
                    display_name="Host",
                    prompt="Address of the server",
                    env_var=SERVICE.address_from,
                    required=False,
                    default=self._client.shown_url,
                ),
                ConfigField(
                    id="api_key",
                    display_name="API key",
                    field_type="secret",
                    prompt="API key, for Ollama Cloud",
                    env_var=SERVICE.key_from,
                    required=False,
                ),
            ],
        )

    def get_model_info(self, model: str | None = None) -> ModelInfo:
        """Return what a model can do; that of the settings if None.

        What the server says of it counts once it was asked: when the provider was mounted, before
        the first request, or by `list_models`.
        """
        name = model or self.config.default_model or ""
        facts = self._models.facts(name)
        window = facts.window(self.config.num_ctx)
        capabilities = ["streaming", "structured_output"]
        capabilities += ["tools"] if facts.can("tools") is not False else []
        capabilities += [what for what in ("thinking", "vision") if facts.can(what)]
        return ModelInfo(
            id=name,
            display_name=name,
            context_window=window,
            max_output_tokens=self.config.max_tokens or min(_MAX_OUTPUT_TOKENS, window),
            capabilities=capabilities,
        )

    @override
    async def mount(self, coordinator: Any, name: str) -> Callable[[], Awaitable[None]]:
        close = await super().mount(coordinator, name)
        await self.look()
        return close

    async def look(self) -> None:
        """Ask the server about the model of the settings; a warning says what is wrong."""
        model = self.config.default_model
        seconds = min(self.config.timeout, _LOOK_SECONDS)
        try:
            if model:
                await self._learn(model, seconds)
            else:
                await self._models.version(seconds)
        except (llm_errors.NetworkError, llm_errors.LLMTimeoutError) as error:
            logger.warning("%s: %s; %s", MODULE, error, error.hint)
        except LLMError as error:
            # Any other error comes again with the first request.
            if is_missing(error) and not self.config.auto_pull:
                logger.warning("%s: %s; %s", MODULE, error, error.hint)

    @override
    async def prepare(self, request: ChatRequest, options: Mapping[str, Any]) -> None:
        """Ask what the model can do, unless that is known; download it if it is missing."""
        model = options.get("model") or request.model or self.config.default_model
        if not isinstance(model, str) or not model or self._models.is_known(model):
            return
        config = self.config
        waits = (request.timeout or config.timeout, config.content_timeout or _LEARN_SECONDS)
        seconds = min(*waits, _LEARN_SECONDS)
        try:
            await self._learn(model, seconds)
        except LLMError as error:
            if is_missing(error) and config.auto_pull:
                await self._pull(model, seconds)
            elif 300 <= (error.status_code or 0) < 400 and config.api == "native":
                # Chat Completions may be those of a server that redirects all other paths.
                note_hint(error)
                raise
            elif isinstance(error, _SAYS_NOTHING) and not is_missing(error):
                self._models.remember(model, UNKNOWN)
            # Any other error comes again with the request itself, which is retried.

    @override
    def use_settings(self, settings: Any) -> None:
        super().use_settings(settings)
        self.config = settings
        self._encoder.use_settings(settings)

    @override
    def encode(self, request: ChatRequest, options: Mapping[str, Any]) -> WireRequest:
        return self._encoder.encode(request, options)

    @override
    def raw_block(self, block: JsonDict) -> JsonDict:
        if self.config.api == "openai":
            return raw_completion_block(block, PRESET.shown_thinking)
        match block.get("type"):
            case "tool_call":
                given = block.get("arguments")
                arguments = block.get("raw_arguments") if given is None else given
                call_id = {"id": block["id"]} if block.get("id") else {}
                return {
                    **call_id, "function": {"name": block.get("name"), "arguments": arguments},
                }  # fmt: skip
            case "thinking":
                return {"thinking": block.get("thinking")}
            case _:
                return block

    async def _pull(self, model: str, seconds: float) -> None:
        try:
            await pull(self._client, model, self.config.timeout, self.emit)
        except LLMError as error:
            note_hint(error)
            raise
        with contextlib.suppress(LLMError):  # it would come again with the request
            await self._learn(model, seconds)

    async def _learn(self, model: str, seconds: float) -> None:
        await self._models.learn(model, seconds)
        if model == self.config.default_model and "tool_tags" not in self.config.model_fields_set:
            # A model without calls of its own writes them as tags.
            is_without = self._models.facts(model).can("tools") is False
            self.tool_tags = _TAGS if is_without else ()

    async def _model_entries(self) -> list[dict[str, Any]]:
        entries = await self._models.entries(self.config.timeout)
        for entry in entries:
            if not self._models.is_known(entry["id"]):
                try:
                    await self._learn(entry["id"], min(self.config.timeout, _LEARN_SECONDS))
                except llm_errors.NotFoundError:
                    self._models.remember(entry["id"], UNKNOWN)
        return entries

    def _is_known(self, model: str) -> bool:
        return bool(self._models.facts(model).can("completion"))


def _prepare(config: Mapping[str, Any] | None) -> Prepared:
    settings = read_config(config)
    for key in without_effect(settings):
        logger.warning("%s: `%s` has no effect: Chat Completions has no field for it", MODULE, key)
    return Prepared(
        PROVIDER,
        settings,
        lambda hooks, retries: OllamaProvider(settings, hooks, retries=retries),
    )


mount = mount_of(MODULE, _prepare)
"""Mount the provider as `ollama`; its settings are `OllamaConfig`.

It is mounted also if the server cannot be reached: one warning says so.
"""
