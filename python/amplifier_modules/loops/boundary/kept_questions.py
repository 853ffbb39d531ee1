"""Questions about tool calls that outlive their process: as rows of a journal, and on their way back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, Protocol

from amplifier_core import world
from amplifier_core.approval import AskedCall, Reply, clip_prompt
from amplifier_core.events import APPROVAL_DENIED, APPROVAL_GRANTED, APPROVAL_REQUIRED
from amplifier_core.models import HookResult
from amplifier_core.session_capabilities import SESSION_WORKING_DIR

from .call_approval import find_folder, seconds_of


class Rows(Protocol):
    """Where the rows of a session go: its journal."""

    def note(self, kind: str, body: Any, done: Iterable[int] = ()) -> int:
        """Take note of a row that uses these entries of the inbox."""
        ...

    def note_done(self, entries: Iterable[int]) -> None:
        """Take note that entries of the inbox have no use any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """What a person has answered."""

    question_id: str
    approved: bool
    reason: str | None = None
    """What whoever denies says to the model, or agrees to some parts alone."""
    grant: str = ""
    """What is granted beyond the call; see `amplifier_core.approval.Reply`."""
    parts: Sequence[str] | None = None
    """The parts that are agreed to; None for all."""
    shown: str = ""
    """The `digest` of the question that was answered: one to anything else does not count."""
    answer_id: str = ""
    """Its own name, by which whoever gave it knows whether it was the first."""
    by: str = ""
    """The process that gave it, as the owner of a session is named; empty for the one that asked."""


@dataclass(slots=True, kw_only=True)
class KeptQuestion:
    """A question about a tool call, as its row has it."""

    question_id: str
    tool_call_id: str
    tool_name: str
    arguments: Mapping[str, Any]
    prompt: str
    folder: str
    """Where the call is to run."""
    timeout: float | None
    """Seconds that a person has to answer; None for no limit."""
    asked_at: float
    """When it was asked first, in seconds since the epoch."""
    effect: str = ""
    """What the call does, as far as that is known."""
    parts: Sequence[str] = ()
    """What of it can be agreed to alone."""
    hash: str = ""
    """The hash of the effect that is shown, where it exists already."""
    resume: Mapping[str, Any] | None = None
    """What the tool needs to go on with a call that asks while it runs; None before a call."""
    session_id: str = ""
    epoch: int = 0
    """The claim of the session under which it was asked first."""
    answer: KeptAnswer | None = None

    @property
    def seconds_left(self) -> float | None:
        """How long a person has left to answer; None for no limit."""
        return None if self.timeout is None else self.asked_at + self.timeout - world.time()

    @property
    def is_late(self) -> bool:
        """Whether the time to answer has passed."""
        left = self.seconds_left
        return left is not None and left <= 0

    @property
    def digest(self) -> str:
        """What an answer must name: it is of this question, with this effect and under this claim."""
        asked = (self.question_id, self.session_id, self.epoch, self.tool_call_id, self.tool_name)
        shown = (self.prompt, self.folder, self.hash, list(self.parts))
        return sha256(json.dumps([*asked, *shown]).encode()).hexdigest()

    def is_same(self, other: KeptQuestion) -> bool:
        """Whether a person who answers one has answered the other: the same call, shown the same."""
        return self._list_shown() == other._list_shown()

    def _list_shown(self) -> tuple[str, ...]:
        arguments = json.dumps(self.arguments, sort_keys=True, default=repr)
        call = self.tool_call_id, self.tool_name, arguments
        return *call, self.prompt, self.folder, self.hash

    def is_answered_by(self, answer: KeptAnswer) -> bool:
        """Whether an answer is to this question, as it was shown."""
        return answer.question_id == self.question_id and answer.shown == self.digest

    def describe(self) -> dict[str, Any]:
        """Return its row."""
        row = asdict(self)
        del row["answer"]
        return row


@dataclass(frozen=True, slots=True)
class RunningCall:
    """Where a question of a call that runs belongs, and what its tool needs to go on with it."""

    call_id: str
    resume: Mapping[str, Any]
    hash: str = ""
    """The hash of the effect that is shown."""


