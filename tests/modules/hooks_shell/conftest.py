"""A session whose events run small scripts of `sh`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.models import HookResult
from amplifier_modules.hooks import shell


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


class Case:
    """A turn in which a tool is called once, and the hooks of it."""

    def __init__(self, bench: Any, say: Any, folder: Path) -> None:
        self.bench = bench
        self.say = say
        self.folder = folder
        self.turn = bench("basic", say.calls(("1", "bash", {"command": "ls"})), say.text("done"))
        self.ran: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.answer = "Allow once"
        self.add_tool("bash")
        self.turn.coordinator.approval_system = self

    async def request_approval(self, prompt: str, *_rest: Any) -> str:
        self.asked.append(prompt)
        return self.answer

    def add_tool(self, name: str, **attributes: Any) -> Any:
        def run(given: dict[str, Any]) -> str:
            self.ran.append(dict(given))
            return "did it"

        tool = self.turn.tool(name, run)
        tool.input_schema = {"type": "object"}
        for key, value in attributes.items():
            setattr(tool, key, value)
        self.turn.coordinator.mount_points["tools"][name] = tool
        return tool

    def script(self, *turns: Any) -> Case:
        """Have the model answer with these."""
        self.turn.provider.script = list(turns)
        return self

    async def hook(self, event: str, *commands: str, matcher: str = "", **config: Any) -> Case:
        """Mount hooks of one event."""
        group = {"matcher": matcher, "hooks": [{"type": "command", "command": c} for c in commands]}
        return await self.mount({event: [group]}, **config)

    async def mount(self, hooks: dict[str, Any], **config: Any) -> Case:
        await shell.mount(
            self.turn.coordinator, {"hooks": hooks, "root": str(self.folder), **config}
        )
        return self

    async def run(self) -> list[str]:
        """Run the turn, and return what the model reads of its calls."""
        await self.turn.run()
        return [m["content"] for m in await self.turn.history() if m["role"] == "tool"]

    def read_input(self, name: str = "input") -> dict[str, Any]:
        """Return what a hook `cat > input` has read."""
        return json.loads((self.folder / name).read_text())

    def judge_later(self, event: str, **result: Any) -> None:
        def judge(_event: str, _data: dict[str, Any]) -> HookResult:
            return HookResult(**result)

        self.turn.coordinator.hooks.register(event, judge, priority=999_000)


@pytest.fixture
def case(bench: Any, say: Any, tmp_path: Path) -> Callable[..., Case]:
    """Make a case: `case()`."""
    return lambda: Case(bench, say, tmp_path)
