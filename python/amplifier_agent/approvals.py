"""Who answers when a hook or a tool asks for permission."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

from amplifier_core import world
from amplifier_core.approval import find_approval_mistake
from amplifier_modules.tool.function_call import call_function
from amplifier_providers.running.run_sync import LoopThread

if TYPE_CHECKING:
    from amplifier_core import ApprovalProvider, ApprovalResponse
    from amplifier_core.approval import ApprovalSystem

    from .event import Question

Answer: TypeAlias = Union[bool, str, "ApprovalResponse"]
"""True grants; a text denies, and is what the model gets to read."""
Approvals: TypeAlias = Union[
    Literal["wait"],
    "ApprovalSystem",
    "ApprovalProvider",
    Callable[["Question"], Union[Answer, Awaitable[Answer]]],  # noqa: UP007
]
"""`"wait"`, an approval system, an approval provider, or a function of the question."""

_GRANT, _DENY = "allow", "deny"
"""Answers that the kernel reads whatever options were offered."""


WAIT = "wait"
"""Questions are kept until somebody answers."""


def check_approvals(approvals: Any) -> None:
    """Check who is to be asked.

    Raises:
        TypeError: It is nothing that can answer.
        ValueError: It is another text than `"wait"`.
    """
    if isinstance(approvals, str) and approvals != WAIT:
        raise ValueError(f'`approvals` is `{approvals}` (the only text is `"wait"`)')
    if hasattr(approvals, "request_approval"):
        if wrong := find_approval_mistake(approvals):
            raise TypeError(wrong)
    elif not isinstance(approvals, str) and not callable(approvals):
        found = type(approvals).__name__
        raise TypeError(
            f'`approvals` is a `{found}` (must be `"wait"`, a function of a question, or an object'
            " with `request_approval`)"
        )


def approval_system(approvals: Any, waiting: WaitingQuestions) -> Any:
    """Return what the coordinator asks; None if nobody can be asked."""
    if approvals is None or hasattr(approvals, "request_approval"):
        return approvals
    return AskedFunction(waiting.wait if approvals == WAIT else approvals)


class AskedFunction:
    """An approval system that asks a function."""

    def __init__(self, function: Callable[[Question], Any]) -> None:
        """Ask this function; a sync one runs in a thread, as it may wait for a person."""
        self._function = function

    async def request_approval(
        self,
        prompt: str,
        options: list[str],
        timeout: float,  # noqa: ASYNC109 - the kernel's contract
        default: Literal["allow", "deny"],
    ) -> str:
        """Ask, and return the answer in the form that the kernel reads."""
        from amplifier_core.approval import note_words

        answer = await call_function(self._function, question_about(prompt, timeout))
        check_answer(answer, "the approval function answered with")
        if answer is True or getattr(answer, "approved", False):
            return _GRANT
        note_words(answer if isinstance(answer, str) else getattr(answer, "reason", None))
        return _DENY


class WaitingQuestions:
    """Questions that wait for an answer, which may come from any thread."""

    def __init__(self, thread: LoopThread) -> None:
        """Wake the waiting turn in this thread."""
        self._thread = thread
        self._open: dict[str, _Open] = {}

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions without an answer, in the order in which they were asked."""
        open_ones = tuple(self._open.values())
        return tuple(waiting.question for waiting in open_ones if waiting.answer is None)

    def expect(self, question: Question) -> None:
        """Take an answer to this question from now on, which the turn is about to wait for."""
        import anyio

        if question.id not in self._open:
            self._open[question.id] = _Open(question, anyio.Event())

    async def wait(self, question: Question) -> Answer:
        """Wait for the answer to a question."""
        self.expect(question)
        waiting = self._open[question.id]
        try:
            await waiting.answered.wait()
        finally:
            self._open.pop(question.id, None)
        return waiting.answer or False

    def forget(self) -> None:
        """Drop the questions of a turn that is over."""
        self._open.clear()

    def answer(self, question_id: str, answer: Answer) -> None:
        """Answer a question.

        Raises:
            TypeError: The answer is neither a bool nor a text nor an `ApprovalResponse`.
            ValueError: The answer is a text that agrees, though a text denies.
            LookupError: No such question waits.
        """
        check_answer(answer, "the answer is")
        waiting = self._open.get(question_id)
        if waiting is None or waiting.answer is not None:
            raise LookupError(f"no question `{question_id}` waits for an answer")
        waiting.answer = answer
        self._thread.call(waiting.answered.set)


def check_answer(answer: Any, what: str) -> None:
    """Check the answer to a question.

    Args:
        answer: The answer.
        what: The beginning of error messages.

    Raises:
        TypeError: It is neither a bool nor a text nor an `ApprovalResponse`.
        ValueError: It is a text that agrees, though a text denies.
    """
    from amplifier_core.approval import ALWAYS_READ, is_consent

    if isinstance(answer, str):
        if is_consent(answer) or answer.strip().lower() in ALWAYS_READ:
            raise ValueError(f"{what} `{answer}`, and a text denies (True grants)")
    elif not isinstance(answer, bool) and not isinstance(getattr(answer, "approved", None), bool):
        found = type(answer).__name__
        raise TypeError(
            f"{what} a `{found}` (must be a bool, a text that says why not, or an"
            " `ApprovalResponse`)"
        )


class _Open:
    def __init__(self, question: Question, answered: Any) -> None:
        self.question = question
        self.answered = answered
        self.answer: Answer | None = None


def question_about(prompt: str, seconds: float | None) -> Question:
    """Return the question that the kernel asks, with the tool and its arguments."""
    from amplifier_core.approval import ASKED_CALL

    from .event import Question

    call = ASKED_CALL.get()
    limited = seconds is not None and 0 < seconds < float("inf")
    return Question(
        id=world.random_bytes(16).hex() if call is None else call.question_id,
        tool_name="" if call is None else call.tool_name,
        arguments={} if call is None else call.arguments,
        action=prompt,
        risk_level="medium",
        timeout=seconds if limited else None,
    )


NO_QUESTIONS = WaitingQuestions(LoopThread())
"""Those of all sessions whose questions somebody else answers."""
