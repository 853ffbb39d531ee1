"""An answer that another process has given to a question that is open here."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amplifier_core.approval import AskedCall
    from amplifier_modules.stores import Store

_MAX_CHARS = 100


@dataclass(frozen=True)
class GivenAnswer:
    """What another process has answered."""

    is_granted: bool
    by: str
    """Who has answered, as `describe_owner` says it."""
    words: str = ""
    """Why it is denied."""

    def describe(self, question: str) -> str:
        """Return the line that says what was answered, and by whom; safe to show.

        Args:
            question: What was asked.
        """
        from amplifier_app.known_secrets import SECRETS

        said = "allowed" if self.is_granted else "denied"
        words = f' ("{self.words}")' if self.words else ""
        first = next((line for line in question.splitlines() if line.strip()), "")
        return SECRETS.write_line(f"{said} {self.by}{words}: {first}", 2 * _MAX_CHARS)


async def find_given_answer(call: AskedCall) -> GivenAnswer | None:
    """Return what another process has answered to a question that is stored; None for nothing."""
    from amplifier_modules.stores import StoreError

    journal = call.keeper
    if journal is None:
        return None
    with suppress(StoreError):  # whoever stores next says what is wrong
        await journal.inbox.look()
    question = journal.questions.find_question(call.question_id)
    sent = None if question is None else journal.questions.find_sent(question)
    return None if sent is None else read_given(sent)


def read_given(kept: Any) -> GivenAnswer:
    """Return a `KeptAnswer` as a line shows it."""
    return GivenAnswer(kept.approved, describe_owner(kept.by), kept.reason or "")


def describe_owner(owner: str) -> str:
    """Return who has answered, as a line says it.

    Args:
        owner: The process, named as the owner of a session; empty for the one that asked.
    """
    host, process, *_ = [*owner.split(":"), ""]
    if not process.isdecimal():
        return "where it was asked"
    if host != socket.gethostname():
        return f"by process {process} of {host}"
    return "by this process" if int(process) == os.getpid() else f"by process {process}"


async def find_last_answer(
    store: Store, session_id: str, question_id: str | None
) -> tuple[GivenAnswer, str] | None:
    """Return how the last question of a session was answered, and what it was; None for none.

    Args:
        store: Where the session is.
        session_id: The session; what its sub-agents ask counts, too.
        question_id: The beginning of the id of the question; None for the last one.
    """
    from amplifier_core.events import APPROVAL_DENIED, APPROVAL_GRANTED, APPROVAL_REQUIRED
    from amplifier_modules.loops.boundary.kept_questions import KeptAnswer
    from amplifier_modules.stores.inbox import ANSWER

    found: list[tuple[float, KeptAnswer, str]] = []
    infos = await store.sessions()
    ids = [session_id, *(each.id for each in infos if each.parent == session_id)]
    for id in ids:
        asked: dict[str, Any] = {}
        answers: list[Any] = []
        for event in await store.read(id):
            if event.kind == APPROVAL_REQUIRED:
                asked[event.body["question_id"]] = event.body
            elif event.kind in (APPROVAL_GRANTED, APPROVAL_DENIED):
                answers.append(event.body)
        sent = [each.body for each in await store.inbox(id) if each.kind == ANSWER]
        for answer in (KeptAnswer(**each) for each in [*answers, *reversed(sent)]):
            question = asked.get(answer.question_id)
            if question is not None and answer.question_id.startswith(question_id or ""):
                found.append((question["asked_at"], answer, question["prompt"]))
    if not found:
        return None
    _, last, prompt = max(found, key=lambda each: each[0])
    return read_given(last), prompt
