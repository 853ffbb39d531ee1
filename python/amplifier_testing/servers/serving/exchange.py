"""What a server gets, how long it may be, and an answer in pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import world


@dataclass(frozen=True)
class SeenRequest:
    """A request that a server got."""

    method: str
    path: str
    """The path without the query."""
    query: Mapping[str, str]
    headers: Mapping[str, str]
    """The headers, their names in lower case."""
    body: Any
    """The parsed body; `None` without one, or if it is not a JSON object."""
    raw: bytes
    """The body as it came."""
    at: float = field(default_factory=world.monotonic, compare=False)
    """When it came, by `world.monotonic`."""


@dataclass(frozen=True)
class Stream:
    """An answer in pieces."""

    pieces: Sequence[bytes]
    """The pieces, as events of `encode_event` or lines."""
    content_type: str = "text/event-stream; charset=utf-8"


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
