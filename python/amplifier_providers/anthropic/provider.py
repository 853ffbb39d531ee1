"""`provider-anthropic`: Claude over the Anthropic Messages API, streamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from typing_extensions import override

from amplifier_core.models import ModelInfo, ProviderInfo

from ..retries import Retries
from ..wire.client import ServiceClient
from ..wire.mounting import Prepared, key_and_address, mount_of
from ..wire.provider import WireProvider
from .config import PROVIDER, SERVICE, AnthropicConfig, read_config
from .models import LONG_CONTEXT_TOKENS, ModelProfile, model_profile
from .wire_format import AnthropicFormat

VERSION = "2023-06-01"
_NO_KEY = f"no API key; set `{SERVICE.key_from}` or the config key `api_key`"
_CAPABILITIES = ["streaming", "tools", "thinking", "vision"]
_MODELS = "/v1/models"
_WEB_SEARCH = "web_search"
_MODELS_PER_PAGE = 1_000
_MAX_PAGES = 100


class AnthropicProvider(WireProvider):
    """A provider for the Anthropic Messages API."""

    short_names: ClassVar[Mapping[str, str]] = {
        "sonnet": "claude-sonnet-5-5",
        "haiku": "claude-haiku-4-5",
    }

    def __init__(
        self, config: AnthropicConfig, hooks: Any = None, *, retries: Retries | None = None
    ) -> None:
        """Set the provider up; nothing is sent and no connection is made.

        Args:
            config: Its settings, as `read_config` checks them.
            hooks: The registry that gets its events; None for no events.
            retries: The retries of its calls; None for those of the settings.
        """

        async def make_headers() -> Mapping[str, str]:
            return {"x-api-key": config.api_key, "anthropic-version": VERSION}

        client = ServiceClient(SERVICE, config.base_url, make_headers, (config.api_key,))
        super().__init__(SERVICE, config, client, AnthropicFormat(config), hooks, retries=retries)
        self.config = config

    def get_info(self) -> ProviderInfo:
        """Return what this provider can do and how it is configured."""
        return ProviderInfo(
            id=PROVIDER,
            display_name="Anthropic",
            credential_env_vars=[SERVICE.key_from],
            capabilities=self.get_model_info().capabilities,
            defaults=self.model_defaults(self.config.default_model, self.config.max_tokens),
            config_fields=key_and_address(SERVICE, self._client.shown_url),
        )

    @property
    def takes_deferred_tools(self) -> bool:
        """Whether requests hold tools that the model reads of when a search finds them."""
        return self.config.native_tool_search

    def get_model_info(self, model: str | None = None) -> ModelInfo:
        """Return what a model can do; that of the settings if None."""
        return self._model_info({"id": model or self.config.default_model})

    @override
    def use_settings(self, settings: Any) -> None:
        super().use_settings(settings)
        self.config = settings

    def offer_web_search(self) -> bool:
        """Offer the search of the API from the next request on; return whether there is one."""
        if not any(each.get("name") == _WEB_SEARCH for each in self.config.tools):
            self.use_settings(self.config.model_copy(update={"enable_web_search": True}))
        return True

    async def _model_entries(self) -> list[dict[str, Any]]:
        """Return the entries of all pages of `GET /v1/models`."""
        expected = "a list of models"
        entries: list[dict[str, Any]] = []
        parameters: dict[str, str] = {"limit": str(_MODELS_PER_PAGE)}
        for _ in range(_MAX_PAGES):
            page = await self._client.ask(
                "GET", _MODELS, self.config.timeout, expected, params=parameters
            )
            try:
                entries += [dict(entry) for entry in page["data"]]
            except (ValueError, KeyError, TypeError) as error:
                raise self._client.make_unfitting(
                    _MODELS, "other content", expected, None
                ) from error
            if not page.get("has_more") or not page.get("last_id"):
                break
            parameters["after_id"] = str(page["last_id"])
        return entries

    def _is_known(self, model: str) -> bool:
        return model_profile(model).is_known

    def _model_info(self, entry: Mapping[str, Any]) -> ModelInfo:
        model = str(entry.get("id") or "")
        profile = model_profile(model)
        capabilities = [name for name in _CAPABILITIES if name != "thinking"]
        if profile.thinking != "none":
            capabilities.append("thinking")
        if profile.structured:
            capabilities.append("structured_output")
        return ModelInfo(
            id=model,
            display_name=str(entry.get("display_name") or model),
            context_window=_count(entry, "max_input_tokens") or self._find_window(profile),
            max_output_tokens=_count(entry, "max_tokens") or profile.max_output_tokens,
            capabilities=capabilities,
        )

    def _find_window(self, profile: ModelProfile) -> int:
        is_long = profile.long_context_beta and self.config.enable_1m_context
        return LONG_CONTEXT_TOKENS if is_long else profile.context_window


def _count(entry: Mapping[str, Any], key: str) -> int | None:
    value = entry.get(key)
    return value if isinstance(value, int) else None


def _prepare(config: Mapping[str, Any] | None) -> Prepared | str:
    settings = read_config(config)
    if settings is None:
        return _NO_KEY
    return Prepared(
        PROVIDER,
        settings,
        lambda hooks, retries: AnthropicProvider(settings, hooks, retries=retries),
    )


mount = mount_of(SERVICE.module_name, _prepare)
"""Mount the provider as `anthropic`; its settings are `AnthropicConfig`."""
