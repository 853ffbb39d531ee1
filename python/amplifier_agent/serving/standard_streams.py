"""Standard input and output as the wire of a server, which nothing else reads or writes."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread

from amplifier_providers.running.run_sync import caller_into_loop

_CHUNK_BYTES = 1 << 16
_MAX_WAITING_LINES = 64
_MAX_LINE_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class StandardStreams:
    """The two ends of the wire, as descriptors that nobody else knows."""

    reader: int
    writer: int


@contextlib.contextmanager
def take_standard_streams(*, restores: bool = True) -> Generator[StandardStreams | None]:
    """Keep standard input and output for the wire: what else is written there goes to standard error.

    Programs that are started read nothing. Without the descriptors, as where a test has replaced the
    streams, it is None.

    Args:
        restores: Whether the descriptors are what they were after the block; a process that ends
            with it has nothing to restore, so that nothing is written at its exit either.
    """
    if not (_is_backed_by(sys.stdin, 0) and _is_backed_by(sys.stdout, 1)):
        yield None
        return
    streams = StandardStreams(os.dup(0), os.dup(1))
    standard_output = sys.stdout
    try:
        _divert_stream(0, os.open(os.devnull, os.O_RDONLY))
        _divert_stream(1, _open_diversion())
        # What is buffered already was written before the wire began, and is none of it.
        standard_output.flush()
        with contextlib.redirect_stdout(sys.stderr):
            yield streams
        standard_output.flush()
    finally:
        if restores:
            os.dup2(streams.reader, 0)
            os.dup2(streams.writer, 1)


def _is_backed_by(stream: Any, descriptor: int) -> bool:
    try:
        return stream.fileno() == descriptor
    except (AttributeError, OSError, ValueError):
        return False


def _open_diversion() -> int:
    try:
        return os.dup(2)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _divert_stream(descriptor: int, other: int) -> None:
    os.dup2(other, descriptor)
    os.close(other)


class LineReader:
    """The lines of a descriptor, by `async for`; one that is too long ends them.

    A thread reads them that ends with the process, so that neither a cancellation nor the exit waits
    for whoever writes.
    """

    def __init__(self, descriptor: int) -> None:
        """Read from this descriptor, which stays open."""
        self._descriptor = descriptor
        self._room = threading.Semaphore(_MAX_WAITING_LINES)
        self._thread: threading.Thread | None = None

    def __aiter__(self) -> LineReader:
        """Return itself."""
        return self

    async def __anext__(self) -> str:
        """Return the next line.

        Raises:
            StopAsyncIteration: The stream has ended.
        """
        if self._thread is None:
            self._send, self._receive = anyio.create_memory_object_stream[bytes](_MAX_WAITING_LINES)
            self._call_soon = caller_into_loop()
            self._thread = threading.Thread(target=self._read, name="mcp-reader", daemon=True)
            self._thread.start()
        try:
            line = await self._receive.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None
        self._room.release()
        return line.decode("utf-8", "replace")

    def _read(self) -> None:
        rest = bytearray()
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            while data := self._read_chunk():
                *lines, last = data.split(b"\n")
                for line in lines:
                    self._put(bytes(rest) + line)
                    rest.clear()
                rest += last
                if len(rest) > _MAX_LINE_BYTES:
                    rest.clear()
                    break
            if rest:
                self._put(bytes(rest))
            self._call_soon(self._send.close)

    def _read_chunk(self) -> bytes:
        try:
            return os.read(self._descriptor, _CHUNK_BYTES)
        except OSError:
            return b""

    def _put(self, line: bytes) -> None:
        self._room.acquire()
        self._call_soon(lambda: self._put_now(line))

    def _put_now(self, line: bytes) -> None:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._send.send_nowait(line)


class LineWriter:
    """Writes text to a descriptor, in a thread where it waits for whoever reads."""

    def __init__(self, descriptor: int) -> None:
        """Write to this descriptor, which stays open."""
        self._file = io.FileIO(descriptor, "w", closefd=False)

    async def write(self, text: str) -> None:
        """Write all of a text."""
        left = memoryview(text.encode("utf-8", "replace"))
        while left:
            written = await anyio.to_thread.run_sync(self._file.write, left)
            left = left[written or 0 :]

    async def flush(self) -> None:
        """Do nothing: nothing is held back."""
