"""The recovery of a turn from errors of its model: what the model reads, and when it is over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from amplifier_core.llm_errors import ConfigurationError

from ..tool.endings import can_end_turn
from .recoverable_errors import (
    EXAMPLE,
    REPEATED,
    SOME_SUCCEEDED,
    ErrorKind,
    ErrorRing,
    GivenUp,
    Identity,
    RecoverableError,
    clip_line,
    line_about,
    reminder_of,
    tool_for_example,
)

RECOVERABLE_ERROR = "agent:recoverable_error"
"""Event: the model reads of an error that it can correct."""
_ANSWERS_AFTER_WARNING = 2
"""How many more answers may have an error after the model was warned of the end."""


class Recovery:
    """Tells the model of errors that it can correct, and ends the turn if it does not.

    What the model reads is part of its next request only. A success forgets all errors: a call
    whose tool ran and did not fail, even if other calls of the answer failed, or an answer without
    a call where none is required.
    """

    def __init__(
        self,
        emit: Callable[[str, dict[str, Any]], Awaitable[None]],
        tools: Mapping[str, Any],
        most: int | None,
        example: Callable[[str], str] | None,
    ) -> None:
        """Begin without errors.

        Args:
            emit: Emits an event.
            tools: Mounted tools by name.
            most: How many identical errors in a row end the turn; None for no limit.
            example: Returns a call of a tool as the model must write it; None for a model with
                native calls.
        """
        self._emit = emit
        self._tools = dict(tools)  # as the model read of them
        self._most = most
        self._example = example
        self.owns_calls = example is not None
        """Whether errors of calls are its matter; native ones are counted by `EqualErrors`."""
        self._ring: ErrorRing[Identity] | None = None
        """The errors since the last success, if there were any in the turn."""
        self._reminder: str | None = None
        self._sent: str | None = None
        """What the model reads in the request that has no answer yet."""
        self._has_reported_quotation = False
        self.given_up: GivenUp | None = None
        """Why the turn ends, if it does."""

    def describe(self) -> dict[str, Any] | None:
        """Return as JSON which errors are not forgotten yet; None without any."""
        entries = [] if self._ring is None else self._ring.list_entries()
        reminder = self._reminder or self._sent
        if not entries and reminder is None and not self._has_reported_quotation:
            return None
        return {
            "answers": [[[kind.value, *rest] for kind, *rest in entry] for entry in entries],
            "reminder": reminder,
            "has_reported_quotation": self._has_reported_quotation,
        }

    def restore(self, body: Mapping[str, Any]) -> None:
        """Know the errors of which `describe` told in another process."""
        ring = self._ring = ErrorRing(self._most)
        for entry in body["answers"]:
            ring.add((ErrorKind(kind), name, text) for kind, name, text in entry)
        self._reminder = body["reminder"]
        self._has_reported_quotation = body["has_reported_quotation"]

    def require_end(self) -> None:
        """Check that a turn in which each answer needs a call can end.

        Raises:
            ConfigurationError: No tool ends turns.
        """
        if not any(map(can_end_turn, self._tools.values())):
            message = (
                "`require_call` needs a tool that ends the turn, and none is mounted; mount"
                " `tool-conversation`, or set `is_loop_breaking` of a tool"
            )
            raise ConfigurationError(message)

    def take_reminder(self) -> str | None:
        """Return what the model reads in its next request, once; None if nothing."""
        self._sent, self._reminder = self._reminder, None
        return self._sent

    def note_answer(self) -> None:
        """Note that the model has read it."""
        self._sent = None

    def note_success(self) -> None:
        """Forget all errors."""
        self._has_reported_quotation = False
        if self._ring is not None:
            self._ring.clear()

    async def note_no_call(self, iteration: int) -> None:
        """Take an answer into account that has no call where one is required."""
        error = RecoverableError(ErrorKind.NO_TOOL_CALL, "an answer without a tool call")
        await self._note([error], 1, iteration)

    async def note_quoted_call(self, tool_name: str, iteration: int) -> bool:
        """Take an answer into account that ends with a quoted call; whether the model reads of it.

        It reads of it once: an answer that ends like this again is meant so.
        """
        if self._has_reported_quotation:
            return False
        self._has_reported_quotation = True
        text = "an answer whose call is quoted"
        error = RecoverableError(ErrorKind.QUOTED_CALL, text, tool_name)
        await self._note([error], 1, iteration)
        return self.given_up is None

    async def note_calls(
        self, errors: Sequence[RecoverableError], calls: int, iteration: int
    ) -> None:
        """Take the calls of an answer into account; of native calls, only their success.

        Args:
            errors: The errors of the calls.
            calls: How many calls the answer has.
            iteration: The number of the answer in its turn.
        """
        if len(errors) < calls:
            self.note_success()
        if errors and self.owns_calls:
            await self._note(errors, calls, iteration)

    async def _note(self, errors: Sequence[RecoverableError], calls: int, iteration: int) -> None:
        ring = self._ring = self._ring or ErrorRing(self._most)
        has_success = len(errors) < calls
        if not has_success:
            ring.add(error.identity for error in errors)
        lines = [line_about(error, calls, self._tools) for error in errors]
        counts = [ring.count(error.identity) for error in errors]
        for error, line, count in zip(errors, lines, counts, strict=True):
            data = {
                "kind": error.kind.value,
                "tool_name": error.tool_name,
                "tool_call_id": error.call_id,
                "index": error.index,
                "iteration": iteration,
                "count": count,
                "message": line,
            }
            await self._emit(RECOVERABLE_ERROR, data)
        if (identity := ring.opened_by) is not None:
            error = next(error for error in errors if error.identity == identity)
            reason = f"{self._most} identical errors in a row: {clip_line(error.text)}"
            self.given_up = GivenUp(error.tool_name, reason)
            return
        if has_success:
            lines.append(SOME_SUCCEEDED)
        count = max(counts)
        if self._most is not None and count >= max(2, self._most - _ANSWERS_AFTER_WARNING):
            lines.append(REPEATED.format(count=count, most=self._most))
        name = tool_for_example(errors, self._tools)
        if self._example is not None and name is not None:
            lines.append(EXAMPLE.format(example=self._example(name)))
        self._reminder = reminder_of(lines)
