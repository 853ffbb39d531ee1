"""Tools that work, fail, take their time, ignore their cancellation, and ask sub-agents."""

from __future__ import annotations

import asyncio
from typing import Any

from session_plan import budget
from simulated_world import World

from amplifier_core.models import ToolResult
from amplifier_modules.tool.context import ToolContext

_SCHEMA = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
    "additionalProperties": False,
}


class SimulatedTool:
    """A tool whose calls have a number, by which the world knows them."""

    input_schema = _SCHEMA
    description = "Does something."

    def __init__(self, world: World, name: str, **traits: bool) -> None:
        """Have these traits, such as `parallel=False`."""
        self.world = world
        self.name = name
        vars(self).update(traits)

    async def execute(self, input: dict[str, Any]) -> Any:
        """Do the work, or fail."""
        world, random = self.world, self.world.random
        world.run_once(input["number"])
        if random.random() < 0.3:
            ToolContext.current().progress("half of it", 0.5)
        if random.random() < 0.8:
            await world.pause()
        return self.outcome()

    def outcome(self) -> Any:
        """Return a result, or raise an error."""
        chance = self.world.random.random()
        if chance < 0.1:
            raise ValueError("it cannot be done")
        if chance < 0.2:
            return ToolResult(success=False, error={"message": "it went wrong"})
        if chance < 0.25:
            raise asyncio.CancelledError  # of something that the tool awaited
        return ToolResult(output="done")


class LongTool(SimulatedTool):
    """A tool with long results."""

    def outcome(self) -> Any:
        """Return a long text."""
        return " ".join(["long"] * self.world.random.choice((50, 300, 900)))


class StubbornTool(SimulatedTool):
    """A tool that goes on for a while when it is cancelled."""

    async def execute(self, input: dict[str, Any]) -> Any:
        """Work, and clean up."""
        self.world.run_once(input["number"])
        try:
            await asyncio.sleep(2.0)
        except asyncio.CancelledError:
            # Up to more than a loop waits for.
            await asyncio.sleep(self.world.random.choice((0.5, 1.5, 4.0)))
            if self.world.random.random() < 0.5:
                raise
        return self.outcome()


class DelegateTool(SimulatedTool):
    """A tool that gives a task to a sub-agent, with a budget of its own."""

    async def execute(self, input: dict[str, Any]) -> Any:
        """Have a sub-agent do something."""
        world, random = self.world, self.world.random
        world.run_once(input["number"])
        coordinator = ToolContext.current().coordinator
        spawn = coordinator.get_capability("session.spawn")
        limits = budget(random)
        prompt = world.job(coordinator.session_id, limits)
        tools = random.choice((None, None, ("work", "look"), ("work", "delegate"), ()))
        is_background = random.random() < 0.3
        given = await spawn(prompt, budget=limits, tools=tools, background=is_background)
        if not is_background:
            return given.text or given.status
        if random.random() < 0.5:
            await world.pause()
            spawn.cancel(given)
        if random.random() < 0.5:
            return (await spawn.result(given)).status
        return given


def simulated_tools(world: World) -> list[SimulatedTool]:
    """Return one of each kind."""
    return [
        SimulatedTool(world, "work"),
        SimulatedTool(world, "look", read_only=True),
        SimulatedTool(world, "alone", parallel=False),
        StubbornTool(world, "stubborn"),
        LongTool(world, "long"),
        DelegateTool(world, "delegate"),
    ]
