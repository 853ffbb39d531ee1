"""Why a call or an answer was blocked."""

from __future__ import annotations

from typing import Literal

from ...exceptions import ArcLLMError


class ArcLLMSecurityError(ArcLLMError):
    """A call or an answer holds what must not leave or come in. The message does not repeat it.

    Args:
        direction: `request` for what was to be sent, `response` for what came.
        types: What was found: types of personal data, or `SECRET`.
    """

    def __init__(self, direction: Literal["request", "response"], types: tuple[str, ...]) -> None:
        super().__init__(direction, types)
        self.direction: Literal["request", "response"] = direction
        self.types = types

    def __str__(self) -> str:
        """Say what was found, and where."""
        listed = ", ".join(f"`{each}`" for each in self.types)
        return f"the {self.direction} holds {listed} and was blocked"
