"""The recovery of a turn from errors of its model: what the model is told, and when it is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from amplifier_core.llm_errors import ConfigurationError

from ..equal_errors import GivenUp
from ..error_ring import ErrorRing
from ..hook_points import HookPoints
from ..injection import Injection
from ..loop_breaking import can_end_turn
from ..response import RequestedCall
from ..tool_answer import Answer
from .recoverable_error import (
    ErrorKind,
    Identity,
    RecoverableError,
    error_of_call,
)

if TYPE_CHECKING:
    from ..answers.tool_list import ToolFormat

RECOVERABLE_ERROR = "agent:recoverable_error"
"""Event: the model is told of an error that it can correct."""
_TOLD_BEFORE_END = 2
"""How many times more an error may occur once the model was told."""


@dataclass(frozen=True)
class RoundOfCalls:
    """The calls of one answer, as they went."""

    calls: Sequence[RequestedCall]
    answers: Sequence[Answer]
    failures: Mapping[int, Exception]
    """What calls without a result raised, by their index."""

    @property
    def has_success(self) -> bool:
        """Whether a tool ran and did not fail."""
        return any(not answer.is_error for answer in self.answers)

    def errors(self) -> list[RecoverableError]:
        """Return the errors, in the order of the calls."""
        pairs = enumerate(zip(self.calls, self.answers, strict=True))
        return [
            error_of_call(index, call, answer, self.failures.get(index))
            for index, (call, answer) in pairs
            if answer.is_error
        ]


class Recovery:
    """Tells the model of errors that it can correct, and ends the turn if it does not.

    What the model is told is part of its next request only. A success forgets all errors: a call
    whose tool ran and did not fail, even if other calls of the answer failed, or an answer without
    a call where none is required.
    """

    def __init__(
        self,
        hooks: HookPoints,
        tools: Mapping[str, Any],
        most: int | None,
        tag: str | None,
        tool_format: ToolFormat,
    ) -> None:
        """Begin without errors.

        Args:
            hooks: Where the events go.
            tools: Mounted tools by name.
            most: How many identical errors in a row end the turn; None for no limit.
            tag: The tag for calls; None for a model with native calls.
            tool_format: The form of calls in tags.
        """
        self._hooks = hooks
        self._tools = tools
        self._tag = tag
        self._format: ToolFormat = tool_format
        self._most = most
        self._ring = ErrorRing[Identity](most)
        self._reminder: str | None = None
        self.given_up: GivenUp | None = None
        """Why the turn ends, if it does."""

    @property
    def owns_calls(self) -> bool:
        """Whether errors of calls are its matter; native ones are counted by `EqualErrors`."""
        return self._tag is not None

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

    def take_reminder(self) -> list[Injection]:
        """Return what the model is told in its next request, once."""
        reminder, self._reminder = self._reminder, None
        return [] if reminder is None else [Injection(reminder, role="user")]

    def note_success(self) -> None:
        """Forget all errors."""
        self._ring.clear()

    async def note_no_call(self, iteration: int) -> None:
        """Take an answer into account that has no call where one is required."""
        error = RecoverableError(ErrorKind.NO_TOOL_CALL, "an answer without a tool call")
        await self._note([error], 0, iteration, has_success=False)

    async def note_calls(self, round_: RoundOfCalls, iteration: int) -> None:
        """Take the calls of an answer into account; of native calls, that one succeeded."""
        has_success = round_.has_success
        if has_success:
            self._ring.clear()
        if self.owns_calls and (errors := round_.errors()):
            await self._note(errors, len(round_.calls), iteration, has_success=has_success)

    async def _note(
        self, errors: list[RecoverableError], calls: int, iteration: int, *, has_success: bool
    ) -> None:
        # Late: most turns have no such error.
        from .messages import (
            EXAMPLE,
            REPEATED,
            SOME_SUCCEEDED,
            clipped,
            example_for,
            line_about,
            reminder_of,
        )

        if not has_success:
            self._ring.add(error.identity for error in errors)
        lines = [line_about(error, calls, self._tools) for error in errors]
        counts = [self._ring.count(error.identity) for error in errors]
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
            await self._hooks.emit(RECOVERABLE_ERROR, data)
        if (identity := self._ring.opened_by) is not None:
            error = next(error for error in errors if error.identity == identity)
            reason = f"{self._most} identical errors in a row: {clipped(error.text)}"
            self.given_up = GivenUp(error.tool_name, reason)
            return
        if has_success:
            lines.append(SOME_SUCCEEDED)
        count = max(counts)
        if self._most is not None and count >= max(2, self._most - _TOLD_BEFORE_END):
            lines.append(REPEATED.format(count=count, most=self._most))
        if self._tag is not None:
            example = example_for(errors, self._tools, self._tag, self._format)
            lines += [] if example is None else [EXAMPLE.format(example=example)]
        self._reminder = reminder_of(lines)
