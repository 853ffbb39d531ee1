"""Requests that continue from a stored response: only what is new is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ..wire.fields import JsonDict, fields_of
from ..wire.history import CheckedHistory
from ..wire.rules import Writer

RESPONSE_ID = "openai:response_id"
"""Key in the metadata of a message: the response that it was."""
CHAIN = "openai:chain"
"""Key in the metadata of a message: what its request held, if the response is stored."""


@dataclass(frozen=True)
class Link:
    """The stored response that a request continues from, or why it does not."""

    previous: str | None = None
    """The response that it continues from."""
    lost: str | None = None
    """The response that it could have continued from."""
    reason: str = ""
    """Why it does not."""


class Chain:
    """The stored responses of conversations, as the metadata of their messages names them."""

    def __init__(self) -> None:
        """Begin with all of them in use."""
        self._dead: set[str] = set()
        self._is_reset = False

    def reset(self) -> None:
        """Let the next request send everything, as its history was shortened."""
        self._is_reset = True

    def drop(self, response_id: str) -> None:
        """Never continue from this response again."""
        self._dead.add(response_id)

    def link(
        self, provider: str, messages: Sequence[Any], history: CheckedHistory, turns: list[bytes]
    ) -> Link:
        """Return the response from which a request continues.

        Args:
            provider: Who asks.
            messages: The history as it was given.
            history: The same, checked.
            turns: The same, as it would be sent.
        """
        is_reset, self._is_reset = self._is_reset, False
        known = _last_answer(provider, messages)
        response_id, mark = known.get(RESPONSE_ID), fields_of(known.get(CHAIN))
        if not isinstance(response_id, str) or not mark or response_id in self._dead:
            return Link()
        if is_reset:
            self.drop(response_id)
            return Link(lost=response_id, reason="the history was compacted")
        length = mark.get("bytes")
        is_same = (
            isinstance(length, int)
            and len(history.turns) == mark.get("turns", 0) + 2
            and history.turns[-1].role == "user"
            and all(map(_is_as_answered, history.turns[-2].parts))
            and _digest(b",".join(turns)[:length]) == mark.get("digest")
        )
        if is_same:
            return Link(previous=response_id)
        self.drop(response_id)
        return Link(lost=response_id, reason="the history was changed")


def chain_mark(history: CheckedHistory, turns: list[bytes]) -> JsonDict:
    """Return what a request holds, to know it again in the history of the next.

    Its last turn is left out: what hooks add to it for one request is not in the history.
    """
    before = b",".join(turns[:-1])
    return {"turns": len(history.turns), "bytes": len(before), "digest": _digest(before)}


def _last_answer(provider: str, messages: Sequence[Any]) -> JsonDict:
    """Return the metadata of the last message of the assistant, if it is of this provider."""
    for message in reversed(messages):
        fields = fields_of(message)
        if fields.get("role") == "assistant":
            metadata = fields_of(fields.get("metadata"))
            return metadata if Writer.of(metadata).provider == provider else {}
    return {}


def _is_as_answered(part: JsonDict) -> bool:
    """Whether the service knows a part of an answer: a call by its own id."""
    return part["type"] != "tool_call" or fields_of(part.get("item")).get("call_id") == part["id"]


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:32]
