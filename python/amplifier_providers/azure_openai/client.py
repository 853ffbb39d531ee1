"""What both providers for Azure share: the client, with a key or tokens, and what is known."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from amplifier_core.models import ConfigField, ProviderInfo

from ..requests.openai_models import ModelProfile, model_profile
from ..wire.client import ServiceClient
from ..wire.service import Service
from .config import MODULE, PROVIDER, SERVICE, AzureOpenAIConfig
from .identity import Credential, Tokens, credential_of

logger = logging.getLogger(__name__)


def profile_of(config: AzureOpenAIConfig, deployment: str) -> ModelProfile:
    """Return what a deployment can do, whose name may say nothing about it."""
    known = model_profile(deployment)
    family = config.model_family
    return model_profile(family) if family and not known.is_known else known


class UnknownFamilies:
    """Warns once of a provider that nothing is known of the model behind a deployment."""

    def __init__(self) -> None:
        """Begin with no warning."""
        self._has_warned = False

    def note(self, deployment: str, profile: ModelProfile) -> None:
        """Warn if nothing is known of the model, once."""
        if profile.is_known or self._has_warned:
            return
        self._has_warned = True
        logger.warning(
            "%s: which model the deployment `%s` has is not known, so nothing is adapted to it; set"
            " `model_family`, such as `gpt-5.5` (assumed: %s tokens of context, %s of an answer)",
            MODULE,
            deployment,
            f"{profile.context_window:,}",
            f"{profile.max_output_tokens:,}",
        )


def priced_as(config: AzureOpenAIConfig, asked: str, answered: str | None) -> tuple[str, ...]:
    """Return the names under which the model of a deployment may have a price.

    A deployment can have any name: the setting says which model it is, or the answer does.
    """
    family = config.model_family if asked == config.deployment else None
    names = (family, answered, asked)
    return tuple(dict.fromkeys(name for name in names if name))


def azure_client(
    config: AzureOpenAIConfig,
    service: Service,
    base_url: str,
    credential: Credential | None = None,
) -> ServiceClient:
    """Return the client for an address of Azure, with the key or the tokens of Entra ID.

    Raises:
        SettingError: A credential is needed, and `azure-identity` is not installed.
    """
    key = config.api_key
    if key is not None and credential is None:

        async def key_headers() -> Mapping[str, str]:
            return {"api-key": key}

        return ServiceClient(service, base_url, key_headers, (key,))

    async def token_headers() -> Mapping[str, str]:
        return {"authorization": f"Bearer {await tokens.get_token()}"}

    client = ServiceClient(service, base_url, token_headers)
    tokens = Tokens(credential or credential_of(config), client.hide)
    return client


def azure_info(capabilities: list[str], defaults: dict[str, Any]) -> ProviderInfo:
    """Return what a provider for Azure says of itself."""
    return ProviderInfo(
        id=PROVIDER,
        display_name=SERVICE.title,
        credential_env_vars=[SERVICE.key_from, SERVICE.address_from],
        capabilities=capabilities,
        defaults=defaults,
        config_fields=[
            ConfigField(
                id="endpoint",
                display_name="Endpoint",
                prompt="Address of the resource, such as https://RESOURCE.openai.azure.com",
                env_var=SERVICE.address_from,
            ),
            ConfigField(
                id="api_key",
                display_name="API key",
                field_type="secret",
                prompt="Azure OpenAI API key; none for Entra ID",
                env_var=SERVICE.key_from,
                required=False,
            ),
            ConfigField(
                id="default_deployment",
                display_name="Deployment",
                prompt="Name of the deployment",
                required=False,
            ),
        ],
    )
