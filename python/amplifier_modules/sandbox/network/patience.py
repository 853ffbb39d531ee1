"""Waiting for what blocks, in a thread that is left behind once nobody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TypeVar

Value = TypeVar("Value")


async def call_in_thread(function: Callable[[], Value]) -> Value:
    """Call a function in a thread of its own.

    Unlike the threads of an executor it is not joined at the end: looking up a name cannot be
    interrupted, and nothing is to wait for it.
    """
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    outcome: list[Value] = []
    failure: Exception = RuntimeError("the thread has ended")

    def run() -> None:
        nonlocal failure
        try:
            outcome.append(function())
        except Exception as error:  # noqa: BLE001 (raised again where it is waited for)
            failure = error
        finally:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(ended.set)

    Thread(target=run, name="amplifier-proxy-judge", daemon=True).start()
    await ended.wait()
    if not outcome:
        raise failure
    return outcome[0]
