"""The body of a request as bytes: what is new is written, what was sent before is kept as it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import eq
from typing import Any, cast

from pydantic_core import PydanticSerializationError, to_json

from amplifier_core.error_messages import short_repr
from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import Degradation

from ..prompt.blocks import MessageBlocks
from ..requests.requested_thinking import RequestedThinking
from .fields import JsonDict
from .history import CheckedHistory
from .turn import Turn

_MAX_PIECES = 64


@dataclass
class WireRequest:
    """A request ready to be sent."""

    provider: str
    model: str
    """The model that the request names."""
    history: CheckedHistory
    turns: list[bytes]
    """The turns as JSON, with commas between where one piece holds several messages."""
    turns_key: str
    """The key under which the body holds them."""
    fields: JsonDict
    """All else of the body."""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    """Headers of this request alone."""
    degradations: list[Degradation] = field(default_factory=list[Degradation])
    """What the model does not support as requested."""
    tool_names: dict[str, str] = field(default_factory=dict[str, str])
    """The names of the tools that are sent under another one, by that one."""
    thinking: RequestedThinking = field(default_factory=RequestedThinking)
    """How much the model is asked to think, whatever became of it in the body."""
    notices: list[tuple[str, JsonDict]] = field(default_factory=list[tuple[str, JsonDict]])
    """Events to be emitted when it is sent."""
    blocks: MessageBlocks | None = None
    """The blocks of the turns; None where a part of an answer stands behind them."""
    has_tail: bool = False
    """Whether a text of this request alone stands behind the blocks."""
    marks: list[int] = field(default_factory=list[int])
    """Those of the blocks that are marked as ends of what a cache keeps."""

    def __post_init__(self) -> None:
        """Note what the history lost, unless this is a copy that has it noted."""
        if self.degradations:
            return
        repairs = self.history.repairs
        if repairs.left_out:
            kinds = named_kinds(repairs.left_out)
            self.degrade(f"content blocks {kinds}", "left out", "the API does not support them")
        if repairs.dropped:
            ids = named_kinds(repairs.dropped)
            reason = "no call of the answer before them has the id"
            self.degrade(f"results of the calls {ids}", "left out", reason)
        if repairs.thinking:
            writers = named_kinds(repairs.thinking)
            reason = f"`{self.model}` reads only its own"
            self.degrade(f"thinking of {writers}", "left out", reason)
        if repairs.refused:
            writers = named_kinds(repairs.refused)
            self.degrade(f"thinking of {writers}", "left out", f"`{self.provider}` refused it")
        if repairs.described:
            kinds = named_kinds(repairs.described)
            reason = f"`{self.model}` does not take them"
            self.degrade(f"content blocks {kinds}", "text that names them", reason)

    @property
    def body(self) -> JsonDict:
        """The body, read back."""
        return json.loads(self.to_bytes())

    @property
    def degradation(self) -> Degradation | None:
        """The first thing that the model does not support as requested."""
        return self.degradations[0] if self.degradations else None

    @property
    def system(self) -> Sequence[JsonDict]:
        """The blocks of the system prompt of the history."""
        return self.history.system

    @property
    def message_count(self) -> int:
        """How many turns are sent."""
        return len(self.history.turns)

    def degrade(self, requested: str, actual: str, reason: str) -> None:
        """Note that something is not done as requested."""
        self.degradations.append(Degradation(requested=requested, actual=actual, reason=reason))

    def to_bytes(self) -> bytes:
        """Write the body as JSON; NaN and infinity become null, lone surrogates U+FFFD.

        Raises:
            InvalidRequestError: The body has no JSON form (a cycle, unlimited nesting).
        """
        try:
            rest = json_bytes(self.fields)
        except ValueError as error:
            raise make_unwritable_error(error, self.provider, self.model) from error
        key = f',"{self.turns_key}":['.encode()
        return b"".join((rest[:-1], key, b",".join(self.turns), b"]}"))


class TurnWriter:
    """Writes turns as JSON; those that are settled are written once."""

    def __init__(self, write: Callable[[Turn], Any]) -> None:
        """Write turns as `write` says: one JSON value, or a list of those that follow each other."""
        self._write = write
        self._generation: object = None
        self._pieces: list[bytes] = []
        """The settled turns, neighbours joined: few long pieces are put together faster."""
        self._written = 0
        """How many turns the pieces hold."""
        self._settled = MessageBlocks()
        """The blocks of the settled turns."""
        self.blocks = self._settled
        """The blocks of the turns that were written last."""

    def write_turns(self, history: CheckedHistory, provider: str, model: str) -> list[bytes]:
        """Return the turns as JSON, the last settled one and those behind it each by itself.

        Raises:
            InvalidRequestError: A turn has no JSON form.
        """
        if history.generation is not self._generation:
            self._generation, self._pieces, self._written = history.generation, [], 0
            self._settled = MessageBlocks()
        try:
            for turn in history.turns[self._written : history.settled]:
                self._pieces.append(self._write_turn(turn, self._settled))
                self._written += 1
            self.blocks = blocks = self._settled.copy()
            recent = [self._write_turn(turn, blocks) for turn in history.turns[history.settled :]]
        except ValueError as error:
            raise make_unwritable_error(error, provider, model) from error
        if len(self._pieces) > _MAX_PIECES:
            self._pieces = [b",".join(self._pieces[:-1]), self._pieces[-1]]
        return self._pieces + recent

    def _write_turn(self, turn: Turn, blocks: MessageBlocks) -> bytes:
        """Return a turn as JSON, several values with commas between, and add its blocks."""
        written = self._write(turn)
        pieces = _write_blocks(written)
        steady = len(pieces)
        if turn.passing:
            rest = turn.without_passing()
            known = _write_blocks(self._write(rest)) if rest.parts or rest.results else []
            steady = sum(1 for _ in takewhile(lambda pair: eq(*pair), zip(known, pieces)))  # noqa: B905 -- of two lengths
        blocks.add(turn, pieces, steady)
        if isinstance(written, list):
            return b",".join(pieces)
        message = cast("JsonDict", written)
        if list(message)[-1] != "content" or not isinstance(message["content"], list):
            return json_bytes(message)
        return json_bytes({**message, "content": []})[:-2] + b",".join(pieces) + b"]}"


def json_bytes(value: Any) -> bytes:
    """Write a value as JSON; NaN and infinity become null, lone surrogates and NUL U+FFFD.

    Raises:
        ValueError: It has no JSON form.
    """
    try:
        try:
            written = to_json(value, inf_nan_mode="null", fallback=str)
        except (PydanticSerializationError, UnicodeEncodeError):
            written = to_json(_clean(value), inf_nan_mode="null", fallback=str)
        if rb"\u0000" in written:
            written = to_json(_clean(value), inf_nan_mode="null", fallback=str)
        return written
    except (PydanticSerializationError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _write_blocks(written: Any) -> list[bytes]:
    """Return the blocks of a turn as JSON: those of its message, or its messages."""
    if isinstance(written, list):
        return [json_bytes(each) for each in cast("list[Any]", written)]
    content = written["content"] if list(written)[-1] == "content" else None
    if not isinstance(content, list):
        return [json_bytes(written)]
    return [json_bytes(each) for each in cast("list[Any]", content)]


def make_unwritable_error(error: Exception, provider: str, model: str) -> InvalidRequestError:
    """Make the error for a body without a JSON form."""
    return InvalidRequestError(
        f"the request to `{model}` cannot be written as JSON: {error}",
        provider=provider,
        model=model,
    )


def named_kinds(kinds: Iterable[str]) -> str:
    """Name types of blocks, each once, clipped and escaped."""
    return ", ".join(f"`{short_repr(kind)[1:-1]}`" for kind in dict.fromkeys(kinds))


def _clean(value: Any) -> Any:
    match value:
        case str():
            # Surrogate pairs become one character, lone surrogates U+FFFD.
            text = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return text.replace("\0", "\ufffd")
        case dict():
            entries = cast("JsonDict", value).items()
            return {_clean(key): _clean(item) for key, item in entries}
        case list() | tuple():
            return [_clean(item) for item in cast("list[Any]", value)]
        case _:
            return value
