"""Messages that a user sends while a turn is running."""

from __future__ import annotations

import logging
import threading

from ..contexts.history_events import STEERING
from .boundary.hook_points import HookPoints
from .turn_history import TurnHistory

logger = logging.getLogger(__name__)

CAPACITY = 100
STEERING_SUBMITTED = "orchestrator:steering_submitted"
"""Event: a message is about to be added to the conversation; hooks may deny its `prompt`."""
STEERING_INJECTED = "orchestrator:steering_injected"
"""Event: a message was added to the conversation."""
STEERING_DISCARDED = "orchestrator:steering_discarded"
"""Event: messages were discarded: the turn was cancelled, the session ended, or hooks denied them."""
CANCELLED = "the turn was cancelled"
ENDED = "the session ended"


class SteeringQueueFull(Exception):
    """Too many steering messages are waiting."""

    __slots__ = ("_adding", "_waiting")


class SteeringQueue:
    """Messages waiting for the next model call, first in, first out.

    Each comes into the history once or is reported as discarded. `steer` works from any thread.
    """

    _adding = threading.RLock()
    """Of all queues, as every session has one. Re-entrant, for signal handlers that steer."""

    def __init__(self) -> None:
        """Create an empty queue."""
        # Every session has a queue, and nearly all stay empty.
        self._waiting: list[str] = []

    def __len__(self) -> int:
        """Return the number of waiting messages."""
        return len(self._waiting)

    def steer(self, text: str) -> None:
        """Add a message before the next model call, or in the next turn.

        Raises:
            TypeError: The text is not a `str`.
            ValueError: The text is empty.
            SteeringQueueFull: Too many messages are waiting.
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            found = type(text).__name__
            message = f"the steering message is of type `{found}` (must be a str)"
            raise TypeError(message)
        if not text.strip():
            message = "the steering message is empty"
            raise ValueError(message)
        with self._adding:
            if len(self._waiting) >= CAPACITY:
                message = f"{CAPACITY} steering messages are waiting (the most that can)"
                raise SteeringQueueFull(message)
            self._waiting.append(text)

    async def inject(self, history: TurnHistory, hooks: HookPoints, iteration: int) -> None:
        """Add all waiting messages to the history, except those that hooks deny."""
        while self._waiting:
            # It waits until it is decided about, so that a cancellation meanwhile discards it.
            text = self._waiting[0]
            verdict = await hooks.judge(
                STEERING_SUBMITTED, {"prompt": text, "iteration": iteration}
            )
            if verdict.denied:
                denied = {"messages": [text], "reason": verdict.reason}
                await hooks.emit(STEERING_DISCARDED, denied)
                self._waiting.pop(0)
                continue
            changed = None if verdict.data is None else verdict.data.get("prompt")
            text = changed if isinstance(changed, str) else text
            self._waiting.pop(0)
            await history.add({"role": "user", "content": text}, STEERING)
            await hooks.emit(STEERING_INJECTED, {"content": text, "iteration": iteration})

    async def discard(self, hooks: HookPoints, reason: str) -> None:
        """Discard the waiting messages, with a warning and an event."""
        messages: list[str] = []
        while self._waiting:
            messages.append(self._waiting.pop(0))
        if messages:
            logger.warning("%d steering messages discarded: %s", len(messages), reason)
            await hooks.emit(STEERING_DISCARDED, {"messages": messages, "reason": reason})
