"""The mistakes of the guide with agents."""

from __future__ import annotations

import asyncio

from mistakes import mistake, model
from pydantic import BaseModel

from amplifier_agent import Agent, tool


@mistake("agents", "a module, a setting or a name that does not exist")
def _() -> None:
    files = {"module": "tool-filesystem", "config": {"rooot": "."}}
    Agent(model(), tools=[files]).run_sync("go")


@mistake("agents", '`tools="weather"`')
def _() -> None:
    Agent(model(), tools="weather")


@mistake("agents", "a block of a prompt that is none")
def _() -> None:
    Agent(model()).run_sync([{"type": "video"}])


@mistake("agents", "`for event in agent.stream(…)`")
def _() -> None:
    for _event in Agent(model()).stream("go"):  # type: ignore[attr-defined]
        pass


@mistake("agents", "`run` inside its own turn")
def _() -> str:
    async def main() -> str:
        @tool
        async def again() -> str:
            """Ask again."""
            return (await session.run("once more")).text

        scripted = model({"tool": "again", "arguments": {}}, "ok")
        async with Agent(scripted, tools=[again]).session() as session:
            await session.run("go")
        return str(scripted.requests[1].messages[-1].content)

    # Of a tool, to which it happens, the model is told.
    return asyncio.run(main())


def _run_sync_within_a_loop() -> None:
    async def main() -> None:
        Agent(model()).run_sync("go")

    asyncio.run(main())


mistake("agents", "`agent.run_sync` where an event loop runs")(_run_sync_within_a_loop)
mistake("web", "`agent.run_sync` in a handler")(_run_sync_within_a_loop)


@mistake("agents", "an answer that does not fit `output`")
def _() -> str:
    class City(BaseModel):
        name: str

    result = Agent(model("no", "neither"), output=City).run_sync("go")
    return f"{result.status} output: {result.reason}"
