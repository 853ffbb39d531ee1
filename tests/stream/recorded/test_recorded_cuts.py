"""A recorded stream that is cut short never succeeds and never runs a tool.

With `PROVE` set, as `make prove` does, large streams are cut after every byte too.
"""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

from amplifier_stream import StreamDecoder, StreamResult

PROVE = bool(os.environ.get("PROVE"))
EVERY_CUT_BELOW = 20_000
CUTS = 4_000
TERMINATORS = {
    "anthropic": rb'"type"\s*:\s*"message_stop"',
    "responses": rb'"type"\s*:\s*"response\.(completed|incomplete|failed|cancelled)"',
    "chat": rb"^data: ?\[DONE\]",
    "ollama": rb'"done"\s*:\s*true',
}

pytestmark = pytest.mark.timeout(6_000 if PROVE else 600)


def decode(stream: Any, end: int) -> StreamResult:
    decoder = StreamDecoder(stream.dialect)
    decoder.feed(stream.body[:end])
    return decoder.finish()


def has_succeeded(result: StreamResult) -> bool:
    return not result.truncated and result.error is None


def first_complete_end(stream: Any) -> int:
    """Where the terminator is complete: its blank line has begun, or its last object has closed."""
    found = [m.start() for m in re.finditer(TERMINATORS[stream.dialect], stream.body, re.MULTILINE)]
    if not found:
        return len(stream.body) + 1
    if stream.dialect == "ollama":
        line = stream.body.find(b"\n", found[0]) % (len(stream.body) + 1)
        return len(stream.body[:line].rstrip())
    blank = re.compile(rb"(\r\n|\r|\n)[\r\n]").search(stream.body, found[0])
    return blank.end() if blank else len(stream.body) + 1


# Holds: stream-2
def test_a_recorded_stream_cut_after_any_byte_runs_nothing(stream: Any) -> None:
    complete = first_complete_end(stream)
    length = len(stream.body)
    step = 1 if PROVE or length < EVERY_CUT_BELOW else 1 + length // CUTS
    near = range(max(0, complete - 300), min(length, complete + 1))
    for end in sorted({*range(0, length, step), *near}):
        result = decode(stream, end)
        assert end >= complete or not has_succeeded(result)
        for block in result.blocks:
            if block["type"] == "tool_call" and not has_succeeded(result):
                assert block["arguments"] is None
                assert block["error"]


def test_a_recorded_stream_is_complete_with_its_terminator(stream: Any) -> None:
    complete = first_complete_end(stream)
    whole = decode(stream, len(stream.body))
    assert has_succeeded(whole) <= (complete <= len(stream.body))
    assert has_succeeded(decode(stream, complete)) == has_succeeded(whole)
