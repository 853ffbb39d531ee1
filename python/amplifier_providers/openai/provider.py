"""`provider-openai`: the models of OpenAI over the Responses API, streamed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from amplifier_core.models import ProviderInfo

from ..responses.provider import ResponsesProvider
from ..responses.wire_format import ResponsesFormat
from ..retries import Retries
from ..wire.client import ServiceClient
from ..wire.mounting import Prepared, key_and_address, mount_of
from .config import PROVIDER, SERVICE, OpenAIConfig, read_config

_WEB_SEARCH = "web_search"
_NO_KEY = f"no API key; set `{SERVICE.key_from}` or the config key `api_key`"


class OpenAIProvider(ResponsesProvider):
    """A provider for the Responses API of OpenAI."""

    def __init__(
        self, config: OpenAIConfig, hooks: Any = None, *, retries: Retries | None = None
    ) -> None:
        """Set the provider up; nothing is sent and no connection is made.

        Args:
            config: Its settings, as `read_config` checks them.
            hooks: The registry that gets its events; None for no events.
            retries: The retries of its calls; None for those of the settings.
        """

        async def make_headers() -> Mapping[str, str]:
            return config.make_headers()

        client = ServiceClient(SERVICE, config.base_url, make_headers, (config.api_key,))
        wire_format = ResponsesFormat(PROVIDER, config)
        super().__init__(SERVICE, config, client, wire_format, hooks, retries=retries)
        self.config = config

    @override
    def use_settings(self, settings: Any) -> None:
        super().use_settings(settings)
        self.config = settings

    def offer_web_search(self) -> bool:
        """Offer the search of the API from the next request on; return whether there is one."""
        tools = self.config.tools
        if not any(str(each.get("type")).startswith(_WEB_SEARCH) for each in tools):
            added = [*tools, {"type": _WEB_SEARCH}]
            self.use_settings(self.config.model_copy(update={"tools": added}))
        return True

    def get_info(self) -> ProviderInfo:
        """Return what this provider can do and how it is configured."""
        return ProviderInfo(
            id=PROVIDER,
            display_name="OpenAI",
            credential_env_vars=[SERVICE.key_from],
            capabilities=self.get_model_info().capabilities,
            defaults=self.model_defaults(self.default_model, self.max_tokens),
            config_fields=key_and_address(SERVICE, self._client.shown_url),
        )


def _prepare(config: Mapping[str, Any] | None) -> Prepared | str:
    settings = read_config(config)
    if settings is None:
        return _NO_KEY
    return Prepared(
        PROVIDER,
        settings,
        lambda hooks, retries: OpenAIProvider(settings, hooks, retries=retries),
    )


mount = mount_of(SERVICE.module_name, _prepare)
"""Mount the provider as `openai`; its settings are `OpenAIConfig`."""
