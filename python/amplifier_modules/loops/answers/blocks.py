"""The block events of an answer: those that its provider did not emit, and the ends of open ones."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar, cast

import anyio.lowlevel
from pydantic import BaseModel

from amplifier_core.events import CONTENT_BLOCK_DELTA, CONTENT_BLOCK_END, CONTENT_BLOCK_START
from amplifier_providers.answers.block_record import block_record
from amplifier_providers.requests.requested_thinking import HIDDEN, THOUGHTS

from ..boundary.hook_points import HookPoints
from .response import BLOCKS_EMITTED, block_dict


def are_emitted(response: Any) -> bool:
    """Whether the provider itself emitted the events of this response."""
    metadata = getattr(response, "metadata", None)
    return isinstance(metadata, dict) and bool(metadata.get(BLOCKS_EMITTED))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] -- a provider's own dict


def block_records(response: Any) -> list[tuple[dict[str, Any], Any]]:
    """Return the blocks of a response for its events, each with what the provider sent for it."""
    content = getattr(response, "content_blocks", None) or response.content
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    return [(block_record(block_dict(block)), _read_raw(block)) for block in content or ()]


def aborted_end(place: dict[str, Any], text: str = "") -> dict[str, Any]:
    """Return the payload of the end of a block that is not whole.

    Args:
        place: `block_type` and `block_index`.
        text: What was emitted of its text.
    """
    shown = {"text": text} if text else {}
    return {**place, "block": {"type": place["block_type"], **shown}, "aborted": True}


async def emit_blocks(
    hooks: Emitter,
    response: Any,
    *,
    with_deltas: bool,
    after_word: AfterWord | None = None,
    hides_thoughts: bool = False,
) -> None:
    """Emit start, optionally deltas, and end of each block.

    Args:
        hooks: Where the events go.
        response: The response, with `content_blocks` of its own or only the `content`.
        with_deltas: Whether to emit the content as deltas too.
        after_word: Is awaited after each word; None makes the content one delta.
        hides_thoughts: Whether thoughts are left out that are not marked as hidden, too.
    """
    for index, (record, raw) in enumerate(block_records(response)):
        if is_hidden(record) or (hides_thoughts and is_thought(record)):
            continue
        place = {"block_type": record.get("type"), "block_index": index}
        metadata = raw or _read_names(record)
        shown: list[str] = []
        try:
            await hooks.emit(CONTENT_BLOCK_START, {**place, "metadata": metadata})
            if with_deltas:
                pause = after_word or anyio.lowlevel.checkpoint
                for delta in record_deltas(record, in_words=after_word is not None):
                    shown.append(delta.get("delta", ""))
                    await hooks.emit(CONTENT_BLOCK_DELTA, {**place, **delta})
                    await pause()
        except BaseException:
            await hooks.emit_last(CONTENT_BLOCK_END, aborted_end(place, "".join(shown)))
            raise
        await hooks.emit(CONTENT_BLOCK_END, {**place, "block": record})


def _read_names(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the start of a call says of it."""
    if record.get("type") != "tool_call":
        return None
    return {key: record[key] for key in ("id", "name") if record.get(key)} or None


def _read_raw(block: Any) -> Any:
    """Return what the provider sent for a block; None if that is not known."""
    return block.get("raw") if isinstance(block, dict) else getattr(block, "raw", None)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- a provider's own dict


def record_deltas(block: dict[str, Any], *, in_words: bool) -> Iterator[dict[str, Any]]:
    """Yield the deltas that show a whole block.

    Raises:
        ValueError: The arguments of a call are nested too deeply.
    """
    if block.get("type") == "tool_call":
        try:
            text = json.dumps(block["input"], default=str)
        except RecursionError:
            raise ValueError("the arguments of a tool call are nested too deeply") from None
        yield {"partial_json": text}
        return
    text = block.get("text")
    if isinstance(text, str):
        for part in re.findall(r"\s*\S+|\s+", text) if in_words else [text]:
            yield {"delta": part}


_PRIORITY = -2_000_000_000
"""Before hooks that could deny an event."""


