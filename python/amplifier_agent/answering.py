"""Questions of sessions that are stored, and their answers, from any process."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

from amplifier_core.events import APPROVAL_DENIED, APPROVAL_GRANTED
from amplifier_modules.loops.boundary.kept_questions import KeptAnswer, KeptQuestion
from amplifier_modules.stores import Store, UnknownSessionError
from amplifier_modules.stores.inbox import ANSWER, CONTINUE, put_due
from amplifier_modules.stores.store import InboxEntry
from amplifier_modules.stores.stored_history import read_history

from .approvals import check_answer, keep_answer
from .event import Question
from .plan import Parts
from .stored import open_store

if TYPE_CHECKING:
    from .approvals import Answer


_Asked: TypeAlias = tuple[str, KeptQuestion]
"""A question, and the id of the session that asks: this one, or one of a sub-agent."""


async def list_questions(parts: Parts, session_id: str) -> list[Question]:
    """Return the questions of a session that can be answered.

    Raises:
        ConfigurationError: The agent has no store.
        StoreError: The session is not stored, or cannot be read.
    """
    async with open_store(parts) as store:
        return await list_stored_questions(store, session_id)


async def list_stored_questions(store: Store, session_id: str) -> list[Question]:
    """Return the questions of a session in a store; as `list_questions`."""
    asked = await _list_open(store, session_id)
    return [_show(each) for _, each in asked if not each.is_late]


async def answer_question(parts: Parts, session_id: str, question_id: str, answer: Answer) -> None:
    """Store the answer to a question.

    Raises:
        TypeError: The answer is neither a bool nor a text nor an `ApprovalResponse`.
        ValueError: The answer is a text that agrees.
        LookupError: No such question waits, its time has passed, or another was the first to
            answer it.
        ConfigurationError: The agent has no store.
        StoreError: The session is not stored, or the store cannot be used.
    """
    async with open_store(parts) as store:
        await answer_stored_question(store, session_id, question_id, answer)


async def answer_stored_question(
    store: Store, session_id: str, question_id: str, answer: Answer
) -> None:
    """Store the answer to a question of a session in a store; as `answer_question`."""
    check_answer(answer, "the answer is")
    asking_id, asked = await _find_open(store, session_id, question_id)
    kept = keep_answer(asked, answer)
    if asking_id == session_id:
        entry = await put_due(store, session_id, ANSWER, asdict(kept))
    else:
        entry = await store.put(asking_id, ANSWER, asdict(kept))
        if await _is_run_by_workers(store, session_id):
            # They take sessions of agents, of which a sub-agent's is none.
            await put_due(store, session_id, CONTINUE, {})
    if not await _is_first(store, asking_id, asked, kept, entry):
        raise LookupError(f"question `{question_id}` was answered by another process before")


async def _is_run_by_workers(store: Store, session_id: str) -> bool:
    first = (await store.read(session_id, until=1))[0]
    return first.body["meta"].get("agent") is not None


async def _find_open(store: Store, session_id: str, question_id: str) -> _Asked:
    for asking_id, each in await _list_open(store, session_id):
        if each.question_id != question_id:
            continue
        if each.is_late:
            raise LookupError(
                f"the time to answer question `{question_id}` has passed, which denies it"
            )
        return asking_id, each
    raise LookupError(f"no question `{question_id}` of session `{session_id}` waits for an answer")


async def _is_first(
    store: Store, session_id: str, asked: KeptQuestion, kept: KeptAnswer, entry: int
) -> bool:
    """Whether an answer that was stored is the one that counts."""
    sent = await store.inbox(session_id)
    # In this order: what is used leaves the inbox in the transaction that stores its event.
    ends = (APPROVAL_GRANTED, APPROVAL_DENIED)
    used = [each.body for each in await store.read(session_id) if each.kind in ends]
    for body in used:
        if body["question_id"] == asked.question_id:
            return body.get("answer_id") == kept.answer_id
    return all(each.id >= entry for each in _list_answers(sent, asked))


def _list_answers(entries: Iterable[InboxEntry], asked: KeptQuestion) -> list[InboxEntry]:
    """Return the answers to a question that were not used, the first one first."""
    answers = (each for each in entries if each.kind == ANSWER)
    return [each for each in answers if asked.is_answered_by(KeptAnswer(**each.body))]


async def _list_open(store: Store, session_id: str) -> list[_Asked]:
    """Return the questions without an answer, then those of the sub-agents that the turn waits for."""
    history = read_history(await store.read(session_id))
    entries = await store.inbox(session_id)
    asked = [KeptQuestion(**row) for row in history.questions.values()]
    found = [
        (session_id, each)
        for each in asked
        if each.question_id not in history.answers and not _list_answers(entries, each)
    ]
    for child_id in [child_id for tasks in history.tasks.values() for child_id in tasks]:
        with suppress(UnknownSessionError):  # nothing has happened in it
            found += await _list_open(store, child_id)
    return found


def _show(kept: KeptQuestion) -> Question:
    return Question(
        id=kept.question_id,
        tool_name=kept.tool_name,
        arguments=dict(kept.arguments),
        action=kept.prompt,
        risk_level="medium",
        timeout=kept.seconds_left,
    )
