"""`provider-openai-chat`: any server that speaks Chat Completions, streamed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, cast

from typing_extensions import override

from amplifier_core.models import ConfigField, ModelInfo, ProviderInfo

from ..retries import Retries
from ..wire.client import Headers, ServiceClient
from ..wire.fields import JsonDict
from ..wire.mounting import Mount, Prepared, mount_of
from ..wire.provider import WireProvider, new_call_id
from ..wire.service import Service
from .config import MODULE, ChatConfig, ChatSettings, read_config, with_settings
from .models import ListedModels, can_chat, context_window, max_output_tokens
from .presets import OTHER, Preset
from .wire_format import PATH, ChatFormat

logger = logging.getLogger(__name__)

_MODELS = "/models"
_CAPABILITIES = ["streaming", "tools"]


class ChatProvider(WireProvider):
    """A provider for one server with Chat Completions."""

    def __init__(
        self,
        service: Service,
        preset: Preset,
        settings: ChatSettings,
        client: ServiceClient,
        hooks: Any = None,
        *,
        retries: Retries | None = None,
        new_id: Callable[[], str] = new_call_id,
        path: str = PATH,
        names_model: bool = True,
        wire_format: ChatFormat | None = None,
    ) -> None:
        """Set the provider up; nothing is sent and no connection is made.

        Args:
            service: Who is called.
            preset: What its requests look like, without the settings.
            settings: Its settings.
            client: How it is reached, with the headers of its own.
            hooks: The registry that gets its events; None for no events.
            retries: The retries of its calls; None for those of the settings.
            new_id: Returns the id of a call that comes without one.
            path: Where requests go, after the base URL.
            names_model: Whether the body names the model; not where the address does.
            wire_format: How its requests are written and its answers read; None for that of `preset`.
        """
        self.config = settings
        self.preset = with_settings(preset, settings)
        self._models = ListedModels(self.preset.vision, is_vision_set=settings.vision is not None)
        usual = ChatFormat(
            self.preset,
            settings,
            sees=self._models.has_vision,
            path=path,
            names_model=names_model,
        )
        super().__init__(
            service, settings, client, wire_format or usual, hooks, retries=retries, new_id=new_id
        )
        # Nobody knows whether a server without a name honours a schema.
        is_known = preset is not OTHER or settings.structured_output is not None
        is_held = is_known and self.preset.output == "json_schema"
        self._capabilities = [
            *_CAPABILITIES,
            *(["thinking"] if self.preset.thinking != "none" else []),
            *(["structured_output"] if is_held else []),
        ]

    @classmethod
    def of(
        cls,
        config: ChatConfig,
        hooks: Any = None,
        *,
        retries: Retries | None = None,
        new_id: Callable[[], str] = new_call_id,
    ) -> ChatProvider:
        """Set up the provider of a config, as `read_config` checks it."""
        settings = config.settings
        client = ServiceClient(
            config.service,
            settings.base_url or "",
            _make_header_factory(settings.api_key, settings.extra_headers),
            (settings.api_key or "", *settings.extra_headers.values()),
        )
        return cls(
            config.service, config.preset, settings, client, hooks, retries=retries, new_id=new_id
        )

    def get_info(self) -> ProviderInfo:
        """Return what this provider can do and how it is configured."""
        known = self.get_model_info()
        key = self.preset.key_variable
        return ProviderInfo(
            id=self.name,
            display_name=self.preset.title,
            credential_env_vars=[key] if key else [],
            capabilities=known.capabilities,
            defaults=self.model_defaults(self.config.default_model, self.config.max_tokens),
            config_fields=[
                ConfigField(
                    id="api_key",
                    display_name="API key",
                    field_type="secret",
                    prompt=f"{self.preset.title} API key",
                    env_var=key or None,
                    required=bool(key),
                ),
                ConfigField(
                    id="base_url",
                    display_name="Base URL",
                    prompt="Address of the API",
                    required=False,
                    default=self._client.shown_url,
                ),
            ],
        )

    def get_model_info(self, model: str | None = None) -> ModelInfo:
        """Return what a model can do; that of the settings if None.

        What the list of models says counts only after `list_models`.
        """
        name = model or self.config.default_model or ""
        return self._model_info(self._models.find_entry(name))

    @override
    def use_settings(self, settings: Any) -> None:
        super().use_settings(settings)
        self.config = settings

    async def _model_entries(self) -> list[dict[str, Any]]:
        expected = "a list of models"
        answer = await self._client.ask_any("GET", _MODELS, self.config.timeout, expected)
        # Some servers send the list alone.
        listed = cast("JsonDict", answer).get("data") if isinstance(answer, dict) else answer
        try:
            entries = [dict(entry) for entry in cast("Any", listed)]
        except (ValueError, TypeError) as error:
            raise self._client.make_unfitting(_MODELS, "other content", expected, None) from error
        self._models.remember(entries)
        return [entry for entry in entries if can_chat(entry) or not self.config.filtered]

    def _model_info(self, entry: Mapping[str, Any]) -> ModelInfo:
        model = str(entry.get("id") or "")
        window, written = self._limits_of(entry)
        return ModelInfo(
            id=model,
            display_name=str(entry.get("name") or entry.get("display_name") or model),
            context_window=window,
            max_output_tokens=written,
            capabilities=[
                *self._capabilities,
                *(["vision"] if self._models.has_vision(model) else []),
            ],
        )

    @override
    def _find_limits(self, model: str | None) -> tuple[int | None, int | None]:
        # Each session asks, and to make the whole `ModelInfo` takes twenty times as long.
        return self._limits_of(self._models.find_entry(model or self.config.default_model or ""))

    def _limits_of(self, entry: Mapping[str, Any]) -> tuple[int, int]:
        """Return the context window and the longest answer of an entry of the list of models."""
        settings, preset = self.config, self.preset
        window = settings.context_window or context_window(entry) or preset.context_window
        written = settings.max_output_tokens or max_output_tokens(entry)
        return window, written or min(preset.max_output_tokens, window)


def _make_header_factory(api_key: str | None, extra: Mapping[str, str]) -> Headers:
    async def make_headers() -> Mapping[str, str]:
        return {**({"authorization": f"Bearer {api_key}"} if api_key else {}), **extra}

    return make_headers


def mount_of_preset(preset: str | None) -> Mount:
    """Return the mount function of the module of a service, or of any server if None."""

    def prepare(config: Mapping[str, Any] | None) -> Prepared | str:
        found = read_config(config, preset=preset)
        if isinstance(found, str):
            return found
        return Prepared(
            found.preset.name,
            found.settings,
            lambda hooks, retries: ChatProvider.of(found, hooks, retries=retries),
        )

    return mount_of(MODULE if preset is None else f"provider-{preset}", prepare)


mount = mount_of_preset(None)
"""Mount the provider as `openai-chat`; its settings are `OpenAIChatConfig`."""
