"""A session in small for the tests of loops: scripted model, recorded events, real coordinator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.events import (
    CANCEL_COMPLETED,
    CANCEL_REQUESTED,
    CONTENT_BLOCK_DELTA,
    CONTENT_BLOCK_END,
    CONTENT_BLOCK_START,
    EXECUTION_END,
    EXECUTION_START,
    LLM_POST,
    LLM_PRE,
    ORCHESTRATOR_COMPLETE,
    PROMPT_COMPLETE,
    PROMPT_SUBMIT,
    PROVIDER_ERROR,
    PROVIDER_REQUEST,
    PROVIDER_RESPONSE,
    TOOL_ERROR,
    TOOL_POST,
    TOOL_PRE,
    TURN_END,
    TURN_START,
)
from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall, ToolCallBlock
from amplifier_core.models import HookResult, ToolResult
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops import basic, streaming, tagged
from amplifier_modules.loops.answers import agent_events

LOOP_EVENTS = (
    EXECUTION_START, TURN_START, PROMPT_SUBMIT, PROVIDER_REQUEST, LLM_PRE, LLM_POST,
    PROVIDER_RESPONSE, PROVIDER_ERROR, CONTENT_BLOCK_START, CONTENT_BLOCK_DELTA,
    CONTENT_BLOCK_END, TOOL_PRE, TOOL_POST, TOOL_ERROR, CANCEL_REQUESTED, CANCEL_COMPLETED,
    PROMPT_COMPLETE, TURN_END, ORCHESTRATOR_COMPLETE, EXECUTION_END,
    "orchestrator:steering_injected", "orchestrator:steering_discarded",
    "orchestrator:rate_limit_delay", "orchestrator:paused", "orchestrator:resumed",
    *agent_events.EVENTS,
)  # fmt: skip


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class ScriptedProvider:
    """Answers with what it was given: responses, errors to raise, or functions of the request."""

    name = "scripted"

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.requests: list[Any] = []
        self.options: list[dict[str, Any]] = []

    async def complete(self, request: Any, **options: Any) -> Any:
        self.requests.append(request)
        self.options.append(options)
        step = self.script.pop(0)
        if callable(step):
            step = step(request)
            if inspect.isawaitable(step):
                step = await step
        if isinstance(step, BaseException):
            raise step
        return step


class FunctionTool:
    """A tool that is one function of its input."""

    description = "A tool of the tests."

    def __init__(self, name: str, function: Callable[[dict[str, Any]], Any]) -> None:
        self.name = name
        self.input_schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
        self.inputs: list[dict[str, Any]] = []
        self._function = function

    async def execute(self, input: dict[str, Any]) -> Any:
        self.inputs.append(input)
        result = self._function(input)
        if inspect.isawaitable(result):
            result = await result
        return ToolResult(output=result) if isinstance(result, str) else result


class Bench:
    """A loop with all that it needs, and what it did."""

    def __init__(self, loop: str, script: tuple[Any, ...], config: dict[str, Any] | None) -> None:
        self.coordinator = ModuleCoordinator()
        self.context = SimpleContext()
        self.provider = ScriptedProvider(*script)
        self.tools: dict[str, FunctionTool] = {}
        self.events: list[tuple[str, dict[str, Any]]] = []
        self._module = {"basic": basic, "streaming": streaming, "tagged": tagged}[loop]
        self._config = config
        for event in LOOP_EVENTS:
            self.coordinator.hooks.register(event, self._record, priority=-100, name="recorder")

    def tool(self, name: str, function: Callable[[dict[str, Any]], Any]) -> FunctionTool:
        self.tools[name] = FunctionTool(name, function)
        return self.tools[name]

    def hook(self, event: str, handler: Callable[[str, dict[str, Any]], Any]) -> None:
        self.coordinator.hooks.register(event, handler, name="hook")

    def answer_hook(self, event: str, **result: Any) -> None:
        """Register a hook that always answers with this result."""
        self.hook(event, lambda _event, _data: HookResult(**result))

    async def loop(self) -> Any:
        if self.coordinator.get("orchestrator") is None:
            await self.coordinator.mount("context", self.context)
            await self._module.mount(self.coordinator, self._config)
        return self.coordinator.get("orchestrator")

    async def run(self, prompt: str = "go") -> str:
        loop = await self.loop()
        return await loop.execute(
            prompt,
            self.context,
            {"scripted": self.provider},
            self.tools,
            self.coordinator.hooks,
            coordinator=self.coordinator,
        )

    @property
    def token(self) -> Any:
        return self.coordinator.cancellation

    def names(self) -> list[str]:
        return [event for event, _ in self.events]

    def data(self, event: str) -> list[dict[str, Any]]:
        """Return the payloads of an event without what the kernel adds to each."""
        added = ("timestamp", "session_id", "parent_id", "request_id")
        return [
            {key: value for key, value in data.items() if key not in added}
            for name, data in self.events
            if name == event
        ]

    async def history(self) -> list[dict[str, Any]]:
        """Return the conversation without timestamps."""
        return [
            {key: value for key, value in message.items() if key != "metadata"}
            for message in await self.context.get_messages()
        ]

    def _record(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))


class Say:
    """Makes responses."""

    @staticmethod
    def text(text: str, **fields: Any) -> ChatResponse:
        return ChatResponse(content=[TextBlock(text=text)], **fields)

    @staticmethod
    def calls(*calls: tuple[str, str, dict[str, Any]], text: str = "") -> ChatResponse:
        blocks: list[Any] = [TextBlock(text=text)] if text else []
        blocks += [ToolCallBlock(id=id, name=name, input=given) for id, name, given in calls]
        tool_calls = [ToolCall(id=id, name=name, arguments=given) for id, name, given in calls]
        return ChatResponse(content=blocks, tool_calls=tool_calls, finish_reason="tool_use")


def assert_valid(history: list[dict[str, Any]]) -> None:
    """Check that right behind each assistant message are the results of all of its calls."""
    for index, message in enumerate(history):
        if message["role"] == "assistant":
            called = [call["id"] for call in message.get("tool_calls", [])]
            after = history[index + 1 : index + 1 + len(called)]
            assert [each.get("tool_call_id") for each in after] == called
            blocks = [b["id"] for b in message["content"] if b["type"] == "tool_call"]
            assert blocks == called
    answered = sum(message["role"] == "tool" for message in history)
    assert answered == sum(len(message.get("tool_calls", [])) for message in history)


@pytest.fixture
def say() -> type[Say]:
    return Say


@pytest.fixture
def valid() -> Callable[[list[dict[str, Any]]], None]:
    return assert_valid


@pytest.fixture
def bench() -> Callable[..., Bench]:
    """Make a bench: `bench("basic", response, …, config={…})`."""

    def make(loop: str, *script: Any, config: dict[str, Any] | None = None) -> Bench:
        return Bench(loop, script, config)

    return make
