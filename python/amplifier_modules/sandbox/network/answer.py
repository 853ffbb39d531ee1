"""The head of what a server of plain HTTP answers."""

from __future__ import annotations

import re

_INTERIM = re.compile(rb"HTTP/1\.[01] 1[0-9][0-9][ \r]")
_OF_ONE_CONNECTION = (b"connection", b"keep-alive", b"proxy-connection")


def is_interim_answer(head: bytes) -> bool:
    """Whether another head follows, as after `100 Continue`."""
    return _INTERIM.match(head) is not None


def close_after_answer(head: bytes) -> bytes:
    """The head that says that the connection ends with this answer."""
    lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    kept = [line for line in lines if _read_name(line) not in _OF_ONE_CONNECTION]
    return b"\r\n".join([*kept, b"Connection: close", b"", b""])


def _read_name(line: bytes) -> bytes:
    return line.partition(b":")[0].strip().lower()
