"""The models of a turn by role: the setting that names them, and the choice of a provider."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, cast

from pydantic import BeforeValidator, Field

from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.message_models import ChatRequest
from amplifier_providers.base import BaseProvider
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


logger = logging.getLogger(__name__)

DEFAULT_PRIORITY = 100


class TagSettings(Protocol):
    """The settings of a loop that say how models write their calls."""

    @property
    def tool_tags(self) -> tuple[str, ...]:
        """The tags of calls; empty for native ones."""
        ...

    @property
    def model_fields_set(self) -> set[str]:
        """The settings that a config names."""
        ...


def choose_provider(providers: Mapping[str, Any], preferred: str | None) -> tuple[str, Any]:
    """Return mount name and provider: the preferred one, else that with the lowest priority.

    Equal priorities keep the order of mounting.

    Raises:
        ConfigurationError: No provider is mounted.
    """
    if not providers:
        message = "no provider is mounted (check its configuration and credentials)"
        raise ConfigurationError(message)
    if preferred is not None:
        if (name := mounted_as(preferred, providers)) is not None:
            return name, providers[name]
        names = ", ".join(f"`{name}`" for name in providers)
        logger.warning("default provider `%s` is not mounted (mounted: %s)", preferred, names)
    if len(providers) == 1:
        return next(iter(providers.items()))
    return min(providers.items(), key=lambda item: _read_priority(item[1]))


def mounted_as(name: str, providers: Mapping[str, Any]) -> str | None:
    """Return what a provider is mounted as that is named so, or by its id; None if it is not."""
    names = (name, name.removeprefix("provider-"))
    return next((each for each in names if each in providers), None)


def model_name(provider: Any) -> str | None:
    """Return the default model of the provider, if it has one."""
    for source in (provider, getattr(provider, "config", None)):
        if source is not None:
            for attribute in ("default_model", "model"):
                value = getattr(source, attribute, None)
                if isinstance(value, str):
                    return value
    return None


def tool_tags(provider: Any, settings: TagSettings) -> tuple[str, ...]:
    """Return the tags in which the model writes its calls; empty for native calls.

    Those that the config of the loop names count first, then those of the provider, then the
    default of the loop.
    """
    if settings.tool_tags and "tool_tags" in settings.model_fields_set:
        return settings.tool_tags
    tags: Any = getattr(provider, "tool_tags", None)
    if not tags or not isinstance(tags, (list, tuple)):
        return settings.tool_tags
    named = cast("list[Any]", tags)
    return tuple(tag for tag in named if isinstance(tag, str)) or settings.tool_tags


def _read_priority(provider: Any) -> float:
    config = getattr(provider, "config", None)
    settings = cast("dict[str, Any]", config) if isinstance(config, dict) else {}
    for value in (getattr(provider, "priority", None), settings.get("priority")):
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value
    return DEFAULT_PRIORITY


@dataclass(slots=True)
class ChosenModel:
    """A model that calls can be made to."""

    name: str
    """What its provider is mounted as."""
    provider: Any
    named: str | None = None
    """The model that requests name; None for that of the provider's settings."""
    role: str | None = None
    """The role that it was chosen by; None for the default provider."""

    @property
    def model(self) -> str | None:
        """The name of the model; None if it is not known."""
        return self.named or model_name(self.provider)

    @property
    def identity(self) -> dict[str, Any]:
        """What events say of it; without `role` where no role chose it."""
        model = self.named or model_name(self.provider)
        identity: dict[str, Any] = {"provider": self.name, "model": model}
        if self.role is not None:
            identity["role"] = self.role
        return identity

    def request_budget(self) -> int | None:
        """Return how many tokens the messages of a request may have.

        None where the provider's own word is about this model, or it knows nothing of it.
        """
        # Contexts ask a provider without naming a model.
        if self.named is None or not isinstance(self.provider, BaseProvider):
            return None
        return self.provider.request_budget(ChatRequest(messages=[], model=self.named))


class UnknownRoleError(LookupError):
    """A role that `models` of the loop does not name."""

    def __init__(self, role: object, known: list[str]) -> None:
        """List the roles that it names."""
        named = ", ".join(f"`{each}`" for each in known) or "none"
        super().__init__(
            f"`models` of the loop names no model of the role `{role}` (named: {named})"
        )


class Roles:
    """The models of a turn."""

    def __init__(
        self, providers: Mapping[str, Any], models: Mapping[str, RoleModel], preferred: str | None
    ) -> None:
        """Find the provider of each role.

        Args:
            providers: Mounted providers by name.
            models: The models of roles.
            preferred: The default provider; None for that with the lowest priority.

        Raises:
            ConfigurationError: A role names a provider that is not mounted, or none is mounted.
        """
        if models and (problems := role_problems(providers, models)):
            raise ConfigurationError("; ".join(problems))
        self._choose_model: dict[str, ChosenModel] = {}
        for role, named in models.items():
            self._choose_model[role] = _choose_model(providers, role, named)
        own = self._choose_model.get(STRONG)
        self.own = own or ChosenModel(*choose_provider(providers, preferred))
        """Makes the calls of the turn itself."""
        self.helper = self._choose_model.get(FAST, self.own)
        """Makes the calls beside the conversation."""

    def choose_model(self, role: object) -> ChosenModel:
        """Return the model of a role; None is that of the turn's own calls.

        Raises:
            UnknownRoleError: The settings do not name the role.
        """
        if role is None:
            return self.own
        found = self._choose_model.get(role) if isinstance(role, str) else None
        if found is None:
            raise UnknownRoleError(role, list(self._choose_model))
        return found

    def of_or_own(self, role: str) -> ChosenModel:
        """Return the model of a role, that of the turn's own calls where no model has it."""
        return self._choose_model.get(role, self.own)


def role_problems(providers: Mapping[str, Any], models: Mapping[str, RoleModel]) -> list[str]:
    """Say which roles name a provider that is not mounted."""
    mounted = ", ".join(f"`{name}`" for name in providers) or "none"
    return [
        f"`models.{role}` of the loop names the provider `{named.provider}`, which is not mounted"
        f" (mounted: {mounted})"
        for role, named in models.items()
        if mounted_as(named.provider, providers) is None
    ]


def _choose_model(providers: Mapping[str, Any], role: str, named: RoleModel) -> ChosenModel:
    name = mounted_as(named.provider, providers) or named.provider
    return ChosenModel(name, providers[name], named.model, role)
