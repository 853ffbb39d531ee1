"""What calls and streams without `await` are made of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

from amplifier_core.event_loop import find_asyncio_loop
from amplifier_providers.running.run_sync import (
    SIGNAL_CHECK_SECONDS,
    ThreadRun,
    interrupts,
    is_in_loop,
    warn_in_loop,
)

PieceT = TypeVar("PieceT")


def stream_sync(open_stream: Callable[[], AsyncIterator[PieceT]]) -> Generator[PieceT]:
    """Return the pieces of a stream, read in a thread; to leave it early ends the call.

    What the program has not taken yet waits in memory: at most the answer.
    """
    if is_in_loop():
        warn_in_loop("stream_sync", "async for ... in stream(...)", stacklevel=4)
        return _read_pieces(open_stream, _interrupts_since(_count_cancellations()))
    return _read_pieces(open_stream, nullcontext)


def _interrupts_since(known: int) -> Callable[[], AbstractContextManager[None]]:
    """Let Ctrl+C raise while a task waits, also if it was pressed after the last wait.

    Args:
        known: How often the task was cancelled before the stream.
    """

    @contextmanager
    def waiting() -> Generator[None]:
        with interrupts():
            if _count_cancellations() > known:
                raise asyncio.CancelledError
            yield

    return waiting


def _count_cancellations() -> int:
    """How often the task was asked to end, which asyncio does for Ctrl+C; trio raises at once."""
    task = None if find_asyncio_loop() is None else asyncio.current_task()
    return 0 if task is None else task.cancelling()


class _End:
    """The end of a stream."""


def _read_pieces(
    open_stream: Callable[[], AsyncIterator[PieceT]],
    waiting: Callable[[], AbstractContextManager[None]],
) -> Generator[PieceT]:
    arrived: SimpleQueue[PieceT | type[_End]] = SimpleQueue()

    async def read_to_end() -> None:
        try:
            async for piece in open_stream():
                arrived.put(piece)
        finally:
            arrived.put(_End)

    run = ThreadRun(read_to_end, "stream_sync")
    try:
        run.start()
        while True:
            with waiting():
                piece = _take_piece(arrived)
            if piece is _End:
                break
            yield piece  # pyright: ignore[reportReturnType] -- a class is no piece
        run.join()
        run.result()
    finally:
        run.stop()
        run.join()


def _take_piece(arrived: SimpleQueue[PieceT]) -> PieceT:
    while True:
        # A signal that comes just before a wait is seen when it is over.
        with suppress(Empty):
            return arrived.get(timeout=SIGNAL_CHECK_SECONDS)
