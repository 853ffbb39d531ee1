"""A turn cancelled at its k-th suspension, for every k: whole before, whole afterwards."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import expected
import pytest
import trio
from interrupting import WAYS, with_the_error_thrown
from subject import ANSWER, PROMPTS, Record, SlowContext, Subject

from amplifier_modules.contexts.simple import SimpleContext


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

    count, outcome = await interrupt(session.execute(PROMPTS[0]), at)

    first = subject.record
    assert await subject.history() == expected.history(first, PROMPTS[0])
    assert expected.closing_told(first) == expected.closing(first, loop)
    assert outcome != ANSWER or expected.was_finished(first)
    assert subject.registrations() == before
    assert token.running_tools == set()
    assert not token.is_cancelled
    assert session.initialized

    subject.record = second = Record()
    assert await session.execute(PROMPTS[1]) == ANSWER
    assert len(expected.stored(second)) == 2
    assert await subject.history() == [
        *expected.history(first, PROMPTS[0]),
        *expected.history(second, PROMPTS[1]),
    ]
    assert expected.closing_told(second) == expected.closing(second, loop)
    assert expected.was_finished(second)
    assert subject.registrations() == before

    await session.cleanup()
    assert subject.cleaned == [1]
    return count, outcome


@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
@pytest.mark.parametrize("calls", [1, 2])
async def test_a_turn_can_be_cancelled_at_every_await(session_class, loop, calls, interrupt):
    """Every suspension is one of the turn's tasks giving way to the event loop."""
    suspensions, answer = await interrupted_turn(session_class, loop, calls, interrupt, at=0)
    assert answer == ANSWER
    assert suspensions > 20

    outcomes = set()
    for at in range(1, suspensions + 1):
        count, outcome = await interrupted_turn(session_class, loop, calls, interrupt, at)
        assert count >= at
        outcomes.add(outcome)
    gc.collect()  # a coroutine that was never awaited would warn here

    # Thrown into a hook, a bare error is that hook's own failure; a cancellation is the turn's.
    survived = {ANSWER} if interrupt is with_the_error_thrown else set()
    assert outcomes - survived in ({asyncio.CancelledError}, {trio.Cancelled})


@pytest.mark.parametrize("way", [WAYS["scope"], WAYS["trio"]], ids=["scope", "trio"])
async def test_what_is_being_stored_is_stored_whole_when_its_scope_is_cancelled(
    session_class, interrupt
):
    """A scope is heard of in every await that is not shielded, so also between two results."""
    turn = (session_class, "loop-basic", 2, interrupt)
    suspensions, answer = await interrupted_turn(*turn, at=0, context_class=SlowContext)
    assert answer == ANSWER

    for at in range(1, suspensions + 1):
        await interrupted_turn(*turn, at, context_class=SlowContext)
