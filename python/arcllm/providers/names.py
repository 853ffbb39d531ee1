"""The names of the providers, and what each of them needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from amplifier_providers.services import CHAT_SERVICES, OPENAI_CHAT, SERVICES, KnownService


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


def _name_of(service: KnownService) -> ProviderName:
    is_preset = service.name in CHAT_SERVICES
    return ProviderName(
        service.name.replace("-", "_"),
        "any server with Chat Completions" if service is OPENAI_CHAT else service.title,
        service.module_id,
        service.key_variable,
        service.address_variable,
        needs_key=service.needs_key,
        preset=service.name if is_preset else "",
        base_url=service.base_url,
    )


PROVIDERS: Mapping[str, ProviderName] = MappingProxyType(
    {each.name: each for each in map(_name_of, SERVICES.values())}
)
"""All providers, by their names."""
