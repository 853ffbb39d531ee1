"""What a session holds between its turns."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from amplifier_agent import Agent, ScriptedProvider, Session
from amplifier_core import RUST_AVAILABLE

SESSIONS = 50
MOST_BYTES = 11_500
"""Of a session after one short turn, its conversation and its last result included."""


@pytest.mark.skipif(not RUST_AVAILABLE, reason="of the extension, whose objects are smaller")
async def test_a_session_at_rest_holds_little():
    model = ScriptedProvider(["It is a short answer."], repeat=True)
    agent = Agent(model)

    async def rest() -> Session:
        session = await agent.session().__aenter__()
        await session.run("Say something.")
        model.requests.clear()
        return session

    sessions = [
        await rest() for _ in range(SESSIONS)
    ]  # what all of them share is there from now on
    gc.collect()
    tracemalloc.start()
    try:
        sessions += [await rest() for _ in range(SESSIONS)]
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        for session in sessions:
            await session.__aexit__(None, None, None)
    assert held / SESSIONS < MOST_BYTES
