"""A model that layers may turn to: a provider, and one of its models or the default one."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field

from amplifier_providers.settings import Settings
from amplifier_providers.value_problems import Form

from ..exceptions import ArcLLMConfigError


class Target(Settings):
    """A model of a provider."""

    provider: Annotated[
        str,
        Field(pattern=r"\A[a-z][a-z0-9_-]{0,63}\z"),
        Form("the name of a provider: small letters, digits, `_` and `-`"),
    ]
    """The name of the provider."""
    model: Annotated[str | None, Field(min_length=1)] = None
    """The model; None for the default one of the provider."""

    def __str__(self) -> str:
        """Write it as `provider:model`."""
        return self.provider if self.model is None else f"{self.provider}:{self.model}"


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    provider, colon, model = value.partition(":")
    return {"provider": provider, "model": model} if colon else {"provider": provider}


TargetSetting: TypeAlias = Annotated[Target, BeforeValidator(_read)]
"""A `Target` as settings have it: `provider:model`, `provider`, or a mapping."""


@contextmanager
def naming(setting: str) -> Generator[None]:
    """Begin the message of an error with the setting that names the model."""
    try:
        yield
    except ArcLLMConfigError as error:
        raise ArcLLMConfigError(f"{setting}: {error.message}") from error
