"""A person who is asked whether calls may run: allows, denies, and answers too late."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Literal

from broken import BrokenPromiseError
from budgets import SpentTurn

from amplifier_core.models import HookResult

PATIENCE_SECONDS = 2.0
"""How long a hook waits for an answer, which is its default then."""
_ANSWER_SECONDS = (0.0, 0.0, 0.5, 1.0, 10.0)


class Question:
    """A question about a call, from when a hook has it."""

    is_granted: bool | None = None
    """The answer; None without one."""
    asked_at: float | None = None
    """When the person heard it."""

    def __init__(self, session_id: str, default: Literal["allow", "deny"]) -> None:
        """Have a session ask."""
        self.session_id = session_id
        self.default = default

    def allows(self, now: float) -> bool:
        """Whether the call may run."""
        if self.is_granted is not None or self.default == "deny" or self.asked_at is None:
            return self.is_granted is True
        return now >= self.asked_at + PATIENCE_SECONDS


class SimulatedPerson:
    """Is asked about calls by their ids, one after the other in each session."""

    def __init__(self, random: Random, turn_of: Callable[[str], SpentTurn | None]) -> None:
        """Answer at random.

        Args:
            random: Where the answers come from.
            turn_of: Returns the turn of a session, whose budget does not pay for the time.
        """
        self._turn_of = turn_of
        self.broken: BrokenPromiseError | None = None
        """The promise that was broken where the person heard of it."""
        self._random = random
        self._questions: dict[str, Question] = {}
        self._open: Counter[str] = Counter()

    def judge(self, data: Mapping[str, Any]) -> HookResult | None:
        """Have a hook ask about some of the calls."""
        if self._random.random() > 0.5:
            return None
        default: Literal["allow", "deny"] = self._random.choice(("allow", "deny"))
        self._questions[data["tool_call_id"]] = Question(str(data["session_id"]), default)
        return HookResult(
            action="ask_user",
            approval_prompt=data["tool_call_id"],
            approval_options=["Allow", "Deny"],
            approval_timeout=PATIENCE_SECONDS,
            approval_default=default,
        )

    async def request_approval(
        self,
        prompt: str,
        options: list[str],
        timeout: float,  # noqa: ASYNC109 -- the contract of the kernel
        default: Literal["allow", "deny"],
    ) -> str:
        """Answer, perhaps too late."""
        del timeout, default
        question = self._questions[prompt]
        question.asked_at = asyncio.get_running_loop().time()
        self._open[question.session_id] += 1
        turn = self._turn_of(question.session_id)
        if turn is not None:
            turn.note_question(question.asked_at)
        try:
            if self._open[question.session_id] > 1:
                self.broken = BrokenPromiseError(
                    f"`{question.session_id}` asks a person two things at once"
                )
            await asyncio.sleep(self._random.choice(_ANSWER_SECONDS))
        finally:
            self._open[question.session_id] -= 1
            if turn is not None:
                turn.note_answer(asyncio.get_running_loop().time())
        question.is_granted = self._random.random() < 0.5
        return options[0] if question.is_granted else options[1]

    def check_start(self, call_id: str) -> None:
        """Check that a call that begins was allowed, if it was asked about.

        Raises:
            BrokenPromiseError: It was not.
        """
        if self.broken is not None:
            raise self.broken
        question = self._questions.get(call_id)
        if question is not None and not question.allows(asyncio.get_running_loop().time()):
            raise BrokenPromiseError(f"the call `{call_id}` runs, and nobody has allowed it")
