"""The settings of `provider-openai`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from ..requests.openai_models import DEFAULT_MODEL
from ..responses.settings import ResponsesSettings
from ..services import OPENAI
from ..settings import Env, OptionalText
from ..wire.mounting import settings_with_key
from ..wire.service import Service
from ..wire.settings import Address, ApiKey, base_url_or

PROVIDER = OPENAI.name
"""The name under which the provider is mounted, and by which errors and events name it."""
DEFAULT_BASE_URL = OPENAI.base_url
SERVICE = Service.of(OPENAI)


class OpenAIConfig(ResponsesSettings):
    """How the Responses API of OpenAI is called."""

    api_key: Annotated[ApiKey, Env(OPENAI.key_variable)] = Field(repr=False)
    """The API key; without one the provider is not mounted."""
    base_url: Annotated[
        str, AfterValidator(base_url_or(DEFAULT_BASE_URL)), Address, Env(OPENAI.address_variable)
    ] = Field(default=DEFAULT_BASE_URL, repr=False)
    """Address of the API with its version; it may contain a password, so it is treated as a
    secret."""
    organization: Annotated[ApiKey | None, Env("OPENAI_ORG_ID")] = None
    """The organization that pays, for keys of several."""
    project: Annotated[ApiKey | None, Env("OPENAI_PROJECT_ID")] = None
    """The project that pays."""
    default_model: OptionalText = DEFAULT_MODEL
    """Model of requests that name none."""

    def make_headers(self) -> dict[str, str]:
        """Return the headers of every request."""
        headers = {"authorization": f"Bearer {self.api_key}"}
        if self.organization:
            headers["openai-organization"] = self.organization
        if self.project:
            headers["openai-project"] = self.project
        return headers


def read_config(
    config: Mapping[str, Any] | None, environment: Mapping[str, str] | None = None
) -> OpenAIConfig | None:
    """Check a config and fill its gaps from the environment.

    Args:
        config: The provider's section of the mount plan.
        environment: Where variables are looked up; the process environment by default.

    Returns:
        The settings, or None when there is no API key anywhere.

    Raises:
        SettingError: A value cannot be used.
    """
    return settings_with_key(OpenAIConfig, config, SERVICE.module_name, environment)
