"""Who answers when a hook or a tool asks for permission."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Union

from amplifier_core import world
from amplifier_core.approval import find_approval_mistake
from amplifier_modules.tool.function_call import call_function
from amplifier_providers.running.run_sync import LoopThread

if TYPE_CHECKING:
    from amplifier_core import ApprovalProvider, ApprovalResponse
    from amplifier_core.approval import ApprovalSystem
    from amplifier_modules.loops.boundary.kept_questions import KeptAnswer, KeptQuestion

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
LOOK_SECONDS = 0.25
"""How often a turn looks for an answer of another process."""


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
        from amplifier_core.approval import SESSION_GRANT, note_grant, note_parts, note_words

        answer = await call_function(self._function, question_about(prompt, timeout))
        check_answer(answer, "the approval function answered with")
        if answer is True or getattr(answer, "approved", False):
            if getattr(answer, "remember", False) is True:
                note_grant(SESSION_GRANT)
            if (parts := getattr(answer, "parts", None)) is not None:
                note_parts(parts)
                note_words(getattr(answer, "reason", None))
            return _GRANT
        note_words(answer if isinstance(answer, str) else getattr(answer, "reason", None))
        return _DENY


class WaitingQuestions:
    """Questions that wait for an answer, which may come from any thread.

    Where the session is stored, an answer is on the disk before it is used, and may come from
    another process.
    """

    def __init__(self, thread: LoopThread, *, waits_here: bool = True) -> None:
        """Wake the waiting turn in this thread.

        Args:
            thread: That of the session.
            waits_here: Whether a turn waits for answers; else questions that are stored are put off
                at once, and others are not answered in time.
        """
        self._thread = thread
        self._waits_here = waits_here
        self._open: dict[str, _Open] = {}
        self.journal: Any = None
        """What stores the session; None where nothing does."""
        self.put_off: list[Question] = []
        """Those that wait for an answer after the turn has ended."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions without an answer, in the order in which they were asked."""
        open_ones = tuple(self._open.values())
        return tuple(waiting.question for waiting in open_ones if waiting.answer is None)

    def expect(self, question: Question) -> None:
        """Take an answer to this question from now on, which the turn is about to wait for."""
        import anyio

        if question.id not in self._open:
            self._open[question.id] = _Open(question, anyio.Event(), self.journal)

    async def wait(self, question: Question) -> Answer:
        """Wait for the answer to a question.

        Raises:
            ApprovalTimeoutError: Nobody waits for it, and the question cannot be put off.
        """
        from amplifier_core.approval import ASKED_CALL, ApprovalTimeoutError, put_off

        self.expect(question)
        waiting = self._open[question.id]
        call = ASKED_CALL.get()
        if call is not None and call.keeper is not None:
            waiting.journal, waiting.is_kept = call.keeper, True
        try:
            if self._waits_here:
                await self._wait(waiting)
        finally:
            self._open.pop(question.id, None)
        if waiting.answer is not None:
            return waiting.answer
        if not put_off():
            raise ApprovalTimeoutError("the session waits for no answer")
        self.put_off.append(question)
        return False

    async def _wait(self, waiting: _Open) -> None:
        """Wait until a question is answered here or elsewhere, or nobody waits any more."""
        import anyio

        from amplifier_modules.stores import StoreError

        while not waiting.answered.is_set():
            if waiting.is_kept:
                with suppress(StoreError):  # whoever stores next is told
                    await waiting.journal.inbox.look()
                questions = waiting.journal.questions
                asked = questions.find_question(waiting.question.id)
                sent = None if asked is None else questions.find_sent(asked)
                if sent is not None and waiting.answer is None:
                    waiting.answer = _read_kept(sent)
                    return
            with anyio.move_on_after(LOOK_SECONDS if waiting.is_kept else None):
                await waiting.answered.wait()

    @property
    def are_kept(self) -> bool:
        """Whether all that wait are stored."""
        return all(self._open[each.id].is_kept for each in self.questions)

    def stop_waiting(self) -> None:
        """Put off the questions that wait, and those that are asked from now on."""
        self._waits_here = False
        for each in tuple(self._open.values()):
            each.answered.set()

    def forget(self) -> None:
        """Drop the questions of a turn that is over."""
        self._open.clear()

    def take_put_off(self) -> tuple[Question, ...]:
        """Return the questions that the turn has left, once."""
        taken, self.put_off = self.put_off, []
        return tuple(taken)

    def answer(self, question_id: str, answer: Answer) -> None:
        """Answer a question.

        Raises:
            TypeError: The answer is neither a bool nor a text nor an `ApprovalResponse`.
            ValueError: The answer is a text that agrees, though a text denies.
            LookupError: No such question waits, or another process has answered it.
            StoreError: The session is stored, and the answer cannot be.
        """
        check_answer(answer, "the answer is")
        waiting = self._open.get(question_id)
        if waiting is None or waiting.answer is not None:
            raise LookupError(f"no question `{question_id}` waits for an answer")
        waiting.answer = answer
        try:
            first = _store_answer(waiting, answer)
        except BaseException:
            waiting.answer = None
            raise
        if first is not None:
            waiting.answer = _read_kept(first)
        self._thread.call(waiting.answered.set)
        if first is not None:
            raise LookupError(f"question `{question_id}` was answered by another process before")


def _store_answer(waiting: _Open, answer: Answer) -> KeptAnswer | None:
    """Store the answer to a question that is stored; return the one before it, if there is one."""
    journal = waiting.journal
    asked = None if journal is None else journal.questions.find_question(waiting.question.id)
    if journal is None or asked is None:
        return None
    kept = keep_answer(asked, answer)
    journal.inbox.put_answer(kept)
    first: KeptAnswer | None = journal.questions.find_sent(asked)
    return None if first == kept else first


def keep_answer(question: KeptQuestion, answer: Answer) -> KeptAnswer:
    """Return an answer to a question in the form in which it is stored."""
    from amplifier_core.approval import SESSION_GRANT
    from amplifier_modules.loops.boundary.kept_questions import KeptAnswer

    approved = answer is True or getattr(answer, "approved", False)
    words = answer if isinstance(answer, str) else getattr(answer, "reason", None)
    remembers = bool(approved) and getattr(answer, "remember", False) is True
    parts = getattr(answer, "parts", None) if approved else None
    reason = None if not words or (approved and parts is None) else str(words)
    return KeptAnswer(
        question_id=question.question_id,
        approved=bool(approved),
        reason=reason,
        grant=SESSION_GRANT if remembers else "",
        parts=None if parts is None else list(parts),
        shown=question.digest,
        answer_id=world.random_bytes(16).hex(),
    )


def _read_kept(answer: KeptAnswer) -> Answer:
    """Return a stored answer in the form in which it was given."""
    remembers = bool(answer.grant)
    if answer.approved and answer.parts is not None:
        from .partial_approval import PartialApproval

        return PartialApproval(parts=list(answer.parts), remember=remembers, reason=answer.reason)
    if not answer.approved or not remembers:
        return answer.approved or answer.reason or False
    from amplifier_core.models import ApprovalResponse

    return ApprovalResponse(approved=True, remember=True)


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
    def __init__(self, question: Question, answered: Any, journal: Any) -> None:
        self.question = question
        self.answered = answered
        self.journal = journal
        """What stores the session that asks, which may be one of a sub-agent."""
        self.answer: Answer | None = None
        self.is_kept = False
        """Whether it is stored."""


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
