"""A loop's run, which ends at once when its session must stop immediately."""

from __future__ import annotations

import logging
from collections.abc import Generator
from typing import Any

from ..interruption import Interruption, block_of
from ..left_behind import Leaving, Steps

logger = logging.getLogger("amplifier_core.session")

LOOP_GRACE_SECONDS = 5.0
"""How long a loop that is ended may take to end before it is left behind."""


class LoopRun:
    """The await of a loop's answer under asyncio, until everything has to stop immediately.

    A loop that is in an `Interruption` of the token itself ends by that alone. Awaiting raises a
    `CancelledError` if the loop let its cancellation through or was left behind.
    """

    __slots__ = ("_awaited", "_loop", "_steps", "_token", "_was_immediate")

    def __init__(
        self, steps: Steps, awaited: Any, token: Any, was_immediate: bool, loop: Any
    ) -> None:
        """Go on with `execute` of a loop, whose first step was done.

        Args:
            steps: The coroutine.
            awaited: What its first step awaits.
            token: The token of its session.
            was_immediate: Whether the token was immediate before the first step.
            loop: The loop.
        """
        self._steps = steps
        self._awaited = awaited
        self._token = token
        self._was_immediate = was_immediate
        self._loop = loop

    def __await__(self) -> Generator[Any, None, Any]:
        token, steps, awaited = self._token, self._steps, self._awaited
        was_immediate = self._was_immediate
        try:
            while block_of(token) is not None:
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
            what = f"loop `{type(self._loop).__name__}`"
            leaving = Leaving(steps, LOOP_GRACE_SECONDS, what, logger, lambda: block.was_ended)
            answer = yield from leaving.rest(awaited)
        except BaseException as error:
            # The cancellation comes through, though nobody else cancelled the task.
            block.__exit__(type(error), error, None)
            raise
        block.__exit__(None, None, None)
        return answer
