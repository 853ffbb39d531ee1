"""The lines of a stream of bytes, one message each, in bounded memory and linear time."""

from __future__ import annotations

from collections.abc import Iterator

MAX_MESSAGE_BYTES = 16 * 2**20
"""Bytes of a message of a server, at most."""


class MessageTooLongError(ValueError):
    """A server sends a message that is longer than any that is taken."""

    def __init__(self, limit: int) -> None:
        """Name the limit."""
        super().__init__(f"it sent a message of more than {limit // 2**20} MiB")


class MessageLines:
    """Takes pieces of a stream, and returns its lines."""

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        """Take lines of at most `limit` bytes."""
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Take a piece; yield the lines that it ends, without those that are blank.

        Raises:
            MessageTooLongError: A line is longer than any that is taken.
        """
        *ended, rest = piece.split(b"\n")
        for end in ended:
            self._add(end)
            line = b"".join(self._pieces)
            self._pieces.clear()
            self._size = 0
            if line.strip():
                yield line
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._pieces.clear()
            raise MessageTooLongError(self._limit)
        if piece:
            self._pieces.append(piece)
