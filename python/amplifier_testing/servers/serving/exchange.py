"""A request that a server got, its limit, and an answer in pieces: events as bytes and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .reading import Json, read_mapping

MAX_PADDING = 64


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
    at: float = field(default=0.0, compare=False)
    """When it came, in seconds of `ModelServer.clock`."""


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


def encode_event(value: Json, name: str | None = None, padding: int = 0) -> bytes:
    """Encode an object as one event.

    Args:
        value: The data.
        name: The name of the event, for dialects that name them.
        padding: Spaces behind the JSON, as Anthropic sends them; at most `MAX_PADDING`.

    Raises:
        ValueError: The data are nested too deep.
    """
    named = "" if name is None else f"event: {name}\n"
    try:
        written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("the data of an event are nested too deep") from None
    return f"{named}data: {written}{' ' * min(padding, MAX_PADDING)}\n\n".encode()


def split_pieces(body: bytes, content_type: str) -> list[bytes]:
    """Split a recorded body at the ends of its events or lines; joined they are the same bytes."""
    if "ndjson" in content_type:
        return body.splitlines(keepends=True)
    pieces = body.split(b"\n\n")
    events = [piece + b"\n\n" for piece in pieces[:-1]]
    return [*events, pieces[-1]] if pieces[-1] else events


def read_events(body: bytes) -> Iterator[Json]:
    """Yield the objects that the events of a recorded body carry."""
    for line in body.splitlines():
        if line.startswith(b"data:"):
            try:
                yield read_mapping(json.loads(line[5:]))
            except ValueError:
                continue  # `[DONE]`, or an event that was cut off
