"""One interrupted turn and the turn after it, and all that must hold for both."""

from __future__ import annotations

import asyncio
from typing import Any

import expected
import pairs
import trio
from interrupting import REQUESTS, with_an_end, with_an_end_on_trio, with_the_error_thrown
from scripted import ANSWER, PROMPTS
from subject import Record, Subject

from amplifier_modules.contexts.simple import SimpleContext

CANCELLED = (asyncio.CancelledError, trio.Cancelled)
ASKED = [act for _, act in REQUESTS.values()]


async def interrupted_turn(
    session_class: Any,
    loop: str,
    calls: int,
    interrupt: Any,
    at: int,
    context_class: Any = SimpleContext,
) -> tuple[int, Any]:
    """Run a turn that is interrupted at one suspension, and check all that must hold then.

    Returns:
        How often the turn was suspended, and what came of it.
    """
    subject = Subject(session_class, loop, calls, context_class)
    session = subject.session
    await session.initialize()
    token, before = session.coordinator.cancellation, subject.registrations()

    count, outcome = await interrupt(session.execute(PROMPTS[0]), at, token)

    first, begun = subject.record, await subject.history()
    check(
        subject, PROMPTS[0], begun, is_immediate=interrupt not in (with_an_end, with_an_end_on_trio)
    )
    assert subject.registrations() == before
    assert token.running_tools == set()
    assert session.initialized
    if interrupt in ASKED:
        assert token.is_cancelled == bool(at)
        assert outcome == expected.response_of(first)
        token.reset()
    else:
        assert not token.is_cancelled
        # Nobody but the caller of a turn cancels it: the one error is that of a call or a hook.
        survives = interrupt is with_the_error_thrown and expected.was_finished(first)
        assert outcome in CANCELLED or at == 0 or survives
    if interrupt is not with_the_error_thrown:
        assert expected.failed(first) == []
        assert first.begun == [call for call in first.approved if call in first.begun]
    if expected.failed(first):
        assert len(expected.failed(first)) == 1
        assert outcome == ANSWER

    subject.record = second = Record()
    assert await session.execute(PROMPTS[1]) == ANSWER
    assert len(expected.stored(second)) == 2
    assert expected.was_finished(second)
    whole = await subject.history()
    assert whole[: len(begun)] == begun
    check(subject, PROMPTS[1], whole[len(begun) :])
    assert subject.registrations() == before

    await session.cleanup()
    assert subject.cleaned == [1]
    return count, outcome


def check(
    subject: Subject, prompt: str, found: list[dict[str, Any]], *, is_immediate: bool = True
) -> None:
    """Check what a turn has stored and told."""
    record, is_early = subject.record, subject.loop == "early"
    assert found == expected.history(record, prompt, found, is_early=is_early)
    assert expected.unanswered(record, found) == set()
    name = "loop-tagged" if is_early else subject.loop
    told = expected.closing_told(record)
    closing = expected.closing(record, name, is_immediate=is_immediate)
    if subject.session.coordinator.cancellation.is_cancelled and expected.was_finished(record):
        # Asked for when the turn was over: the session says that nothing runs any more.
        closing.append(("cancel:completed", {"was_immediate": is_immediate}))
    assert told == closing
    assert pairs.problems(record.told) == []
