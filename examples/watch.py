"""Two hook handlers: one prints the answer as it arrives, one denies a tool."""

import asyncio
from typing import Any

from amplifier_core import AmplifierSession, HookResult


def show(event: str, data: dict[str, Any]) -> None:
    """Print each piece of text as it arrives."""
    if data["block_type"] == "text" and data.get("delta"):
        print(data["delta"], end="", flush=True)


async def guard(event: str, data: dict[str, Any]) -> HookResult:
    """Let the model list and search, but not read."""
    if data["tool_name"] == "read_file":
        return HookResult(action="deny", reason="this agent may not read files")
    return HookResult(action="continue")


async def main() -> None:
    plan = {
        "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
        "providers": [{"module": "provider-demo"}],
        "tools": [{"module": "tool-filesystem"}, {"module": "tool-search"}],
    }
    session = AmplifierSession(plan)
    session.coordinator.hooks.register("content_block:delta", show)
    session.coordinator.hooks.register("tool:pre", guard)
    async with session:
        await session.execute("Give me a tour of this project")


asyncio.run(main())
