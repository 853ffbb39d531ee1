"""The names of the providers, and what each of them needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from amplifier_providers.openai_chat.presets import PRESETS


@dataclass(frozen=True)
class ProviderName:
    """A provider that can be asked for by its name."""

    name: str
    title: str
    """Its name for people."""
    module: str
    """The module of the kernel that speaks to it."""
    key_variable: str = ""
    """The variable of the environment with its API key; empty if it has none."""
    address_variable: str = ""
    """The variable with its address; empty if it has none."""
    needs_key: bool = True
    """Whether it answers nobody without a key."""
    preset: str = ""
    """The service of the provider for Chat Completions; empty for a provider of its own."""
    base_url: str = ""
    """Its usual address; empty where each user has one of their own."""


_OWN = (
    ProviderName(
        "anthropic",
        "Anthropic",
        "provider-anthropic",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        base_url="https://api.anthropic.com",
    ),
    ProviderName(
        "openai",
        "OpenAI",
        "provider-openai",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        base_url="https://api.openai.com/v1",
    ),
    ProviderName(
        "azure_openai",
        "Azure OpenAI",
        "provider-azure-openai",
        "AZURE_OPENAI_API_KEY",
        "AZURE_OPENAI_ENDPOINT",
        needs_key=False,
    ),
    ProviderName(
        "ollama",
        "Ollama",
        "provider-ollama",
        "OLLAMA_API_KEY",
        "OLLAMA_HOST",
        needs_key=False,
        base_url="http://127.0.0.1:11434",
    ),
    ProviderName(
        "openai_chat",
        "any server with Chat Completions",
        "provider-openai-chat",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        needs_key=False,
    ),
)

PROVIDERS: Mapping[str, ProviderName] = MappingProxyType(
    {
        each.name: each
        for each in (
            *_OWN,
            *(
                ProviderName(
                    preset.name.replace("-", "_"),
                    preset.title,
                    f"provider-{preset.name}",
                    preset.key_variable,
                    needs_key=bool(preset.key_variable),
                    preset=preset.name,
                    base_url=preset.base_url,
                )
                for preset in PRESETS.values()
            ),
        )
    }
)
"""All providers, by their names."""
