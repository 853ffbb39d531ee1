"""The models of a turn by role: which provider, and which model of it, answers a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.message_models import ChatRequest
from amplifier_providers.base import BaseProvider

from .provider_choice import choose_provider, model_name, mounted_as
from .role_settings import FAST, STRONG, RoleModel


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

    def of(self, role: object) -> ChosenModel:
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
