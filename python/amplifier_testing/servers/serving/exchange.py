"""What a server gets, and what it answers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


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
    at: float = field(default_factory=lambda: time.monotonic(), compare=False)
    """When it came, by `time.monotonic`."""


@dataclass(frozen=True)
class Stream:
    """An answer in pieces."""

    pieces: Sequence[bytes]
    """The pieces, as events of `encode_event` or lines."""
    content_type: str = "text/event-stream; charset=utf-8"
