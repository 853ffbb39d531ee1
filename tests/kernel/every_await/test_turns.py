"""A turn cancelled at its k-th suspension, for every k: whole before, whole afterwards."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
import trio
from engines import on_both_engines
from interrupting import WAYS, with_the_error_thrown
from scripted import ANSWER, LOOPS, SlowContext
from turns import interrupted_turn


@on_both_engines("loop", [*LOOPS])
async def test_a_turn_can_be_cancelled_at_every_await(session_class, loop, interrupt):
    """Every suspension is one of the turn's tasks giving way to the event loop."""
    outcomes = await all_outcomes(session_class, loop, interrupt)

    # Thrown into a hook or a tool, a bare error is its own failure; a cancellation is the turn's.
    survived = {ANSWER} if interrupt is with_the_error_thrown else set()
    assert outcomes - survived in ({asyncio.CancelledError}, {trio.Cancelled})


@on_both_engines("loop", [*LOOPS])
async def test_a_turn_can_be_asked_to_end_at_every_await(session_class, loop, asking):
    """What was asked for is no error: the turn returns what there is."""
    outcomes = await all_outcomes(session_class, loop, asking[1])
    assert outcomes >= {ANSWER, ""}


@pytest.mark.parametrize("way", [WAYS["scope"], WAYS["trio"]], ids=["scope", "trio"])
async def test_what_is_being_stored_is_stored_whole_when_its_scope_is_cancelled(
    session_class, interrupt
):
    """A scope is heard of in every await that is not shielded, so also between two results."""
    await all_outcomes(session_class, "loop-basic", interrupt, SlowContext)


async def all_outcomes(
    session_class: Any, loop: str, interrupt: Any, *context_class: Any
) -> set[Any]:
    """Interrupt a turn of two calls at every suspension; what came of it each time."""
    turn = (session_class, loop, 2, interrupt)
    suspensions, answer = await interrupted_turn(*turn, 0, *context_class)
    assert answer == ANSWER
    assert suspensions > 30

    outcomes = set()
    for at in range(1, suspensions + 1):
        count, outcome = await interrupted_turn(*turn, at, *context_class)
        assert count >= at
        outcomes.add(outcome)
    gc.collect()  # a coroutine that was never awaited would warn here
    return outcomes
