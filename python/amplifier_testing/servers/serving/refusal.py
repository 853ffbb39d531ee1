"""A request that a server refuses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """Why a request is refused, in the words of the vendor."""

    status: int
    """The HTTP status."""
    kind: str
    """The `type` of the error."""
    message: str
    """The `message` of the error."""
    param: str | None = None
    """The `param` of the error, where the dialect has one."""
    code: str | None = None
    """The `code` of the error, where the dialect has one."""


class RefusedError(Exception):
    """Raised by a rule that a request breaks."""

    def __init__(self, refusal: Refusal) -> None:
        """Carry `refusal`."""
        super().__init__(refusal.message)
        self.refusal = refusal
