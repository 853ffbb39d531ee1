"""The context window of a server: how it counts the tokens of a request, and what is too many."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """A limit of tokens, counted by the bytes of a request."""

    tokens: int
    """The most tokens of a request."""
    bytes_per_token: float = 4.0
    """Bytes of the body that are one token; fewer make a tokenizer that counts more."""

    def count(self, raw: bytes) -> int:
        """Return the tokens of the body of a request."""
        return max(1, round(len(raw) / self.bytes_per_token))
