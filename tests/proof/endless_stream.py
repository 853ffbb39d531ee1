"""Feeds a gigabyte that never ends a line or an event, and prints by how much the memory grew.

Arguments: the decoder, what to repeat (`line` or `event`) and the limit in bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from amplifier_stream import NdjsonDecoder, SseDecoder, StreamDecoder, StreamLimitError

GIGABYTE = 1_000_000_000


def peak() -> int:
    """The most memory that this program ever had; that of its parent does not count here."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    return int(fields["VmHWM"].removesuffix("kB")) * 1024


def make(name: str, limit: int) -> Any:
    match name:
        case "sse":
            return SseDecoder(max_line_bytes=limit, max_event_bytes=limit)
        case "ndjson":
            return NdjsonDecoder(max_line_bytes=limit)
        case dialect:
            return StreamDecoder(dialect, max_line_bytes=limit, max_event_bytes=limit)


def main(name: str, repeated: str, limit: str) -> None:
    decoder = make(name, int(limit))
    line = b"x" * 1024 if repeated == "line" else b"data: " + b"x" * 1017 + b"\n"
    chunk = line * 64
    refused = 0
    before = peak()
    for _ in range(GIGABYTE // len(chunk)):
        try:
            decoder.feed(chunk)
        except StreamLimitError:
            refused += 1
    assert refused
    print(peak() - before)


main(*sys.argv[1:])
