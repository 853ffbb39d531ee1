"""Block events for a response whose provider did not emit them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import anyio.lowlevel

from amplifier_core.events import CONTENT_BLOCK_DELTA, CONTENT_BLOCK_END, CONTENT_BLOCK_START
from amplifier_providers.answers.block_record import block_record

from .emitter import AfterWord, Emitter
from .hidden_thoughts import is_hidden, is_thought
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
    return [(block_record(block_dict(block)), _raw(block)) for block in content or ()]


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
        metadata = raw or _names(record)
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


def _names(record: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the start of a call says of it."""
    if record.get("type") != "tool_call":
        return None
    return {key: record[key] for key in ("id", "name") if record.get(key)} or None


def _raw(block: Any) -> Any:
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
