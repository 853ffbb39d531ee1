"""How the requests of a model call are paid for: each one, before it is sent.

Who limits what calls may use sets `CALL_ALLOWANCE`; who sends requests asks it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import Protocol

from .amounts import TokenCount
from .call_bound import CallBound


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
        counts: Mapping[str, int | None] | None = None,
    ) -> None:
        """Count what the admitted request used; None counts as what is held back for it.

        Args:
            input_tokens: Tokens read.
            output_tokens: Tokens written.
            cost: US dollars.
            counts: The tokens in the disjoint buckets of the decoder.
        """
        ...


CALL_ALLOWANCE: ContextVar[Allowance | None] = ContextVar("call_allowance", default=None)
"""What the model call that is made here may use; None for no limit."""


@contextmanager
def admitted_by(allowance: Allowance | None) -> Generator[None]:
    """Have an allowance admit the requests of the calls that are begun here; None changes nothing."""
    if allowance is None:
        yield
        return
    around = CALL_ALLOWANCE.get()
    CALL_ALLOWANCE.set(allowance)
    try:
        yield
    finally:
        # Not reset by a token: what is left behind may be closed in another context.
        CALL_ALLOWANCE.set(around)
