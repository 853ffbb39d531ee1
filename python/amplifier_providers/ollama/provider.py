"""`provider-ollama`: models of a server of Ollama, streamed."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from typing_extensions import override

from amplifier_core import llm_errors
from amplifier_core.llm_errors import LLMError
from amplifier_core.models import ConfigField, ModelInfo, ProviderInfo

from ..retries import Retries
from ..wire.client import ServiceClient
from ..wire.events import PROVIDER_PULL_PROGRESS, Emitter
from ..wire.mounting import Prepared, mount_of
from ..wire.provider import WireProvider, new_call_id
from .completions import CompletionsFormat
from .config import MODULE, PROVIDER, SERVICE, OllamaConfig, is_missing, read_config, without_effect
from .models import LEARN_SECONDS, UNKNOWN, ModelLookup
from .wire_format import OllamaFormat

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 2.0
"""How long `mount` waits for a server."""
_MAX_OUTPUT_TOKENS = 8_192
_TAGS = ("tool",)


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

        async def make_headers() -> Mapping[str, str]:
            return {"authorization": f"Bearer {key}"} if key else {}

        service = config.service
        client = ServiceClient(service, config.address, make_headers, (key or "",))
        self._models = ModelLookup(client, Emitter(hooks).emit)
        make = OllamaFormat if config.api == "native" else CompletionsFormat
        wire_format = make(config, self._models.find_facts, self._models.look_up)
        super().__init__(
            service, config, client, wire_format, hooks, retries=retries, new_id=new_id
        )
        self.config = config

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
        facts = self._models.find_facts(name)
        window = facts.find_window(self.config.num_ctx)
        capabilities = ["streaming", "structured_output"]
        capabilities += ["tools"] if facts.can_do("tools") is not False else []
        capabilities += [what for what in ("thinking", "vision") if facts.can_do(what)]
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
                await self._models.learn(model, seconds)
            else:
                await self._models.check_server(seconds)
        except (llm_errors.NetworkError, llm_errors.LLMTimeoutError) as error:
            logger.warning("%s: %s; %s", MODULE, error, error.hint)
        except LLMError as error:
            # Any other error comes again with the first request.
            if is_missing(error) and not self.config.auto_pull:
                logger.warning("%s: %s; %s", MODULE, error, error.hint)

    @override
    def use_settings(self, settings: Any) -> None:
        super().use_settings(settings)
        self.config = settings

    @override
    def _find_tool_tags(self) -> tuple[str, ...]:
        is_set = "tool_tags" in self.settings.model_fields_set
        facts = self._models.find_facts(self.config.default_model or "")
        if is_set or facts.can_do("tools") is not False:
            return super()._find_tool_tags()
        return _TAGS  # a model without calls of its own writes them as tags

    async def _model_entries(self) -> list[dict[str, Any]]:
        entries = await self._models.list_entries(self.config.timeout)
        for entry in entries:
            if not self._models.is_known(entry["id"]):
                try:
                    await self._models.learn(entry["id"], min(self.config.timeout, LEARN_SECONDS))
                except llm_errors.NotFoundError:
                    self._models.remember(entry["id"], UNKNOWN)
        return entries

    def _is_known(self, model: str) -> bool:
        return bool(self._models.find_facts(model).can_do("completion"))


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
