"""What a server needs before it answers a call: asked, and sent with the state that the server gave.

The state and what was answered so far are stored with each question, so that another process goes on
with the call once this one has ended.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from amplifier_modules.tool.context import (
    AskedBefore,
    Continuation,
    PersonAnswer,
    ToolContext,
    find_context,
)

from .server_errors import CallRefusedError, ConnectionLostError

if TYPE_CHECKING:
    from mcp.types import ElicitRequestParams, ElicitResult, InputRequiredResult

    from .open_call import OpenCall

_MAX_STORED_CHARS = 256 * 1024
"""A question with more than this of the server's own is not stored."""

Answer = Callable[["OpenCall", "ElicitRequestParams"], Awaitable["ElicitResult"]]
"""Puts a question of a server to a person."""


@dataclass(frozen=True)
class Answered:
    """What a server gets that has needed something."""

    responses: dict[str, Any] | None = None
    state: str | None = None


def restore_state(kept: Mapping[str, Any], tool: str) -> Answered:
    """Return the state that a server gave alone in a process that has ended.

    Raises:
        CallRefusedError: It was a call of another tool.
    """
    _check_tool(kept, tool)
    return Answered(None, kept["state"])


def _check_tool(kept: Mapping[str, Any], tool: str) -> None:
    if kept.get("tool") != tool:
        raise CallRefusedError("the entry of the server has changed since the call began")


class RequiredInput:
    """What a server needs to go on with one call."""

    def __init__(
        self,
        state: str | None,
        requests: Mapping[str, Any],
        tool: str,
        answers: Sequence[PersonAnswer] = (),
        before: AskedBefore | None = None,
    ) -> None:
        """Describe what is needed; nobody is asked yet.

        Args:
            state: What the server gets back, as it gave it.
            requests: What it asks, by its own names.
            tool: What the call is of: only the same tool of the same server goes on with it.
            answers: What a person has said to the first questions, in another process.
            before: The question after these, which was asked there.
        """
        self.state = state
        self.requests = requests
        self._tool = tool
        self._answers = list(answers)
        self._before = before
        self._next = 0

    @classmethod
    def read(cls, result: InputRequiredResult, tool: str) -> RequiredInput:
        """Read what a server needs.

        Raises:
            CallRefusedError: It is nothing that a person answers.
        """
        requests = result.input_requests or {}
        for each in requests.values():
            if each.method != "elicitation/create":
                raise CallRefusedError(f"it needs `{each.method}`, which is not offered")
        dump: dict[str, Any] = {"mode": "json", "by_alias": True, "exclude_none": True}
        asked = {key: each.model_dump(**dump) for key, each in requests.items()}
        return cls(result.request_state, asked, tool)

    @classmethod
    def restore(cls, before: AskedBefore, tool: str) -> RequiredInput:
        """Return what a call needed in a process that has ended.

        Raises:
            CallRefusedError: It was a call of another tool.
        """
        kept = before.resume
        _check_tool(kept, tool)
        answers = [_read_answer(each) for each in kept["answers"]]
        return cls(kept["state"], kept["requests"], tool, answers, before)

    async def collect(self, call: OpenCall, answer: Answer | None) -> Answered:
        """Return what a person answers to all of it, one after the other.

        Raises:
            CallRefusedError: Nobody can be asked.
            ConnectionLostError: The answer was given in a process that has ended, and nobody knows
                whether it was sent.
            QuestionPutOff: The answer comes when the turn has ended.
        """
        from mcp.types import ElicitRequest

        if not self.requests:
            return Answered(None, self.state)
        if answer is None:
            raise CallRefusedError("it asks a person, and nobody can be asked")
        call.ask_and_keep = self.ask
        try:
            responses = {
                key: await answer(call, ElicitRequest.model_validate(each).params)
                for key, each in self.requests.items()
            }
        finally:
            call.ask_and_keep = None
        if self._before is not None and self._before.is_answered:
            raise ConnectionLostError("the process ended when it had asked and was answered")
        return Answered(responses, self.state)

    async def keep(self) -> None:
        """Store the state that the server gave alone, so that another process goes on with it.

        Raises:
            StoreError: It is not stored.
        """
        context = find_context()
        if context is not None and self.state is not None and len(self.state) <= _MAX_STORED_CHARS:
            await context.keep_step({"tool": self._tool, "state": self.state})

    async def ask(
        self,
        context: ToolContext[Any],
        question: str,
        about: Mapping[str, Any],
        parts: Sequence[str],
    ) -> PersonAnswer:
        """Ask the next question; one that was asked in another process is the same, with its answer.

        Raises:
            QuestionPutOff: The answer comes when the turn has ended.
        """
        self._next += 1
        if self._next <= len(self._answers):
            return self._answers[self._next - 1]
        is_asked_again = self._before is not None and self._next == self._count_before() + 1
        if is_asked_again and self._before is not None:
            answer = await context.ask_again(self._before)
        else:
            # It would not have been asked if the answer to the one before had been sent.
            self._before = None
            kept = self._describe() if context.keeps_questions else None
            answer = await context.ask(question, about, parts=parts, continuation=kept)
        self._answers.append(answer)
        return answer

    def _count_before(self) -> int:
        return 0 if self._before is None else len(self._before.resume["answers"])

    def _describe(self) -> Continuation | None:
        """Return what another process needs to go on."""
        shown = json.dumps([self._tool, self.state, self.requests])
        if len(shown) > _MAX_STORED_CHARS:
            return None
        resume = {
            "tool": self._tool,
            "state": self.state,
            "requests": dict(self.requests),
            "answers": [asdict(each) for each in self._answers],
        }
        return Continuation(resume, sha256(shown.encode("utf-8", "surrogatepass")).hexdigest())


def _read_answer(kept: dict[str, Any]) -> PersonAnswer:
    given = dict(kept)
    if given["parts"] is not None:
        given["parts"] = tuple(given["parts"])
    return PersonAnswer(**given)
