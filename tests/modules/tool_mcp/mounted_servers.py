"""The tools of servers as a session has them, and servers of plain Python."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio

from amplifier_core import ModuleCoordinator
from amplifier_core.models import ToolResult
from amplifier_modules.tools.mcp import Servers, State

RAW = Path(__file__).with_name("raw_server.py")


def run_raw(*words: str, **more: Any) -> dict[str, Any]:
    """The entry of a server of plain Python that is started."""
    return {"command": sys.executable, "args": ["-S", "-E", str(RAW), *words], **more}


class Mounted:
    """The mounted tools of one session."""

    def __init__(self, coordinator: ModuleCoordinator) -> None:
        self.coordinator = coordinator
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._emitted = anyio.Event()

        def note(event: str, data: dict[str, Any]) -> None:
            shared = ("session_id", "parent_id", "timestamp")
            self.events.append((event, {k: v for k, v in data.items() if k not in shared}))
            self._emitted.set()

        for event in ("mcp:server", "mcp:tools", "mcp:prompts"):
            coordinator.hooks.register(event, note, name="note")

    @property
    def servers(self) -> Servers:
        return self.coordinator.get_capability("mcp.servers")

    @property
    def tools(self) -> dict[str, Any]:
        return dict(self.coordinator.get("tools") or {})

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait for events until something holds."""
        with anyio.fail_after(30):
            while not condition():
                self._emitted = anyio.Event()
                await self._emitted.wait()

    async def settle(self, *states: State) -> None:
        """Wait until the servers are connected, or in these states."""
        wanted = list(states) or [State.CONNECTED] * len(self.servers.servers)
        await self.wait_for(lambda: [each.state for each in self.servers.list_states()] == wanted)

    async def run(self, name: str, **arguments: Any) -> Any:
        """The output of a call, or its content; an error as a tuple."""
        result: ToolResult = await self.tools[name].execute(arguments)
        if not result.success:
            assert result.error is not None
            return (result.error["type"], result.error["message"])
        return result.output if result.content is None else result.model_dump()["content"]


Mount = Callable[..., Awaitable[Mounted]]
