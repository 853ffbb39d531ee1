"""A loop's run, which ends at once when its session must stop immediately."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Generator
from typing import Any, Final

from .interruption import Interruption, asyncio_task, has_block
from .left_behind import Leaving, steps_of

logger = logging.getLogger("amplifier_core.session")

LOOP_GRACE_SECONDS = 5.0
"""How long a loop that is ended may take to end before it is left behind."""
ENDED: Final = object()
"""What `run_loop` returns under trio if the loop was ended and let the cancellation through."""


async def run_loop(running: Awaitable[Any], token: Any, what: str) -> Any:
    """Await a loop's answer, until everything has to stop immediately.

    A loop that is in an `Interruption` of the token itself ends by that alone.

    Args:
        running: What the loop's `execute` returned.
        token: Cancellation token of the session.
        what: What to call the loop in a warning.

    Returns:
        The answer, or `ENDED` where trio's own error cannot leave the scope that was cancelled.

    Raises:
        CancelledError: The loop was ended and let the cancellation through, or it was left behind.
    """
    if asyncio_task() is not None:
        return await _Run(running, token, what)
    with Interruption(token):
        return await running
    return ENDED


class _Run:
    """The await of a loop under asyncio; one that does not suspend costs next to nothing."""

    __slots__ = ("_running", "_token", "_what")

    def __init__(self, running: Awaitable[Any], token: Any, what: str) -> None:
        self._running = running
        self._token = token
        self._what = what

    def __await__(self) -> Generator[Any, None, Any]:
        token = self._token
        was_immediate = token.is_immediate
        steps = steps_of(self._running)
        try:
            awaited = steps.send(None)
            while has_block(token):
                was_immediate = True  # whatever is asked for meanwhile is for that block
                try:
                    yield awaited
                except GeneratorExit:
                    steps.close()
                    raise
                except BaseException as error:  # noqa: BLE001 (for the loop to handle)
                    awaited = steps.throw(error)
                else:
                    awaited = steps.send(None)
        except StopIteration as stop:
            return stop.value
        block = Interruption(token)
        block.__enter__()
        try:
            if token.is_immediate and not was_immediate:
                block.request_immediate()
            leaving = Leaving(
                steps, LOOP_GRACE_SECONDS, self._what, logger, lambda: block.was_ended
            )
            answer = yield from leaving.rest(awaited)
        except BaseException as error:
            # The cancellation comes through, though nobody else cancelled the task.
            block.__exit__(type(error), error, None)
            raise
        block.__exit__(None, None, None)
        return answer
