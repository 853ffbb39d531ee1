"""`provider-azure-openai`: models that are deployed on Azure, with a key or Entra ID."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from amplifier_core.message_models import ChatRequest
from amplifier_core.models import ProviderInfo

from ..requests.openai_models import ModelProfile
from ..responses.provider import ResponsesProvider
from ..responses.request import ResponsesRequest
from ..responses.wire_format import ResponsesFormat
from ..retries import Retries
from ..wire.mounting import Prepared, mount_of
from .client import UnknownFamilies, azure_client, azure_info, priced_as, profile_of
from .config import MODULE, PROVIDER, SERVICE, AzureOpenAIConfig, ignored_version, read_config
from .identity import Credential

logger = logging.getLogger(__name__)


class AzureFormat(ResponsesFormat):
    """Writes and reads for deployments, whose names may say nothing about their models."""

    def __init__(self, config: AzureOpenAIConfig) -> None:
        """Encode with these settings."""
        super().__init__(PROVIDER, config, config.params)
        self._config = config
        self._unknown = UnknownFamilies()

    @override
    def use_settings(self, settings: Any) -> None:
        super().use_settings(settings)
        self._config = settings

    @override
    def encode(
        self, request: ChatRequest, options: Mapping[str, Any] | None = None
    ) -> ResponsesRequest:
        encoded = super().encode(request, options)
        self._unknown.note(encoded.model, self.profile_of(encoded.model))
        return encoded

    @override
    def profile_of(self, model: str) -> ModelProfile:
        return profile_of(self._config, model)

    @override
    def priced_as(self, asked: str, answered: str | None) -> tuple[str, ...]:
        return priced_as(self._config, asked, answered)


class AzureOpenAIProvider(ResponsesProvider):
    """A provider for the Responses API of Azure."""

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
        client = azure_client(config, SERVICE, config.place.base_url, credential)
        self.config = named = _with_deployment(config)
        super().__init__(SERVICE, named, client, AzureFormat(named), hooks, retries=retries)

    @override
    def use_settings(self, settings: Any) -> None:
        self.config = named = _with_deployment(settings)
        super().use_settings(named)

    def get_info(self) -> ProviderInfo:
        """Return what this provider can do and how it is configured."""
        return azure_info(
            self.get_model_info().capabilities,
            self.model_defaults(self.default_model, self.max_tokens),
        )


def _with_deployment(config: AzureOpenAIConfig) -> AzureOpenAIConfig:
    """Return the settings with the name of the deployment under one key, wherever it was."""
    named = {"default_deployment": None, "default_model": config.deployment}
    return config.model_copy(update=named)


def _prepare(config: Mapping[str, Any] | None) -> Prepared | str:
    settings = read_config(config)
    if isinstance(settings, str):
        return settings
    if version := ignored_version(settings):
        logger.warning(
            "%s: the API version `%s` has no effect: the address has its version in its path",
            MODULE,
            version,
        )
    if settings.place.speaks_responses:
        return Prepared(
            PROVIDER,
            settings,
            lambda hooks, retries: AzureOpenAIProvider(settings, hooks, retries=retries),
        )

    from .deployment import DeploymentProvider, without_effect

    for key in without_effect(settings):
        logger.warning(
            "%s: `%s` has no effect: the address of a deployment speaks Chat Completions",
            MODULE,
            key,
        )
    return Prepared(
        PROVIDER,
        settings,
        lambda hooks, retries: DeploymentProvider(settings, hooks, retries=retries),
    )


mount = mount_of(MODULE, _prepare)
"""Mount the provider as `azure-openai`; its settings are `AzureOpenAIConfig`."""
