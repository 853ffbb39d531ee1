"""A provider for the address of one deployment, which speaks Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from typing_extensions import override

from amplifier_core.message_models import ChatRequest
from amplifier_core.models import ModelInfo, ProviderInfo

from ..openai_chat import ChatProvider, ChatSettings, Preset
from ..openai_chat.config import with_settings
from ..openai_chat.wire_format import ChatFormat
from ..requests.openai_models import ModelProfile
from ..responses.settings import ResponsesSettings
from ..retries import Retries
from ..wire.body import WireRequest
from ..wire.settings import HttpSettings
from .client import UnknownFamilies, azure_client, azure_info, priced_as, profile_of
from .config import PROVIDER, SERVICE, AzureOpenAIConfig
from .identity import Credential

_TITLE = SERVICE.title
_ALSO_HERE = frozenset({"max_tokens", "parallel_tool_calls", "filtered"})
_OF_SEVERAL_MODELS = frozenset(
    {"fallback_on_overload", "fallback_model", "fallback_cooldown", "fallback_state_path"}
)
"""Settings that need another model, which the address of one deployment does not have."""


def without_effect(config: AzureOpenAIConfig) -> list[str]:
    """Return the settings that were made, but that Chat Completions has nothing for."""
    of_responses = ResponsesSettings.model_fields.keys() - HttpSettings.model_fields.keys()
    unheard = of_responses - _ALSO_HERE - {"default_model"} | _OF_SEVERAL_MODELS
    return sorted(config.model_fields_set & unheard)


class DeploymentFormat(ChatFormat):
    """Writes and reads for one deployment, which the address names and no body."""

    def __init__(self, config: AzureOpenAIConfig, preset: Preset, settings: ChatSettings) -> None:
        """Encode for a deployment.

        Args:
            config: The settings of the provider.
            preset: What requests look like.
            settings: The settings of requests.
        """
        super().__init__(preset, settings, names_model=False)
        self.params = config.params
        self._config = config
        self._unknown = UnknownFamilies()

    @override
    def encode(self, request: ChatRequest, options: Mapping[str, Any] | None = None) -> WireRequest:
        encoded = super().encode(request, options)
        self._unknown.note(encoded.model, self.profile_of(encoded.model))
        return encoded

    @override
    def request_path(self, encoded: WireRequest) -> str:
        return f"/{quote(encoded.model, safe='')}/chat/completions"

    @override
    def profile_of(self, model: str) -> ModelProfile:
        return profile_of(self._config, model)

    @override
    def priced_as(self, asked: str, answered: str | None) -> tuple[str, ...]:
        return priced_as(self._config, asked, answered)


class DeploymentProvider(ChatProvider):
    """A provider for Chat Completions of Azure, where the address names the deployment."""

    def __init__(
        self,
        config: AzureOpenAIConfig,
        hooks: Any = None,
        *,
        retries: Retries | None = None,
        credential: Credential | None = None,
    ) -> None:
        """Set the provider up; nothing is sent and no connection is made.

        Args:
            config: Its settings, as `read_config` checks them.
            hooks: The registry that gets its events; None for no events.
            retries: The retries of its calls; None for those of the settings.
            credential: Gets the tokens of Entra ID; None for that of the settings.

        Raises:
            SettingError: A credential is needed, and `azure-identity` is not installed.
        """
        self.azure = config
        base_url = config.place.base_url.rpartition("/")[0]
        service = replace(SERVICE, dialect="chat")
        client = azure_client(config, service, base_url, credential)
        preset, settings = (
            _make_preset(profile_of(config, config.deployment), base_url),
            _make_settings(config),
        )
        wire_format = DeploymentFormat(config, with_settings(preset, settings), settings)
        super().__init__(
            service, preset, settings, client, hooks, retries=retries, wire_format=wire_format
        )

    def get_info(self) -> ProviderInfo:
        """Return what this provider can do and how it is configured."""
        known = self.get_model_info()
        defaults = self.model_defaults(self.default_model, self.max_tokens)
        return azure_info(known.capabilities, defaults)

    def _model_info(self, entry: Mapping[str, Any]) -> ModelInfo:
        info = super()._model_info(entry)
        profile = profile_of(self.azure, info.id)
        sizes = {
            "context_window": profile.context_window,
            "max_output_tokens": profile.max_output_tokens,
        }
        return info.model_copy(update=sizes)

    async def _model_entries(self) -> list[dict[str, Any]]:
        """Return the deployment of the address: others cannot be listed with its key."""
        return [{"id": self.azure.deployment}]


def _make_preset(profile: ModelProfile, base_url: str) -> Preset:
    thinks = profile.reasons or not profile.is_known
    outputs = {"schema": "json_schema", "object": "json_object", "none": "none"}
    return Preset(
        PROVIDER,
        _TITLE,
        base_url,
        SERVICE.key_from,
        thinking="reasoning_effort" if thinks else "none",
        limit_key="max_completion_tokens",
        output=outputs[profile.structured],  # pyright: ignore[reportArgumentType] -- of the table
        documents="file",
        vision=profile.has_vision,
        context_window=profile.context_window,
        max_output_tokens=profile.max_output_tokens,
    )


def _make_settings(config: AzureOpenAIConfig) -> ChatSettings:
    shared = HttpSettings.model_fields.keys() & config.model_fields_set - _OF_SEVERAL_MODELS
    given = {key: getattr(config, key) for key in shared | (_ALSO_HERE & config.model_fields_set)}
    return ChatSettings(**given, default_model=config.deployment)
