"""Stand-ins for the parts of a session, for the tests of modules."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Self
from unittest.mock import AsyncMock

from . import ModuleCoordinator, world
from .error_messages import short_repr
from .events import SESSION_END, SESSION_START
from .models import HookResult, ToolResult
from .world import sleep

__all__ = [
    "EventRecorder",
    "MockContextManager",
    "MockCoordinator",
    "MockTool",
    "ScriptedOrchestrator",
    "TestCoordinator",
    "create_test_coordinator",
    "wait_for",
]


class MockCoordinator(ModuleCoordinator):
    """A real coordinator without a session, that notes what is mounted and unmounted.

    Its approval system allows everything, until `approval_system.request_approval.return_value`
    is set otherwise; its display system shows nothing.
    """

    __test__ = False

    mount_history: list[dict[str, Any]]
    """Every call of `mount` in order: `mount_point`, `module` and `name`."""
    unmount_history: list[dict[str, Any]]
    """Every call of `unmount` in order: `mount_point` and `name`."""

    def __new__(cls) -> Self:
        """Make a coordinator of the session `test-session`."""
        config = {"session": {"orchestrator": "test-orchestrator", "context": "test-context"}}
        session = SimpleNamespace(session_id="test-session", parent_id=None, config=config)
        approvals = AsyncMock()
        approvals.request_approval.return_value = "Allow"
        self = super().__new__(cls, session, approvals, AsyncMock())
        self.mount_history, self.unmount_history = [], []
        return self

    async def mount(self, mount_point: str, module: Any, name: str | None = None) -> None:
        """Note the call and mount the module."""
        self.mount_history.append({"mount_point": mount_point, "module": module, "name": name})
        await super().mount(mount_point, module, name)

    async def unmount(self, mount_point: str, name: str | None = None) -> None:
        """Note the call and unmount the module."""
        self.unmount_history.append({"mount_point": mount_point, "name": name})
        await super().unmount(mount_point, name)


TestCoordinator = MockCoordinator
"""The name in earlier versions."""


class MockTool:
    """A tool that always succeeds; `execute` is an `AsyncMock`.

    Args:
        name: Name of the tool.
        output: What each call returns.
    """

    def __init__(self, name: str = "mock_tool", output: Any = "Success") -> None:
        self.name = name
        self.description = f"Mock tool: {name if type(name) is str else short_repr(name)}"
        self.output = output
        self.input_schema: dict[str, Any] = {"type": "object", "properties": {}}
        self.execute = AsyncMock(side_effect=self._execute)
        self.call_count = 0

    async def _execute(self, input: dict[str, Any]) -> ToolResult:
        self.call_count += 1
        return ToolResult(success=True, output=self.output)


class MockContextManager:
    """A context that keeps every message in `messages`; its methods are `AsyncMock`s.

    Args:
        messages: Messages to begin with; the list itself is used.
    """

    def __init__(self, messages: list[dict[str, Any]] | None = None) -> None:
        self.messages = [] if messages is None else messages
        self.add_message = AsyncMock(side_effect=self._add_message)
        self.get_messages = AsyncMock(side_effect=self._get_messages)
        self.get_messages_for_request = AsyncMock(side_effect=self._get_messages_for_request)
        self.set_messages = AsyncMock(side_effect=self._set_messages)
        self.clear = AsyncMock(side_effect=self._clear)
        self._should_compact = AsyncMock(return_value=False)
        self._compact_internal = AsyncMock()

    async def _add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def _get_messages(self) -> list[dict[str, Any]]:
        return self.messages

    async def _get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> list[dict[str, Any]]:
        return list(self.messages)

    async def _set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages[:] = messages

    async def _clear(self) -> None:
        self.messages.clear()


class EventRecorder:
    """A hook handler, and a registry of sorts, that keeps every event in `events`."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def record(self, event: str, data: dict[str, Any]) -> HookResult:
        """Keep an event with a copy of its data; its values are the caller's own."""
        self.events.append((event, data.copy()))
        return HookResult(action="continue")

    async def emit(self, event: str, data: dict[str, Any]) -> HookResult:
        """Do what `record` does, for those who are given a registry."""
        return await self.record(event, data)

    def clear(self) -> None:
        """Forget every event."""
        self.events.clear()

    def get_events(self, event_type: str | None = None) -> list[tuple[str, dict[str, Any]]]:
        """List the events of one name, or all of them."""
        if event_type is None:
            return self.events.copy()
        return [(event, data) for event, data in self.events if event == event_type]


class ScriptedOrchestrator:
    """A loop that answers each prompt with the next text of a script, then with `DONE`.

    Args:
        responses: The script.
    """

    def __init__(self, responses: list[str]) -> None:
        self.responses = responses
        self.call_count = 0

    async def execute(
        self, prompt: str, context: Any, providers: Any, tools: Any, hooks: Any, **_: Any
    ) -> str:
        """Emit `session:start`, note the exchange in the context, emit `session:end`."""
        await hooks.emit(SESSION_START, {"prompt": prompt})
        is_scripted = self.call_count < len(self.responses)
        response = self.responses[self.call_count] if is_scripted else "DONE"
        self.call_count += 1
        await context.add_message({"role": "user", "content": prompt})
        await context.add_message({"role": "assistant", "content": response})
        await hooks.emit(SESSION_END, {"response": response})
        return response


def create_test_coordinator() -> MockCoordinator:
    """Make a coordinator with a context and the tools `echo` and `fail` mounted."""
    coordinator = MockCoordinator()
    tools = {"echo": MockTool("echo", "Echo response"), "fail": MockTool("fail", None)}
    coordinator.mount_points["tools"].update(tools)
    coordinator.mount_points["context"] = MockContextManager()
    return coordinator


async def wait_for(condition: Callable[[], bool], timeout: float = 1.0) -> bool:  # noqa: ASYNC109
    """Wait until a condition holds, and tell whether it did in time.

    Args:
        condition: Asked every 10 milliseconds.
        timeout: Most seconds to wait.
    """
    end = world.monotonic() + timeout
    while not condition():
        if world.monotonic() >= end:
            return False
        await sleep(0.01)
    return True
