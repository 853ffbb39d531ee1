"""What an agent adds to a turn on a bare session, what many at once cost, and what its import costs."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Any

from side_by_side import Figure, Times, import_time, run, time_each

SESSIONS = 1000
ANSWER = "It is a short answer of a few words."
PLAN = {"session": {"orchestrator": "loop-streaming", "context": "context-simple", "strict": True}}
OURS = "from amplifier_agent import Agent, tool"
THEIRS = "import pydantic_ai"


async def bare_turn(model: Any) -> str:
    """One turn on a session of the kernel."""
    from amplifier_core import AmplifierSession

    async with AmplifierSession(PLAN) as session:
        await session.coordinator.mount("providers", model, name=model.name)
        return await session.execute("Say something.")


async def measure_turns() -> Times:
    """A turn both ways, and many in a row and at once."""
    from amplifier_agent import Agent, ScriptedProvider

    model = ScriptedProvider([ANSWER], repeat=True)
    agent = Agent(model)

    async def bare(times: int) -> None:
        for _ in range(times):
            assert await bare_turn(model) == ANSWER
            model.requests.clear()

    async def with_agent(times: int) -> None:
        for _ in range(times):
            assert (await agent.run("Say something.")).text == ANSWER
            model.requests.clear()

    async def at_once(times: int) -> None:
        for _ in range(times):
            asked = [agent.run("Say something.") for _ in range(SESSIONS)]
            assert {result.text for result in await asyncio.gather(*asked)} == {ANSWER}
            model.requests.clear()

    return {
        "bare": await time_each(bare),
        "agent": await time_each(with_agent),
        "at once": await time_each(at_once) / SESSIONS,
    }


def measure() -> Times:
    """Our side, or the import of the peer where that is installed."""
    if find_spec("amplifier_agent") is None:
        return {"import": import_time(THEIRS)}
    return {**asyncio.run(measure_turns()), "import": import_time(OURS)}


if __name__ == "__main__":
    run(
        __file__,
        measure,
        "an agent",
        [
            Figure(
                "a turn, against the same on a bare session", "agent", share=1.1, against="bare"
            ),
            Figure(
                "1,000 turns at once, against one by one", "at once", share=1.2, against="agent"
            ),
            Figure("import, against pydantic-ai", "import", share=1 / 20),
        ],
    )
