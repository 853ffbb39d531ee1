"""How many tokens a request has, by what the provider counted for the last one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, cast

Kind = Literal["actual", "estimate"]

_LONG_TOKENS = 1_000
"""Above this the share of tool descriptions in a request says little about its messages."""
_MOST_PER_ESTIMATED = 3.0
_FURTHEST = 8.0
"""How far a count may be from the estimate to be one of the same messages."""


class TokenMeter:
    """Corrects estimates of tokens by the count of the last request.

    What was added since is estimated. The count has the descriptions of tools and what hooks added,
    too, which are part of the window as well.
    """

    kind: ClassVar[str] = "state:meter"
    """The kind of the rows in which a session that is stored keeps it."""

    __slots__ = ("_counted", "_estimated", "_is_used", "_sent")

    def __init__(self, kind: Kind) -> None:
        """Correct nothing yet; `estimate` never does."""
        self._is_used = kind == "actual"
        self._sent = 0
        self._estimated = 0
        self._counted = 0

    def note_request(self, estimated: int) -> None:
        """Take notice of a request with so many estimated tokens."""
        self._sent = estimated

    def note(self, usage: Any) -> None:
        """Take notice of the `usage` of its response."""
        if isinstance(usage, Mapping):
            tokens = cast("Mapping[str, Any]", usage).get("input_tokens")
        else:
            tokens = getattr(usage, "input_tokens", None)
        if not self._is_used or not isinstance(tokens, int) or isinstance(tokens, bool):
            return
        least = self._sent / _FURTHEST
        most = max(self._sent, _LONG_TOKENS * 16) * _FURTHEST
        if self._sent > 0 and least <= tokens <= most:
            self._estimated, self._counted = self._sent, tokens

    def describe(self) -> dict[str, int] | None:
        """Return the last count and the estimate of the same request; None without one."""
        if not self._counted:
            return None
        return {"estimated": self._estimated, "counted": self._counted}

    def restore(self, body: Mapping[str, int]) -> None:
        """Take over the last count of another process; `estimate` does not."""
        if self._is_used:
            self._estimated, self._counted = body["estimated"], body["counted"]

    def estimate_for(self, budget: float) -> float:
        """Return the estimated tokens of messages that really take as many as the budget."""
        if not self._counted:
            return budget
        if budget < self._counted:
            return budget * self._estimated / self._counted
        per_estimated = 1.0
        if self._estimated >= _LONG_TOKENS:
            per_estimated = min(max(1.0, self._counted / self._estimated), _MOST_PER_ESTIMATED)
        return self._estimated + (budget - self._counted) / per_estimated
