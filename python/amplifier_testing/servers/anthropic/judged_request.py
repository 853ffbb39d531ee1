"""A request for a message, as the rules see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..serving.fields import Fields, Path
from ..serving.issued import Issued
from ..serving.reading import Json, read_items, read_mapping, read_objects, read_text
from .models import AnthropicModel
from .refusals import make_invalid
from .sent_thoughts import SentAnswers
from .shapes import MESSAGE, as_object, check_fields, check_tagged

_ROLES = ("user", "assistant")


@dataclass(frozen=True)
class Turn:
    """One message."""

    index: int
    role: str
    blocks: list[Json]
    """The content; a string is one text block."""
    is_string: bool

    @property
    def path(self) -> Path:
        """Where the message is."""
        return ("messages", self.index)

    def of_kind(self, *kinds: str) -> Iterator[tuple[Path, Json]]:
        """Yield the blocks of these types and where they are."""
        for index, block in enumerate(self.blocks):
            if block["type"] in kinds:
                yield (*self.path, "content", index), block

    def has_block(self, *kinds: str) -> bool:
        """Return whether there is a block of one of these types."""
        return any(block["type"] in kinds for block in self.blocks)

    @property
    def is_results(self) -> bool:
        """Whether a user message holds tool results and nothing else that asks."""
        return self.role == "user" and self.has_block("tool_result")


@dataclass(frozen=True)
class JudgedRequest:
    """A request whose fields are known, with what the server knows."""

    body: Json
    headers: Mapping[str, str]
    model: AnthropicModel
    turns: list[Turn]
    issued: Issued | None
    sent: SentAnswers | None
    alternation: bool

    @cached_property
    def thinking(self) -> str:
        """The type of `thinking`; empty if it is not given."""
        return read_text(read_mapping(self.body.get("thinking")).get("type"))

    @property
    def is_beta(self) -> bool:
        """Whether the header for what is not yet for everyone is there."""
        return bool(self.headers.get("anthropic-beta"))

    @cached_property
    def tools(self) -> list[Json]:
        """The tools."""
        return read_objects(self.body.get("tools"))

    @cached_property
    def loop(self) -> list[Turn]:
        """The messages of the turn in progress: from the last question of the user on."""
        start = 0
        for turn in self.turns:
            if turn.role == "user" and not turn.is_results:
                start = turn.index
        return self.turns[start:]


def read_turns(body: Json, kinds: Mapping[str, Fields]) -> list[Turn]:
    """Read the messages, or refuse one whose shape is wrong.

    Args:
        body: The body of the request.
        kinds: The content blocks that there are.
    """
    turns: list[Turn] = []
    for index, message in enumerate(body["messages"]):
        path: Path = ("messages", index)
        given = as_object(message, path)
        check_fields(given, MESSAGE, path)
        role, content = given["role"], given["content"]
        if role not in _ROLES:
            raise make_invalid("Input should be 'user' or 'assistant'", (*path, "role"))
        is_string = isinstance(content, str)
        blocks = [{"type": "text", "text": content}] if is_string else read_items(content)
        for number, block in enumerate(blocks):
            here = (*path, "content", number)
            check_tagged(as_object(block, here), kinds, here)
        turns.append(Turn(index, role, blocks, is_string))
    return turns
