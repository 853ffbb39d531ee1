"""The kernel's providers by name: each with its settings, its address and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from amplifier_providers.settings import Settings

from ..exceptions import ArcLLMConfigError
from .names import ProviderName
from .settings import checked_settings

if TYPE_CHECKING:
    from amplifier_providers.wire.provider import WireProvider

_MAX_TOKENS = 16_000
"""Tokens of an answer over the Responses API: here it is one request, which nothing goes on with."""


@dataclass(frozen=True)
class Wire:
    """How a provider is reached."""

    address: str
    make: Callable[[], WireProvider]
    """Makes a provider for one event loop."""


Values: TypeAlias = Mapping[str, Any]
ConfigT = TypeVar("ConfigT", bound=Settings)


def wire_of(entry: ProviderName, settings: Values) -> Wire:
    """Return how a provider is reached with these settings.

    Args:
        entry: The provider.
        settings: Its settings; what they lack may come from the environment.

    Raises:
        ArcLLMConfigError: A setting is unknown, or the key or the address is missing.
        SettingError: A value cannot be used.
    """
    return _WIRES.get(entry.module, _open_chat)(entry, settings)


def _open_anthropic(entry: ProviderName, settings: Values) -> Wire:
    from amplifier_providers.anthropic.config import AnthropicConfig, read_config
    from amplifier_providers.anthropic.provider import AnthropicProvider

    config = read_config(_check_settings(entry, settings, AnthropicConfig))
    if config is None:
        raise _make_missing_error(
            entry, f"no API key; set `{entry.key_variable}` or the setting `api_key`"
        )
    whole = _one_request(config)
    return Wire(config.base_url, lambda: AnthropicProvider(whole))


def _open_openai(entry: ProviderName, settings: Values) -> Wire:
    from amplifier_providers.openai.config import OpenAIConfig, read_config
    from amplifier_providers.openai.provider import OpenAIProvider

    config = read_config(_check_settings(entry, settings, OpenAIConfig))
    if config is None:
        raise _make_missing_error(
            entry, f"no API key; set `{entry.key_variable}` or the setting `api_key`"
        )
    whole = _one_request(config, max_tokens=_MAX_TOKENS)
    return Wire(config.base_url, lambda: OpenAIProvider(whole))


def _open_azure(entry: ProviderName, settings: Values) -> Wire:
    from amplifier_providers.azure_openai.config import AzureOpenAIConfig, read_config
    from amplifier_providers.azure_openai.deployment import DeploymentProvider
    from amplifier_providers.azure_openai.provider import AzureOpenAIProvider

    config = read_config(_check_settings(entry, settings, AzureOpenAIConfig))
    if isinstance(config, str):
        raise _make_missing_error(entry, config)
    if not config.place.speaks_responses:
        return Wire(config.place.base_url, lambda: DeploymentProvider(config))
    whole = _one_request(config, max_tokens=_MAX_TOKENS)
    return Wire(config.place.base_url, lambda: AzureOpenAIProvider(whole))


def _open_ollama(entry: ProviderName, settings: Values) -> Wire:
    from amplifier_providers.ollama.config import OllamaConfig, read_config
    from amplifier_providers.ollama.provider import OllamaProvider

    config = read_config(_check_settings(entry, settings, OllamaConfig))
    return Wire(config.address, lambda: OllamaProvider(config))


def _open_chat(entry: ProviderName, settings: Values) -> Wire:
    from amplifier_providers.openai_chat.config import OpenAIChatConfig, read_config
    from amplifier_providers.openai_chat.provider import ChatProvider

    values = _check_settings(entry, settings, OpenAIChatConfig)
    config = read_config(values, preset=entry.preset or None)
    if isinstance(config, str):
        raise _make_missing_error(entry, config.partition(", or choose")[0])
    return Wire(config.settings.base_url or "", lambda: ChatProvider.of(config))


_WIRES: Mapping[str, Callable[[ProviderName, Values], Wire]] = {
    "provider-anthropic": _open_anthropic,
    "provider-openai": _open_openai,
    "provider-azure-openai": _open_azure,
    "provider-ollama": _open_ollama,
}


def _check_settings(entry: ProviderName, settings: Values, model: type[Settings]) -> dict[str, Any]:
    return checked_settings(entry.name, settings, model)


def _one_request(config: ConfigT, **values: Any) -> ConfigT:
    """Return settings with which an answer is not gone on with, unless they say so.

    Args:
        config: The settings.
        **values: What else is usual here.
    """
    usual = {"max_continuations": 0, **values}
    unset = {key: value for key, value in usual.items() if key not in config.model_fields_set}
    filled = config.model_copy(update=unset)
    filled.model_fields_set.difference_update(unset)  # nobody asked for them
    return filled


def _make_missing_error(entry: ProviderName, what: str) -> ArcLLMConfigError:
    reason = what.replace("the config key", "the setting")
    return ArcLLMConfigError(f"`{entry.name}` has {reason}")