class OpenBlocks:
    """The blocks of one model call that are open, whoever emits their events.

    It looks at the events from when it is made until `stop_watching`; `close` and `abort` emit the
    ends that are missing. Where nobody hears of blocks when the call begins, nobody misses an end.
    What reads the answer emits its events here: from `abort` on they are dropped, as a reading that
    was left behind would tell of blocks that have ended.
    """

    def __init__(self, hooks: HookPoints) -> None:
        """Look at the events of these hooks."""
        self._hooks = hooks
        self.has_listeners = hooks.has_listeners
        self.coordinator = hooks.coordinator
        self.emit = hooks.emit
        self.emit_last = hooks.emit_last
        self._open: dict[Any, dict[str, Any]] = {}
        self._unregister: list[Callable[[], object]] = []
        if not (hooks.has_handlers(CONTENT_BLOCK_START) or hooks.has_handlers(CONTENT_BLOCK_END)):
            return
        register: Any = getattr(hooks.registry, "register", None)
        if callable(register):
            for event, look in ((CONTENT_BLOCK_START, self._start), (CONTENT_BLOCK_END, self._end)):
                unregister: Any = register(event, look, priority=_PRIORITY, name="loop-blocks")
                self._unregister.append(unregister)

    def stop_watching(self) -> None:
        """Ignore all further events."""
        while self._unregister:
            self._unregister.pop()()

    async def close(self, response: Any) -> None:
        """End what a provider left open, with the blocks of its response."""
        if not self._open:
            return
        records: list[dict[str, Any]] = [record for record, _ in block_records(response)]
        for index, place in sorted(self._open.items()):
            for record in records[index : index + 1]:
                if record.get("type") == place["block_type"]:
                    await self._hooks.emit(CONTENT_BLOCK_END, {**place, "block": record})
        await self.abort()

    async def abort(self) -> None:
        """End what is open of an answer that failed or was cancelled, and drop what follows."""
        for end in self.ends_of_open_blocks():
            await end

    def ends_of_open_blocks(self) -> Iterator[Awaitable[None]]:
        """Yield what emits the end of each open block; what follows is dropped."""
        self.emit = self.emit_last = _drop
        for _, place in sorted(self._open.items()):
            yield self._hooks.emit(CONTENT_BLOCK_END, aborted_end(place))

    def _start(self, event: str, data: dict[str, Any]) -> None:
        index = data.get("block_index")
        if isinstance(index, int):
            self._open[index] = {"block_type": data.get("block_type"), "block_index": index}

    def _end(self, event: str, data: dict[str, Any]) -> None:
        self._open.pop(data.get("block_index"), None)


async def _drop(event: str, data: dict[str, Any]) -> None:
    """Emit nothing."""


class Emitter(Protocol):
    """Emits the events of a turn."""

    has_listeners: Callable[[str], bool]
    """Whether emitting an event has an effect."""

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event that hooks can only observe."""
        ...

    coordinator: Any
    """The session's coordinator; may be None."""

    async def emit_last(self, event: str, data: dict[str, Any]) -> None:
        """Emit an event that ends something, for a limited time also during cancellation."""
        ...


AfterWord = Callable[[], Awaitable[None]]
"""Waits for the next word of an answer."""


ResponseT = TypeVar("ResponseT")


def is_thought(block: Any) -> bool:
    """Whether a block, of any form, holds thinking."""
    kind = _read_field(block, "type")
    return getattr(kind, "value", kind) in THOUGHTS


def is_hidden(block: Any) -> bool:
    """Whether a block is a thought that is kept for its service alone."""
    return is_thought(block) and _read_field(block, "visibility") == HIDDEN


def with_hidden_thoughts(response: ResponseT) -> ResponseT:
    """Return a response whose thoughts are kept for the service alone."""
    content: Any = getattr(response, "content", None)
    if not isinstance(response, BaseModel) or not isinstance(content, list):
        return response
    blocks = cast("list[Any]", content)
    if not any(map(is_thought, blocks)):
        return response
    changes: dict[str, Any] = {"content": list(map(_hide_thought, blocks))}
    if isinstance(shown := getattr(response, "content_blocks", None), list):
        changes["content_blocks"] = [
            block for block in cast("list[Any]", shown) if not is_thought(block)
        ]
    return response.model_copy(update=changes)


def _hide_thought(block: Any) -> Any:
    if not is_thought(block):
        return block
    if isinstance(block, BaseModel):
        return block.model_copy(update={"visibility": HIDDEN})
    if isinstance(block, Mapping):
        return {**cast("Mapping[str, Any]", block), "visibility": HIDDEN}
    return block


def _read_field(block: Any, key: str) -> Any:
    if isinstance(block, Mapping):
        return cast("Mapping[str, Any]", block).get(key)
    return getattr(block, key, None)
