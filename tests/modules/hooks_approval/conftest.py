"""A session whose calls are judged by `hooks-approval`, and a person who is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from amplifier_core.approval import ASKED_CALL, AskedCall
from amplifier_core.session_capabilities import APPROVAL_POLICY
from amplifier_modules.hooks import approval


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


class Person:
    """Answers what is asked: an option, and what is granted beyond the call."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        """`yes`, `no`, or what is granted."""
        self.asked: list[AskedCall] = []
        self.prompts: list[str] = []

    async def request_approval(self, prompt: str, *_options: Any) -> str:
        call = ASKED_CALL.get()
        assert call is not None
        self.asked.append(call)
        self.prompts.append(prompt)
        answer = self.answers.pop(0) if self.answers else "yes"
        if answer not in ("yes", "no"):
            call.reply.grant = answer
        return "Deny" if answer == "no" else "Allow once"


class Case:
    """A turn that makes calls one after the other."""

    def __init__(self, bench: Any, say: Any, calls: tuple[tuple[str, dict[str, Any]], ...]) -> None:
        script = [say.calls((str(place), *call)) for place, call in enumerate(calls)]
        self.turn = bench("basic", *script, say.text("done"))
        self.person = Person()
        self.turn.coordinator.approval_system = self.person
        self.log: list[str] = []

    async def begin(self, **config: Any) -> Case:
        await approval.mount(self.turn.coordinator, config)
        return self

    def tool(self, name: str, **attributes: Any) -> Any:
        tool = self.turn.tool(name, lambda _given: self.log.append(name) or "did it")
        tool.input_schema = {"type": "object"}
        for key, value in attributes.items():
            setattr(tool, key, value)
        self.turn.coordinator.mount_points["tools"][name] = tool
        return tool

    async def run(self) -> list[str]:
        """Run the turn, and return what the model reads of its calls."""
        # The loop of the bench gets its tools from here, as from the coordinator in a session.
        self.turn.tools = self.turn.coordinator.mount_points["tools"]
        await self.turn.run()
        return [m["content"] for m in await self.turn.history() if m["role"] == "tool"]

    @property
    def policy(self) -> Any:
        return self.turn.coordinator.get_capability(APPROVAL_POLICY)


@pytest.fixture
def case(bench: Any, say: Any) -> Callable[..., Case]:
    """Make a case: `case(("write_file", {"path": "a"}), …)`."""
    return lambda *calls: Case(bench, say, calls)
