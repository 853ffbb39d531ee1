"""The calls of one turn to each of its models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .model_call import ModelCalls
from .models.roles import ChosenModel, Roles


@dataclass(frozen=True)
class TurnModels:
    """The models that a turn calls."""

    roles: Roles
    calls: Callable[[ChosenModel, str | None], ModelCalls]
    """Makes the calls to a model, for a purpose beside the conversation if that is named."""

    @property
    def own(self) -> ModelCalls:
        """The calls of the turn itself."""
        return self.calls(self.roles.own, None)

    def helper(self, purpose: str) -> ModelCalls:
        """The calls beside the conversation, for a purpose."""
        return self.calls(self.roles.helper, purpose)

    def asked_for(self, data: Mapping[str, Any] | None) -> ModelCalls:
        """Return the calls to the model of the `role` in the data of `provider:request`.

        Raises:
            UnknownRoleError: The settings do not name the role.
        """
        own = self.roles.own
        role = own.role if data is None else data.get("role")
        return self.calls(own if role == own.role else self.roles.of(role), None)
