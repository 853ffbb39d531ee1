"""A model call that is under way, and what is held back for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Estimate:
    """What a model call will use at least, as far as that is known before it is made."""

    tokens: int = 0
    cost: Decimal = Decimal(0)


NOTHING = Estimate()
"""The estimate of a call of which nothing is known."""


class Reservation:
    """A model call that is under way: `with reservation:` is the call.

    Within it `settle` says what it used. A call that fails counts as nothing, one that is cancelled
    as what was estimated of it: it may have to be paid.
    """

    def __init__(
        self, estimate: Estimate, end: Callable[[Estimate, int | None, Decimal | None], None]
    ) -> None:
        """Begin a call; `Ledger.reserve` does this.

        Args:
            estimate: What is held back.
            end: Takes the estimate back and counts the tokens, if they are a number, and US
                dollars, None where these are not known.
        """
        self._estimate = estimate
        self._end_call = end
        self._is_over = False

    def settle(self, usage: Any) -> None:
        """Count the `usage` of the response, which may be None."""
        tokens = sum(_number(usage, name) for name in ("input_tokens", "output_tokens"))
        cost = getattr(usage, "cost_usd", None)
        self._end(tokens, cost if isinstance(cost, Decimal) else None)

    def __enter__(self) -> Self:
        """Begin the call."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the call, unless it is settled."""
        if error is not None and not isinstance(error, Exception):
            self._end(self._estimate.tokens, self._estimate.cost)
        else:
            self._end(None, None)

    def _end(self, tokens: int | None, cost: Decimal | None) -> None:
        if not self._is_over:
            self._is_over = True
            self._end_call(self._estimate, tokens, cost)


def _number(usage: Any, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
