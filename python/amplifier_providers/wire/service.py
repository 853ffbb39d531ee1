"""Who is called: the names by which errors, events and advice speak of a service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeAlias

from ..services import Dialect, KnownService

if TYPE_CHECKING:
    from amplifier_core.llm_errors import LLMError

Advise: TypeAlias = Callable[["type[LLMError]", str, str | None], str | None]
"""Returns the advice on an error of this type, with this text, of this model; None for the usual."""


def _add_no_hint(error_class: type[LLMError], text: str, model: str | None) -> str | None:
    del error_class, text, model
    return None


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
    advise: Advise = _add_no_hint
    """What else helps against an error, where a service has better advice than the usual."""

    @classmethod
    def of(cls, known: KnownService, advise: Advise = _add_no_hint) -> Self:
        """Return the service of an entry of the table."""
        return cls(
            name=known.name,
            title=known.title,
            dialect=known.dialect,
            key_from=known.key_variable,
            address_from=known.address_variable,
            advise=advise,
        )

    @property
    def module_name(self) -> str:
        """The module that errors about settings name."""
        return self.module or f"provider-{self.name}"
