"""Questions of sessions that are stored, and their answers, from any process."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from amplifier_modules.loops.boundary.kept_questions import KeptQuestion
from amplifier_modules.stores import Store
from amplifier_modules.stores.inbox import ANSWER
from amplifier_modules.stores.stored_history import read_history

from .approvals import check_answer, keep_answer
from .event import Question
from .plan import Parts
from .stored import open_store

if TYPE_CHECKING:
    from .approvals import Answer


async def list_questions(parts: Parts, session_id: str) -> list[Question]:
    """Return the questions of a session that can be answered.

    Raises:
        ConfigurationError: The agent has no store.
        StoreError: The session is not stored, or cannot be read.
    """
    async with open_store(parts) as store:
        asked = await _list_open(store, session_id)
    return [_show(each) for each in asked if not each.is_late]


async def answer_question(parts: Parts, session_id: str, question_id: str, answer: Answer) -> None:
    """Store the answer to a question.

    Raises:
        TypeError: The answer is neither a bool nor a text nor an `ApprovalResponse`.
        ValueError: The answer is a text that agrees.
        LookupError: No such question waits, or its time has passed.
        ConfigurationError: The agent has no store.
        StoreError: The session is not stored, or the store cannot be used.
    """
    check_answer(answer, "the answer is")
    async with open_store(parts) as store:
        for each in await _list_open(store, session_id):
            if each.question_id == question_id:
                if each.is_late:
                    raise LookupError(
                        f"the time to answer question `{question_id}` has passed, which denies it"
                    )
                await store.put(session_id, ANSWER, asdict(keep_answer(question_id, answer)))
                return
    raise LookupError(f"no question `{question_id}` of session `{session_id}` waits for an answer")


async def _list_open(store: Store, session_id: str) -> list[KeptQuestion]:
    """Return the questions without an answer, in the order in which they were asked."""
    history = read_history(await store.read(session_id))
    entries = await store.inbox(session_id)
    answered = {each.body["question_id"] for each in entries if each.kind == ANSWER}
    answered |= history.answers.keys()
    asked = [KeptQuestion(**row) for row in history.questions.values()]
    return [each for each in asked if each.question_id not in answered]


def _show(kept: KeptQuestion) -> Question:
    return Question(
        id=kept.question_id,
        tool_name=kept.tool_name,
        arguments=dict(kept.arguments),
        action=kept.prompt,
        risk_level="medium",
        timeout=kept.seconds_left,
    )
