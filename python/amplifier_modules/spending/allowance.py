"""How the requests of a model call are paid for: each one, before it is sent.

Who limits what calls may use sets `CALL_ALLOWANCE`; who sends requests asks it.
"""

from __future__ import annotations

from contextvars import ContextVar
from decimal import Decimal
from typing import Protocol

from .call_bound import CallBound
from .token_count import TokenCount


class NoRoomError(Exception):
    """A request is not sent, as too little is left to pay for its answer."""


class Allowance(Protocol):
    """What the requests of one model call may use, retries and continuations included."""

    async def admit(self, bound: CallBound) -> int:
        """Hold back what a request may use; return the tokens that its answer may have.

        Raises:
            NoRoomError: It would be less than the shortest answer.
        """
        ...

    def settle(
        self,
        input_tokens: TokenCount | None,
        output_tokens: TokenCount | None,
        cost: Decimal | None,
    ) -> None:
        """Count what the admitted request used; None counts as what is held back for it."""
        ...


CALL_ALLOWANCE: ContextVar[Allowance | None] = ContextVar("call_allowance", default=None)
"""What the model call that is made here may use; None for no limit."""
