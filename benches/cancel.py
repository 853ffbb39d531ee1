"""What it costs to cancel 1,000 sessions that wait in a model call, until each history is valid."""

from __future__ import annotations

import asyncio
import gc
import time
from importlib.util import find_spec
from typing import Any

from side_by_side import Figure, Times, run

SESSIONS = 1000
LIMIT_SECONDS = 0.001
"""CPU seconds of one session, at most."""
PLAN = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}


class Waiting:
    """A provider that never answers."""

    name = "waiting"

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, request: Any, **options: Any) -> Any:
        from anyio import sleep_forever

        self.calls += 1
        await sleep_forever()


async def cancel() -> float:
    """CPU seconds of a session from the request until its turn has returned."""
    import anyio

    from amplifier_core import AmplifierSession

    provider, sessions = Waiting(), []
    for _ in range(SESSIONS):
        session = AmplifierSession(PLAN)
        await session.initialize()
        await session.coordinator.mount("providers", provider)
        sessions.append(session)
    answers: list[str] = []

    async def turn(session: Any) -> None:
        answers.append(await session.execute("Wait."))

    async with anyio.create_task_group() as group:
        for session in sessions:
            group.start_soon(turn, session)
        while provider.calls < SESSIONS:
            await anyio.lowlevel.checkpoint()
        gc.collect()
        start = time.process_time()
        for session in sessions:
            session.coordinator.cancellation.request_immediate()
        while len(answers) < SESSIONS:
            await anyio.lowlevel.checkpoint()
        elapsed = time.process_time() - start
    for session in sessions:
        history = await session.coordinator.get("context").get_messages()
        assert [message["role"] for message in history] == ["user"]
        await session.cleanup()
    assert answers == [""] * SESSIONS
    return elapsed / SESSIONS


def measure() -> Times:
    """Each event loop that is installed, in a process of its own."""
    if find_spec("amplifier_modules") is None:
        return {}
    times = {"limit": LIMIT_SECONDS, "asyncio": asyncio.run(cancel())}
    if find_spec("trio"):
        import trio

        times["trio"] = trio.run(cancel)
    return times


if __name__ == "__main__":
    names = ["asyncio", *(["trio"] if find_spec("trio") else [])]
    run(
        __file__,
        measure,
        "cancelling a session, against 1 ms",
        [Figure(name, name, share=1, against="limit") for name in names],
    )
