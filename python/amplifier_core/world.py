"""Time, waits, ids, randomness and what is outside of the process: all of our code asks here.

    from amplifier_core import world

    class Frozen(world.World):
        def time(self) -> float:
            return 1_767_225_600.0

    with world.use(Frozen()):
        ...  # every time stamp is of 1 January 2026

The extension reads the system itself, and asks here only while another world is in use. A
replacement holds for the whole process, its other threads too: they work on the same
sessions, and a context variable would have to be read for each time stamp.
"""

import os as _os
import time as _time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from datetime import UTC as _UTC
from datetime import datetime as _datetime
from typing import Any, TypeVar, cast

from .event_loop import is_awaitable

__all__ = [
    "World",
    "monotonic",
    "new_uuid",
    "outside",
    "random",
    "random_bytes",
    "sleep",
    "time",
    "timestamp",
    "use",
]

T = TypeVar("T")

_MOST_BYTES = 2**20


class World:
    """The system. A subclass replaces what it overrides; see `use`.

    Its methods are called from any thread.
    """

    def time(self) -> float:
        """Return the seconds since the epoch."""
        return _time.time()

    def monotonic(self) -> float:
        """Return the seconds of a clock that never runs backwards, for durations and deadlines."""
        return _time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait so many seconds, under asyncio or trio."""
        import asyncio

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            import anyio

            await anyio.sleep(seconds)
        else:
            await asyncio.sleep(seconds)  # the attribute, which callers replace

    def random(self) -> float:
        """Return a number in [0, 1)."""
        from random import random  # late: few programs need it

        return random()

    def random_bytes(self, count: int) -> bytes:
        """Return so many random bytes, at most 1,048,576. Ids are made of them.

        Raises:
            ValueError: Another number is asked for.
        """
        if not 0 <= count <= _MOST_BYTES:
            raise ValueError(f"`count` is {count:,} (must be from 0 to {_MOST_BYTES:,})")
        return _os.urandom(count)

    async def outside(self, name: str, call: Callable[[], Awaitable[T] | T]) -> T:
        """Return what `call` returns, or the result of what it returns if that can be awaited.

        Args:
            name: What is called, such as `http` or `tool:read_file`. A replay finds by it what to
                answer instead.
            call: Reaches out of the process.
        """
        answer = call()
        return await answer if is_awaitable(answer) else cast("T", answer)


_current = World()


def time() -> float:
    """Return the seconds since the epoch."""
    return _current.time()


def timestamp(moment: float | None = None) -> str:
    """Return a moment in UTC as RFC 3339 with six fraction digits and `+00:00`.

    Text order is time order.

    Args:
        moment: Seconds since 1970; None for now.
    """
    return _datetime.fromtimestamp(time() if moment is None else moment, _UTC).isoformat(
        timespec="microseconds"
    )


def monotonic() -> float:
    """Return the seconds of a clock that never runs backwards, for durations and deadlines."""
    return _current.monotonic()


async def sleep(seconds: float) -> None:
    """Wait so many seconds, under asyncio or trio."""
    await _current.sleep(seconds)


def random() -> float:
    """Return a number in [0, 1)."""
    return _current.random()


def random_bytes(count: int) -> bytes:
    """Return so many random bytes, at most 1,048,576. Ids are made of them.

    Raises:
        ValueError: Another number is asked for.
    """
    return _current.random_bytes(count)


def outside(name: str, call: Callable[[], Awaitable[T] | T]) -> Coroutine[Any, Any, T]:
    """Return what `call` returns, or the result of what it returns if that can be awaited.

    Args:
        name: What is called, such as `http` or `tool:read_file`. A replay finds by it what to
            answer instead.
        call: Reaches out of the process.
    """
    return _current.outside(name, call)


def is_real() -> bool:
    """Whether the world is the system, so that `outside` only calls and awaits."""
    return type(_current) is World


def new_uuid() -> str:
    """Make a random UUID, of version 4, from `random_bytes`."""
    content = bytearray(random_bytes(16))
    content[6] = content[6] & 0x0F | 0x40
    content[8] = content[8] & 0x3F | 0x80
    digits = content.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


@contextmanager
def use(world: World) -> Generator[None]:
    """Let the whole process read another world, until the context ends."""
    global _current
    earlier = _current
    _current = world
    _switch_engine()
    try:
        yield
    finally:
        _current = earlier
        _switch_engine()


def _switch_engine() -> None:
    """Let the extension ask here, or read the system itself."""
    try:
        from ._engine import follow_world
    except ImportError:
        return
    follow_world(not is_real())
