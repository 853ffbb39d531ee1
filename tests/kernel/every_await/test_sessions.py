"""A session cancelled at its k-th suspension while it begins or ends, for every k."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import trio
from scripted import ANSWER, PROMPTS, suspend
from subject import Subject


async def test_a_session_can_be_cancelled_at_every_await_of_its_initialisation(
    session_class, interrupt
):
    suspensions, _ = await interrupted_beginning(session_class, interrupt, at=0)
    assert suspensions == 2 * 4

    for at in range(1, suspensions + 1):
        _, outcome = await interrupted_beginning(session_class, interrupt, at)
        assert outcome in (asyncio.CancelledError, trio.Cancelled)


async def interrupted_beginning(session_class: Any, interrupt: Any, at: int) -> tuple[int, Any]:
    """Initialise a session whose modules suspend, are interrupted, and are asked again."""
    subject = Subject(session_class, "loop-basic", calls=1)
    session = subject.session
    loader = subject.loader
    undone: list[str] = []

    def suspending(name: str, mount: Any) -> Any:
        async def suspended(coordinator: Any, config: Any) -> Any:
            await suspend()
            await mount(coordinator, config)
            await suspend()
            return lambda: undone.append(name)

        return suspended

    loader.mounts = {name: suspending(name, mount) for name, mount in loader.mounts.items()}
    before = subject.registrations()

    outcome = await interrupt(session.initialize(), at)

    assert session.initialized == (at == 0)
    assert subject.registrations() == before
    await session.initialize()
    assert session.initialized
    assert await session.execute(PROMPTS[0]) == ANSWER
    await session.cleanup()
    assert undone[:4] == ["tool", "provider", "context", "loop-basic"]
    return outcome


async def test_a_clean_up_can_be_cancelled_at_every_await(session_class, interrupt):
    suspensions, _ = await interrupted_end(session_class, interrupt, at=0)
    assert suspensions == 3 + 1

    for at in range(1, suspensions + 1):
        await interrupted_end(session_class, interrupt, at)


async def interrupted_end(session_class: Any, interrupt: Any, at: int) -> tuple[int, Any]:
    """Clean a session up; whatever interrupts that, each clean-up function begins just once."""
    subject = Subject(session_class, "loop-basic", calls=1)
    session = subject.session
    session.coordinator.hooks.register("session:end", subject.observe)
    ran: list[int] = []

    def cleans(number: int) -> Callable[[], Awaitable[None]]:
        async def clean() -> None:
            ran.append(number)
            await suspend()

        return clean

    for number in range(3):
        session.coordinator.register_cleanup(cleans(number))
    await session.initialize()

    outcome = await interrupt(session.cleanup(), at)
    await session.cleanup()

    assert ran == [2, 1, 0]
    assert subject.cleaned == [1]
    assert not session.initialized
    return outcome
