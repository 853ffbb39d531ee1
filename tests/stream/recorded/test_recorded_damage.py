"""A recorded stream that was damaged on its way is read, and what failed runs nothing."""

from __future__ import annotations

import dataclasses
import os
import random
from typing import Any

import pytest

PROVE = bool(os.environ.get("PROVE"))
DAMAGED = 20_000 if PROVE else 100

pytestmark = pytest.mark.timeout(6_000 if PROVE else 600)


def damage(body: bytes, choose: random.Random) -> bytes:
    """Lose, repeat, swap, cut or change some lines of a stream."""
    lines = body.splitlines(keepends=True)
    for _ in range(choose.randint(1, 4)):
        here, there = choose.randrange(len(lines)), choose.randrange(len(lines))
        place = choose.randrange(len(lines[here]))
        match choose.choice(("lose", "repeat", "swap", "cut", "change")):
            case "lose" if len(lines) > 1:
                del lines[here]
            case "repeat":
                lines.insert(there, lines[here])
            case "swap":
                lines[here], lines[there] = lines[there], lines[here]
            case "cut" if place:
                lines[here] = lines[here][:place]
            case _:
                changed = bytearray(lines[here])
                changed[place] = choose.randrange(256)
                lines[here] = bytes(changed)
    return b"".join(lines)


def test_a_damaged_recorded_stream_is_read_the_same_however_it_is_cut(stream: Any) -> None:
    choose = random.Random(stream.name)
    for _ in range(DAMAGED):
        damaged = dataclasses.replace(stream, body=damage(stream.body, choose))
        events, result = damaged.decode()
        places = choose.sample(range(len(damaged.body)), min(4, len(damaged.body)))
        assert damaged.decode(damaged.cut(*places)) == (events, result)

        has_failed = result.truncated or result.error is not None
        for block in result.blocks:
            if block["type"] == "tool_call":
                assert (block["arguments"] is None) == (block["error"] is not None)
                assert block["arguments"] is None or not has_failed
