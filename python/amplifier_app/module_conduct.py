"""What modules do to the process of the command: they print, they block, and they may end it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Generator
from typing import Any

from amplifier_app.failure import Failure
from amplifier_app.interrupt import leave


@contextlib.contextmanager
def contain_modules() -> Generator[None]:
    """Keep the command usable whatever its modules do while the running event loop is in here.

    What they print goes to standard error, as standard output holds the answer, or the JSON lines,
    and nothing else. A second Ctrl+C ends the command also while a module blocks the event loop.

    Raises:
        Failure: A module called `sys.exit`.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr), _interruptible():
            yield
    except SystemExit as error:
        from amplifier_core.error_messages import describe_failure

        message = f"a module ended the program: {describe_failure(error)}"
        hint = "remove the module, or its call of `sys.exit`"
        raise Failure(message, hint=hint) from error


@contextlib.contextmanager
def _interruptible() -> Generator[None]:
    """Leave at a Ctrl+C that comes before the event loop has seen the one before it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    previous = signal.getsignal(signal.SIGINT)
    if previous is signal.SIG_IGN or previous is None:
        yield
        return
    unseen = 0

    def see() -> None:
        nonlocal unseen
        unseen = 0

    def press(*_: Any) -> None:
        nonlocal unseen
        unseen += 1
        if unseen > 1:
            leave(128 + signal.SIGINT)
        loop.call_soon_threadsafe(see)

    # The event loop notices each signal all the same: it reads them from a descriptor.
    signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
