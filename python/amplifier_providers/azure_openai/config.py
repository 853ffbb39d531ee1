"""The settings of `provider-azure-openai`, and what its address says: the API, and the deployment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qs, unquote

from pydantic import AfterValidator, Field

from ..requests.openai_models import DEFAULT_MODEL
from ..responses.settings import ResponsesSettings
from ..services import AZURE_OPENAI
from ..settings import Env, OptionalText, SettingError, read_settings
from ..value_problems import Form
from ..wire.service import Service
from ..wire.settings import ApiKey, base_url

PROVIDER = AZURE_OPENAI.name
"""The name under which the provider is mounted, and by which errors and events name it."""
MODULE = f"provider-{PROVIDER}"
SERVICE = Service.of(AZURE_OPENAI)
NO_ADDRESS = f"no address; set `{SERVICE.address_from}` or the config key `endpoint`"
NO_KEY = (
    f"no API key; set `{SERVICE.key_from}` or the config key `api_key`, or for Entra ID"
    " `AZURE_USE_DEFAULT_CREDENTIAL` or `AZURE_USE_MANAGED_IDENTITY` to `true`"
)
(_SECOND_NAME_OF_KEY,) = AZURE_OPENAI.other_key_variables
# The address of the versioned API has its version in the path, and takes these words besides.
_WORDS_FOR_VERSIONS = frozenset({"preview", "latest", "v1"})
_FORM = Form("an address like `https://RESOURCE.openai.azure.com`")


_DEPLOYMENT = re.compile(r"(?P<base>.*/openai/deployments/(?P<name>[^/]+))(?:/[^?]*)?")
_VERSIONED = re.compile(r"(?P<base>.*/openai/v\d+)(?:/[^?]*)?")
_UNVERSIONED = re.compile(r"(?P<base>.*?)(?:/openai(?:/responses)?)?")


def _address(text: str | None) -> str | None:
    if text is None or not text.strip():
        return None
    place_of(text)
    return text.strip()


def _read_switch(text: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    try:
        return words[text.strip().lower()]
    except KeyError:
        raise ValueError from None


AzureAddress = Annotated[str | None, AfterValidator(_address), _FORM]


class AzureOpenAIConfig(ResponsesSettings):
    """How a model on Azure is called."""

    endpoint: Annotated[AzureAddress, Env(SERVICE.address_from)] = Field(default=None, repr=False)
    """Address of the resource, or the whole address of one deployment, which speaks Chat Completions;
    it may contain a password, so it is treated as a secret."""
    base_url: Annotated[AzureAddress, Env("AZURE_OPENAI_BASE_URL")] = Field(
        default=None, repr=False
    )
    """Another name of `endpoint`."""
    api_key: Annotated[ApiKey | None, Env(SERVICE.key_from)] = Field(default=None, repr=False)
    """The API key, which goes before Entra ID; also `AZURE_OPENAI_KEY`."""
    use_managed_identity: Annotated[bool, Env("AZURE_USE_MANAGED_IDENTITY", read=_read_switch)] = (
        False
    )
    """Whether the managed identity of the machine is used."""
    managed_identity_client_id: Annotated[OptionalText, Env("AZURE_MANAGED_IDENTITY_CLIENT_ID")] = (
        None
    )
    """Which managed identity, where the machine has several."""
    use_default_credential: Annotated[
        bool, Env("AZURE_USE_DEFAULT_CREDENTIAL", read=_read_switch)
    ] = False
    """Whether a login of the environment is used, such as that of the Azure command line."""
    api_version: Annotated[OptionalText, Env("AZURE_OPENAI_API_VERSION")] = None
    """Version of the API, which the address of a deployment needs; otherwise only `preview`."""
    default_deployment: OptionalText = None
    """Deployment of requests that name none; the one in the address, if it names one."""
    default_model: OptionalText = None
    """Another name of `default_deployment`."""
    model_family: OptionalText = None
    """The model behind the deployment, such as `gpt-5.5`, if its name does not say it."""

    @property
    def place(self) -> Place:
        """Where requests go.

        Raises:
            ValueError: There is no address.
        """
        address = self.endpoint or self.base_url
        if address is None:
            raise ValueError(NO_ADDRESS)
        return place_of(address)

    @property
    def deployment(self) -> str:
        """The deployment of requests that name none."""
        named = self.default_deployment or self.default_model
        return named or self.place.deployment or DEFAULT_MODEL

    @property
    def version(self) -> str | None:
        """The version of the API, if one is to be sent."""
        return self.place.api_version or self.api_version

    @property
    def params(self) -> dict[str, str]:
        """The query of every request."""
        version = self.version
        is_sent = version and (not self.place.speaks_responses or version in _WORDS_FOR_VERSIONS)
        return {"api-version": version} if version and is_sent else {}

    @property
    def has_identity(self) -> bool:
        """Whether Entra ID says who asks."""
        return self.use_managed_identity or self.use_default_credential


def read_config(
    config: Mapping[str, Any] | None, environment: Mapping[str, str] | None = None
) -> AzureOpenAIConfig | str:
    """Check a config and fill its gaps from the environment.

    Args:
        config: The provider's section of the mount plan.
        environment: Where variables are looked up; the process environment by default.

    Returns:
        The settings; what is missing, if there is no address or nobody who asks.

    Raises:
        SettingError: A value cannot be used, or two of them contradict each other.
    """
    variables = dict(os.environ if environment is None else environment)
    if not variables.get(SERVICE.key_from, "").strip():
        variables[SERVICE.key_from] = variables.get(_SECOND_NAME_OF_KEY, "")
    settings = read_settings(AzureOpenAIConfig, _without_blanks(config), MODULE, variables)
    if settings.endpoint and settings.base_url:
        _check_same(
            "endpoint", "base_url", place_of(settings.endpoint), place_of(settings.base_url)
        )
    if not settings.endpoint and not settings.base_url:
        return NO_ADDRESS
    if settings.default_deployment and settings.default_model:
        _check_same(
            "default_deployment",
            "default_model",
            settings.default_deployment,
            settings.default_model,
        )
    if not settings.place.speaks_responses and settings.version is None:
        message = "`api_version` is missing (the address of a deployment needs it)"
        raise SettingError(f"{MODULE}: {message}", module=MODULE, key="api_version")
    if settings.api_key is None and not settings.has_identity:
        return NO_KEY
    return settings


def ignored_version(settings: AzureOpenAIConfig) -> str | None:
    """Return the version that has no effect, None if there is none such."""
    return settings.version if settings.version and not settings.params else None


def _without_blanks(config: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a config in which a blank key or address is absent, so that a variable fills it."""
    if not isinstance(config, Mapping):
        return config
    blank = {"api_key", "endpoint", "base_url"}
    return {
        key: value
        for key, value in config.items()
        if key not in blank or not isinstance(value, str) or value.strip()
    }


