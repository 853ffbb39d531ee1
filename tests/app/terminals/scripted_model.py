"""What a model says in a session: a text, blocks, a call, or the status of a refusal."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any, cast

HOLD = "(the model waits)"
"""Within a text: no more of it is said until the test lets it."""


def call(name: str, **values: Any) -> dict[str, Any]:
    """What a model says to call a tool."""
    return {"type": "tool_use", "name": name, "input": values}


def think(text: str) -> dict[str, Any]:
    """What a model thinks before it says the next."""
    return {"type": "thinking", "thinking": text}


def script(model: Any, says: Sequence[Any], hold: threading.Event) -> None:
    """Have a scripted model say this, one answer after the other."""
    for number, said in enumerate(says):
        if isinstance(said, int):
            error = {"type": "authentication_error", "message": "bad key"}
            model.reply(json.dumps({"type": "error", "error": error}).encode(), status=said)
        elif isinstance(said, str):
            model.reply(*_stream(model, said, hold))
        else:
            blocks = cast("tuple[Any, ...]", said if isinstance(said, tuple) else (said,))
            made = [_make_block(each, f"t{number}-{place}") for place, each in enumerate(blocks)]
            stop = "tool_use" if made[-1]["type"] == "tool_use" else "end_turn"
            model.reply(*model.said(*made, stop=stop))


def _make_block(said: Any, id: str) -> dict[str, Any]:
    if isinstance(said, str):
        return {"type": "text", "text": said}
    return {**said, "id": id} if said["type"] == "tool_use" else said


def _stream(model: Any, text: str, hold: threading.Event) -> Iterator[Any]:
    """Yield the stream of a text, a word at a time."""
    pieces = model.said({"type": "text", "text": "|"})
    at = next(number for number, piece in enumerate(pieces) if b"text_delta" in piece)
    yield from pieces[:at]
    for part in re.split(f"({re.escape(HOLD)})", text):
        for piece in [part] if part == HOLD else re.findall(r"\S+\s*|\s+", part):
            delta = {"type": "text_delta", "text": piece}
            is_hold = piece == HOLD
            yield hold if is_hold else model.event("content_block_delta", index=0, delta=delta)
    yield from pieces[at + 1 :]
