"""Messages that a user sends while a turn is running."""

from __future__ import annotations

import logging
import threading
from typing import Any, NamedTuple

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


class _Message(NamedTuple):
    text: str
    journal: Any = None
    """What stores the session that it was sent to; None where nothing does."""
    entry: int = 0
    """The id of its entry in the inbox of that session."""


class SteeringQueue:
    """Messages waiting for the next model call, first in, first out.

    Each comes into the history once or is reported as discarded. `steer` works from any thread. A
    message to a session that is stored is an entry of its inbox until then: what is left at the end
    of the session is read by whoever goes on with it.
    """

    _adding = threading.RLock()
    """Of all queues, as every session has one. Re-entrant, for signal handlers that steer."""

    _being_stored = 0
    """How many messages are neither waiting nor refused yet."""

    def __init__(self) -> None:
        """Create an empty queue."""
        # Every session has a queue, and nearly all stay empty.
        self._waiting: list[_Message] = []

    def __len__(self) -> int:
        """Return the number of waiting messages."""
        return len(self._waiting)

    def steer(self, text: str, journal: Any = None) -> None:
        """Add a message before the next model call, or in the next turn.

        Args:
            text: The message.
            journal: What stores the session, and so the message first; None where nothing does.

        Raises:
            TypeError: The text is not a `str`.
            ValueError: The text is empty.
            SteeringQueueFull: Too many messages are waiting.
            StoreError: It cannot be stored.
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
            found = type(text).__name__
            message = f"the steering message is of type `{found}` (must be a str)"
            raise TypeError(message)
        if not text.strip():
            message = "the steering message is empty"
            raise ValueError(message)
        with self._adding:
            if len(self._waiting) + self._being_stored >= CAPACITY:
                message = f"{CAPACITY} steering messages are waiting (the most that can)"
                raise SteeringQueueFull(message)
            if journal is None:
                self._waiting.append(_Message(text))
                return
            self._being_stored += 1
        entry = None
        try:
            entry = journal.inbox.put_steering(text)
        finally:
            with self._adding:
                self._being_stored -= 1
                if entry is not None:
                    self._waiting.append(_Message(text, journal, entry))

    def restore(self, journal: Any) -> None:
        """Add the messages first that were sent to a session of another process."""
        sent = journal.inbox.take_steering()
        if sent:
            with self._adding:
                self._waiting[:0] = [_Message(text, journal, entry) for entry, text in sent]

    def take_sent(self, journal: Any) -> None:
        """Add the messages last that other processes have sent while a turn runs."""
        sent = journal.inbox.take_steering()
        if sent:
            with self._adding:
                self._waiting += [_Message(text, journal, entry) for entry, text in sent]

    async def inject(self, history: TurnHistory, hooks: HookPoints, iteration: int) -> None:
        """Add all waiting messages to the history, except those that hooks deny."""
        while self._waiting:
            # It waits until it is decided about, so that a cancellation meanwhile discards it.
            message = self._waiting[0]
            text, journal, entry = message
            verdict = await hooks.judge(
                STEERING_SUBMITTED, {"prompt": text, "iteration": iteration}
            )
            if verdict.denied:
                _note_discarded([message], verdict.reason)
                denied = {"messages": [text], "reason": verdict.reason}
                await hooks.emit(STEERING_DISCARDED, denied)
                self._waiting.pop(0)
                continue
            changed = None if verdict.data is None else verdict.data.get("prompt")
            text = changed if isinstance(changed, str) else text
            self._waiting.pop(0)
            if journal is not None:
                journal.inbox.begin_use(entry)
            await history.add({"role": "user", "content": text}, STEERING)
            await hooks.emit(STEERING_INJECTED, {"content": text, "iteration": iteration})

    async def discard(self, hooks: HookPoints, reason: str, *, keeps_stored: bool = False) -> None:
        """Discard the waiting messages, with a warning and an event.

        Args:
            hooks: Where the event goes.
            reason: Why.
            keeps_stored: Whether those that are stored stay for whoever goes on with the session.
        """
        messages: list[_Message] = []
        while self._waiting:
            messages.append(self._waiting.pop(0))
        if keeps_stored:
            messages = [each for each in messages if each.journal is None]
        if messages:
            _note_discarded(messages, reason)
            logger.warning("%d steering messages discarded: %s", len(messages), reason)
            texts = [each.text for each in messages]
            await hooks.emit(STEERING_DISCARDED, {"messages": texts, "reason": reason})


def _note_discarded(messages: list[_Message], reason: str) -> None:
    for text, journal, entry in messages:
        if journal is not None:
            row = {"messages": [text], "reason": reason}
            journal.note(STEERING_DISCARDED, row, (entry,))
