"""Who is called: the names by which errors, events and advice speak of a service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Dialect = Literal["anthropic", "responses", "chat", "ollama"]
"""The wire formats that `amplifier_stream` decodes."""


@dataclass(frozen=True)
class Service:
    """A service with an HTTP API for models."""

    name: str
    """As what its provider is mounted, and the `provider` of its errors and events."""
    title: str
    """Its name for people."""
    dialect: Dialect
    """The format of its answers."""
    key_from: str
    """Where its API key is set: a variable of the environment, or a config key."""
    address_from: str
    """Where its base URL is set."""
    module: str = ""
    """The module of its provider; `provider-` and the name if empty."""

    @property
    def module_name(self) -> str:
        """The module that errors about settings name."""
        return self.module or f"provider-{self.name}"