class KeptQuestions:
    """The questions of a session that have no end yet: asked, and their calls have not started."""

    def __init__(
        self,
        journal: Rows,
        rows: Mapping[str, Mapping[str, Any]],
        answers: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """Begin with what is stored.

        Args:
            journal: Where their rows go.
            rows: The rows of the questions, by the ids of their calls.
            answers: The rows of the answers that were used, by the ids of their questions.
        """
        self._journal = journal
        self._questions = {call: KeptQuestion(**row) for call, row in rows.items()}
        for each in self._questions.values():
            if (answer := answers.get(each.question_id)) is not None:
                each.answer = KeptAnswer(**answer)
        self._sent: dict[int, KeptAnswer] = {}
        """Answers from the inbox that were not used, by the ids of their entries."""

    def has_call(self, call_id: str) -> bool:
        """Whether a person was asked whether a call may run that has not started."""
        return call_id in self._questions and self._questions[call_id].resume is None

    def find_asking(self, call_id: str) -> KeptQuestion | None:
        """Return what a call has asked that had started; None if it has asked nothing."""
        found = self._questions.get(call_id)
        return None if found is None or found.resume is None else found

    def list_asking(self) -> Iterator[Mapping[str, Any]]:
        """Yield what the tools need of the calls that have started and asked something."""
        for each in self._questions.values():
            if each.resume is not None:
                yield each.resume

    def keep(
        self,
        asked: AskedCall,
        result: Any,
        coordinator: Any,
        running: RunningCall | None = None,
        epoch: int = 0,
    ) -> KeptQuestion:
        """Return the question that is asked: the stored one if it is the same, else a new row.

        Args:
            asked: The call.
            result: What asks.
            coordinator: The coordinator of the session.
            running: The call that asks while it runs; None before a call.
            epoch: How often the session was claimed.
        """
        folder = coordinator.get_capability(SESSION_WORKING_DIR) or find_folder()
        question = KeptQuestion(
            question_id=asked.question_id,
            tool_call_id=asked.call_id if running is None else running.call_id,
            tool_name=asked.tool_name,
            arguments=asked.arguments,
            prompt=str(getattr(result, "approval_prompt", None) or ""),
            folder=str(folder),
            timeout=seconds_of(result),
            asked_at=world.time(),
            effect=asked.effect,
            parts=list(asked.parts),
            hash="" if running is None else running.hash,
            resume=None if running is None else dict(running.resume),
            session_id=str(getattr(coordinator, "session_id", "") or ""),
            epoch=epoch,
        )
        before = self._questions.get(question.tool_call_id)
        if before is not None and before.is_same(question):
            return before
        self._questions[question.tool_call_id] = question
        self._journal.note(APPROVAL_REQUIRED, question.describe())
        return question

    def find_question(self, question_id: str) -> KeptQuestion | None:
        """Return one of the questions by its id."""
        found = (each for each in self._questions.values() if each.question_id == question_id)
        return next(found, None)

    def find_sent(self, question: KeptQuestion) -> KeptAnswer | None:
        """Return the first answer that came and was not used; None if there is none."""
        sent = (self._sent[entry] for entry in sorted(self._sent))
        return next((each for each in sent if question.is_answered_by(each)), None)

    def find_answer(self, question: KeptQuestion) -> KeptAnswer | None:
        """Return what a person has answered already; None if nobody has."""
        return question.answer or self.find_sent(question)

    def has_sent(self) -> bool:
        """Whether answers came that were not used."""
        return bool(self._sent)

    def drop_unusable(self) -> None:
        """Drop the answers that came to none of the questions that wait."""
        open_ones = list(self._questions.values())
        unusable = [
            entry
            for entry, answer in self._sent.items()
            if not any(each.is_answered_by(answer) for each in open_ones)
        ]
        for entry in unusable:
            del self._sent[entry]
        self._journal.note_done(unusable)

    def take_entry(self, entry: int, body: Mapping[str, Any]) -> None:
        """Take an answer from the inbox; the first to a question counts."""
        self._sent[entry] = KeptAnswer(**body)

    def end(self, question: KeptQuestion, answer: Any, reply: Reply) -> None:
        """Take note of how a question ended.

        Args:
            question: The question.
            answer: The result of the hook, as the answer leaves it.
            reply: What else is known of the answer.
        """
        is_denied = getattr(answer, "action", None) == "deny"
        sent = self.find_sent(question)
        of_it = [id for id, each in self._sent.items() if each.question_id == question.question_id]
        for entry in of_it:
            del self._sent[entry]
        if question.answer is not None:
            self._journal.note_done(of_it)
            return
        question.answer = sent or keep_reply(question, reply, is_denied=is_denied)
        kind = APPROVAL_DENIED if is_denied else APPROVAL_GRANTED
        self._journal.note(kind, asdict(question.answer), of_it)

    def forget(self, call_id: str) -> None:
        """Forget the question about a call that starts, or has ended."""
        self._questions.pop(call_id, None)

    def clear(self) -> None:
        """Forget all questions: the turn is over that asked them."""
        self._questions.clear()
        self._journal.note_done(list(self._sent))
        self._sent.clear()


def keep_reply(question: KeptQuestion, reply: Reply, *, is_denied: bool) -> KeptAnswer:
    """Return the answer of whoever was asked here in the form in which it is stored."""
    return KeptAnswer(
        question_id=question.question_id,
        approved=not is_denied,
        reason=reply.words if reply.words and (is_denied or reply.parts is not None) else None,
        grant="" if is_denied else reply.grant,
        parts=None if is_denied or reply.parts is None else list(reply.parts),
        shown=question.digest,
        answer_id=world.random_bytes(16).hex(),
    )


def answer_as_result(answer: KeptAnswer, result: Any) -> HookResult:
    """Return what a hook's question comes to, as the kernel would for this answer."""
    if answer.approved:
        allowed = HookResult(action="continue")
        return allowed.model_copy(update={"data": getattr(result, "data", None)})
    prompt = clip_prompt(str(getattr(result, "approval_prompt", None) or ""))
    return HookResult(action="deny", reason=f"User denied: {prompt}")


def lateness_as_result(result: Any) -> HookResult:
    """Return what a question comes to whose time has passed."""
    prompt = clip_prompt(str(getattr(result, "approval_prompt", None) or ""))
    return HookResult(action="deny", reason=f"Approval timeout - denied by default: {prompt}")
