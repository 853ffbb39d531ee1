"""The turns of a history as encoders take them, and what was changed to get them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .fields import JsonDict


@dataclass(slots=True)
class Result:
    """What one call of the turn before gave back."""

    call_id: str
    """The id of the call, as it is sent."""
    tool: str
    """The name of the tool, as it is sent."""
    output: str | list[JsonDict]
    """A text, or blocks of text, images and documents."""
    is_error: bool = False
    call: JsonDict = field(default_factory=JsonDict)
    """The call, as it is sent."""


@dataclass(slots=True)
class Turn:
    """One turn: all that one side says before the other."""

    role: Literal["user", "assistant"]
    parts: list[JsonDict]
    """Blocks in their order. A call is a `tool_call` with `id`, `name` and `input` as they are sent;
    a text of the system within the conversation is a `system` with `text`."""
    results: list[Result] = field(default_factory=list[Result])
    """Results for the turn before, in the order in which they came."""
    lost_thoughts: bool = False
    """Whether thoughts of it were left out."""
    passing: int = 0
    """So many of its results and parts, the last ones, are of this request alone."""

    def without_passing(self) -> Turn:
        """Return the turn without what is of this request alone."""
        steady = len(self.results) + len(self.parts) - self.passing
        count = len(self.results)
        return Turn(self.role, self.parts[: max(steady - count, 0)], self.results[:steady])


@dataclass
class Repairs:
    """What was changed of a history."""

    answered: list[str] = field(default_factory=list[str])
    """Ids of the tool calls that had no result and got a synthetic one."""
    dropped: list[str] = field(default_factory=list[str])
    """Ids of the tool results that answer no call of the turn before them."""
    left_out: list[str] = field(default_factory=list[str])
    """Types of the blocks that the service does not support and that have no text form."""
    thinking: list[str] = field(default_factory=list[str])
    """Who wrote the thinking that was left out, as this model cannot read it."""
    refused: list[str] = field(default_factory=list[str])
    """Who wrote the thinking that was left out, as the service refused it."""
    described: list[str] = field(default_factory=list[str])
    """Types of the blocks that became text, as the model cannot see them."""

    def measure_lengths(self) -> tuple[int, ...]:
        """Return how much each list holds."""
        return tuple(len(each) for each in vars(self).values())

    def truncate(self, lengths: tuple[int, ...]) -> None:
        """Forget what was added since `lengths`."""
        for each, length in zip(vars(self).values(), lengths, strict=True):
            del each[length:]


SEPARATOR = "\n\n"
"""Between the texts of one message."""

_MEDIA = frozenset({"image", "document"})


def split_result(result: Result) -> tuple[str, list[JsonDict]]:
    """Return the text of a result, and what the next message of the user has to show of it."""
    output = result.output
    if isinstance(output, str):
        return output, []
    media = [block for block in output if block["type"] in _MEDIA]
    texts = [block["text"] for block in output if block["type"] == "text"]
    if media:
        kinds = " and ".join(dict.fromkeys(f"{block['type']}s" for block in media))
        texts.append(f"(The {kinds} of this result are in the next message of the user.)")
        note = f"(From the result of the call `{result.call_id}` of `{result.tool}`:)"
        media = [{"type": "text", "text": note}, *media]
    return SEPARATOR.join(texts), media