def _check_same(one: str, other: str, found: object, expected: object) -> None:
    if found != expected:
        message = f"`{one}` and `{other}` differ (set one of them, or both to the same)"
        raise SettingError(f"{MODULE}: {message}", module=MODULE, key=one)


@dataclass(frozen=True)
class Place:
    """Where requests go."""

    base_url: str
    deployment: str | None = None
    """The deployment that the address names: it speaks Chat Completions. Without one the address
    ends with a version, and speaks Responses."""
    api_version: str | None = None
    """The version that the query of the address names."""

    @property
    def speaks_responses(self) -> bool:
        """Whether it is an address of the Responses API."""
        return self.deployment is None


def place_of(address: str) -> Place:
    """Return where requests for an address go.

    An address of a resource or of a gateway before it gets the path of the versioned API.

    Raises:
        ValueError: It is no address of HTTP, or has a query besides the version.
    """
    path, _, query = address.strip().partition("?")
    fields = parse_qs(query, strict_parsing=bool(query))
    version = fields.pop("api-version", [None])[-1]
    if fields:
        raise ValueError
    url = base_url(path)
    if found := _DEPLOYMENT.fullmatch(url):
        return Place(found["base"], unquote(found["name"]), version)
    if found := _VERSIONED.fullmatch(url):
        return Place(found["base"], api_version=version)
    found = _UNVERSIONED.fullmatch(url)
    return Place(f"{found['base'] if found else url}/openai/v1", api_version=version)
