"""The setting that names the models of roles."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from amplifier_providers.settings import OptionalText, Settings
from amplifier_providers.value_problems import Form

STRONG, FAST = "strong", "fast"
"""The roles that loops use by themselves: for the calls of a turn, and for those beside it."""


class RoleModel(Settings):
    """The model of a role."""

    provider: str = Field(min_length=1)
    """What its provider is mounted as."""
    model: OptionalText = None
    """The model that requests name; without it that of the provider's settings."""


def _role_model(given: Any) -> Any:
    """Return the mapping that `PROVIDER` or `PROVIDER:MODEL` stands for."""
    if not isinstance(given, str):
        return given
    provider, _, model = given.partition(":")
    return {"provider": provider, "model": model or None}


RoleModels = Annotated[
    dict[str, Annotated[RoleModel, BeforeValidator(_role_model)]],
    Form("a mapping of roles to `PROVIDER`, `PROVIDER:MODEL` or a mapping of both"),
]
"""The models of roles."""
