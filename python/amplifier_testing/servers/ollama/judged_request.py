"""A request for an answer, as the rules see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..serving.fields import Path
from ..serving.reading import Json, items
from .models import OllamaModel
from .refusals import as_object, check_fields, refusal
from .shapes import MESSAGE

ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True)
class JudgedRequest:
    """A request whose fields are known, with the model that it names."""

    body: Json
    model: OllamaModel
    messages: list[Json]

    def of_role(self, *roles: str) -> Iterator[Json]:
        """Yield the messages of these roles."""
        return (message for message in self.messages if message["role"] in roles)


def read_messages(body: Json) -> list[Json]:
    """Read the messages, or refuse one whose shape is wrong."""
    messages: list[Json] = []
    for value in items(body.get("messages")):
        path: Path = ("messages",)
        message = as_object(value, path)
        check_fields(message, MESSAGE, path)
        if message["role"] not in ROLES:
            raise refusal(
                f'invalid role: "{message["role"]}", must be one of'
                ' ["system", "user", "assistant", "tool"]'
            )
        messages.append(message)
    return messages
