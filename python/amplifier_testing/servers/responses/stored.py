"""The responses that a server remembers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..serving.reading import Json, read_text


@dataclass
class StoredResponse:
    """A response that was stored, and what it answered."""

    response: Json
    """The response as it ends."""
    context: list[Json]
    """All items of the conversation: those of its input and of its output."""
    events: list[Json] = field(default_factory=list[Json])
    """The events of its stream."""
    polls: int = 0
    """How often a background response is asked for until it ends."""
    cancelled: bool = False


@dataclass
class Stored:
    """Stored responses by id, and which items came right after which reasoning."""

    responses: dict[str, StoredResponse] = field(default_factory=dict[str, StoredResponse])
    ids: set[str] = field(default_factory=set[str])
    """Ids of items of stored responses."""
    followers: dict[str, str] = field(default_factory=dict[str, str])
    """What came after a reasoning item, by its id."""
    reasons: dict[str, str] = field(default_factory=dict[str, str])
    """The reasoning item before an item, by the id of that."""

    def remember_order(self, output: Iterable[Json]) -> None:
        """Keep which items came right after which reasoning."""
        before: Json = {}
        for item in output:
            if before.get("type") == "reasoning":
                self.followers[read_text(before.get("id"))] = identify_item(item)
                if item.get("type") != "reasoning":
                    self.reasons[read_text(item.get("id"))] = read_text(before.get("id"))
            before = item

    def store(self, stored: StoredResponse) -> None:
        """Keep a response."""
        self.responses[stored.response["id"]] = stored
        self.ids.update(read_text(item.get("id")) for item in stored.response["output"])

    def context_of(self, body: Json) -> list[Json]:
        """Return the items of the response that a request goes on from."""
        previous = self.responses.get(read_text(body.get("previous_response_id")))
        return previous.context if previous else []


def identify_item(item: Json) -> str:
    """Return what identifies an item when it comes back, with or without its id."""
    kind = read_text(item.get("type")) or "message"
    return f"{kind} {read_text(item.get('call_id'))}".strip()
