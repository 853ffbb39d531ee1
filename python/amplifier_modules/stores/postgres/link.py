"""The thread of a process in which its connections to a database are."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .address import Address
from .loop_thread import LoopThread
from .settings import PostgresSettings

if TYPE_CHECKING:
    from .connections import Connections, Reply

ResultT = TypeVar("ResultT")

_of_parent: list[object] = []
"""What a process had open when it was forked: to close it there would disturb its parent."""


class Link:
    """Connects to a database at the first call, in a thread of its own, until `close`.

    In a forked process the thread and its connections are other ones.
    """

    def __init__(self, address: Address, settings: PostgresSettings) -> None:
        """Connect to nothing yet."""
        self.address = address
        self._settings = settings
        self._lock = threading.Lock()
        self._open: tuple[LoopThread, Connections] | None = None
        self._closing: weakref.finalize[Any, Any] | None = None
        self._process = 0

    async def call(self, function: str, arguments: Sequence[Any]) -> Reply:
        """Call a function of the schema.

        Raises:
            StoreError: That is not possible.
            NoEntryError: An entry of the inbox is not there.
        """
        thread, connections = self._find_open()
        return await thread.run(lambda: connections.call(function, arguments))

    async def run(self, make: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
        """Return what a coroutine returns that runs in the thread of the connections."""
        thread, _ = self._find_open()
        return await thread.run(make)

    def note_change(self, key: str) -> None:
        """Tell others soon that a session has changed."""
        thread, connections = self._find_open()
        thread.call_soon(lambda: connections.note_change(key))

    async def wait(self, key: str, seconds: float) -> None:
        """Return when a session has changed, or after these seconds."""
        thread, connections = self._find_open()
        await thread.run(lambda: connections.wait(key, seconds), can_leave=True)

    async def close(self) -> None:
        """Close the connections, and end the thread; the next call begins anew."""
        with self._lock:
            found, self._open = self._open, None
            closing, self._closing = self._closing, None
        if found is None or self._process != os.getpid():
            return
        if closing is not None:
            closing.detach()
        thread, connections = found
        await thread.run(connections.close)
        thread.stop()

    def _find_open(self) -> tuple[LoopThread, Connections]:
        from .connections import Connections

        with self._lock:
            if self._open is not None and self._process != os.getpid():
                _of_parent.append((self._open, self._closing))
                if self._closing is not None:
                    self._closing.detach()
                self._open = None
            if self._open is None:
                thread = LoopThread("store-postgres")
                settings = self._settings
                connections = Connections(
                    self.address, settings.database_schema, settings.connections, settings.timeout
                )
                self._open = thread, connections
                self._process = os.getpid()
                # Also where the program ends without `close`.
                self._closing = weakref.finalize(self, _close, thread, connections, self._process)
            return self._open


def _close(thread: LoopThread, connections: Connections, process: int) -> None:
    if process == os.getpid():
        make: Callable[[], Coroutine[Any, Any, None]] = connections.close
        thread.run_now(make)
        thread.stop()
