"""A turn with a sub-agent cancelled at its k-th suspension, for every k, also of the sub-agent."""

from __future__ import annotations

import gc
import re
from collections import Counter
from typing import Any

import anyio
import pytest
from engines import on_both_engines
from subject import suspend

from amplifier_core import ChatRequest, ChatResponse, TextBlock, ToolResult
from amplifier_core.message_models import ToolCall, ToolCallBlock
from amplifier_modules.spawn import child_session
from amplifier_modules.spending.ledger import running_ledger

PLAN = {
    "session": {
        "orchestrator": {"module": "loop-streaming", "config": {"max_tasks": 1}},
        "context": "context-simple",
    },
    "providers": [],
    "tools": ["tool-task"],
}
PAIRS = {
    "task:start": "task:end",
    "execution:start": "execution:end",
    "turn:start": "turn:end",
}


WORKING = re.compile(r'"id": ?"(task-[0-9]+)".*"running"')
STARTED = {"prompt": "look"}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "ask": ("ask", {}),
    "look": ("look", {}),
    "task": ("task", STARTED),
    "task in the background": ("task", {**STARTED, "background": True}),
}
"""What the model calls, by its prompt."""


class Model:
    """Calls what its prompt says, reads the result of a task in the background, and answers."""

    name = "scripted"

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        await suspend()
        last = request.messages[-1]
        working = WORKING.search(str(last.content))
        if working:
            id, name, given = "read", "task", {"action": "result", "id": working[1]}
        elif last.role == "user" and str(last.content) in CALLS:
            name, given = CALLS[str(last.content)]
            id = name
        else:
            return ChatResponse(content=[TextBlock(text="done")])
        return ChatResponse(
            content=[ToolCallBlock(id=id, name=name, input=given)],
            tool_calls=[ToolCall(id=id, name=name, arguments=given)],
        )


class Look:
    name = "look"
    description = "Look."
    input_schema = {"type": "object"}  # noqa: RUF012

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        await suspend()
        return ToolResult(output="seen")


class Ask(Look):
    name = "ask"

    def __init__(self, coordinator: Any, *, background: bool) -> None:
        self.coordinator, self.background = coordinator, background

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        spawn = self.coordinator.get_capability("session.spawn")
        done = await spawn("look", background=self.background)
        result = await spawn.result(done) if self.background else done
        return ToolResult(output=result.text)


def is_valid(history: list[dict[str, Any]]) -> bool:
    """Whether each call has its result behind it, and no result is without its call."""
    called = [call["id"] for each in history for call in each.get("tool_calls") or ()]
    return called == [each["tool_call_id"] for each in history if each["role"] == "tool"]


async def interrupted_turn(
    session_class: Any, interrupt: Any, at: int, prompt: str, *, background: bool
) -> tuple[int, Any]:
    """Run a turn that is interrupted at one suspension, and check all that must hold then."""
    session = session_class(PLAN)
    coordinator = session.coordinator
    await coordinator.mount("providers", Model(), name="scripted")
    await coordinator.mount("tools", Ask(coordinator, background=background), name="ask")
    await coordinator.mount("tools", Look(), name="look")
    await session.initialize()
    seen: list[tuple[str, str]] = []

    def hear(event: str, data: Any) -> None:
        seen.append((data["session_id"], event))

    async def wait(event: str, data: Any) -> None:
        await suspend()

    def observe(hooks: Any) -> None:
        for event in {*PAIRS, *PAIRS.values(), "session:end"}:
            hooks.register(event, hear, priority=-100, name="first")
        for event in ("task:start", "task:end", "session:start", "execution:end"):
            hooks.register(event, wait, name="wait")

    observe(coordinator.hooks)
    tasks = coordinator.get_capability("session.tasks")
    tasks.prepare = (lambda child: observe(child.hooks),)

    async def whole() -> Any:
        try:
            return await session.execute(prompt)
        finally:
            with anyio.CancelScope(shield=True):
                await tasks.close()  # as the end of the session does

    count, outcome = await interrupt(whole(), at, coordinator.cancellation)

    counted = Counter(seen)
    for (owner, event), times in counted.items():
        if event in PAIRS:
            assert counted[owner, PAIRS[event]] == times, (owner, event)
    children = {owner for owner, _ in seen} - {session.session_id}
    assert all((child, "session:end") in counted for child in children)
    assert is_valid(await coordinator.get("context").get_messages())
    assert coordinator.cancellation.running_tools == set()
    assert running_ledger() is None
    assert tasks.list() == []

    # The one sub-agent that there may be is over, and counts no more.
    coordinator.cancellation.reset()
    assert await session.execute(prompt) == "done"
    assert is_valid(await coordinator.get("context").get_messages())
    await session.cleanup()
    return count, outcome


# Holds: agent-47
@on_both_engines(
    "prompt, background",
    [("ask", False), ("ask", True), ("task", False), ("task in the background", True)],
)
async def test_a_turn_with_a_sub_agent_can_be_cancelled_at_every_await(
    session_class: Any,
    interrupt: Any,
    prompt: str,
    background: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(child_session, "AmplifierSession", session_class)
    way = (session_class, interrupt)
    options = {"prompt": prompt, "background": background}
    suspensions, answer = await interrupted_turn(*way, at=0, **options)
    assert answer == "done"
    assert suspensions >= 7
    for at in range(1, suspensions + 1):
        await interrupted_turn(*way, at, **options)
    gc.collect()  # a coroutine that was never awaited would warn here


@on_both_engines("prompt", ["task", "task in the background"])
async def test_a_turn_with_a_sub_agent_can_be_asked_to_end_at_every_await(
    session_class: Any, asking: Any, prompt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_session, "AmplifierSession", session_class)
    way = (session_class, asking[1])
    options = {"prompt": prompt, "background": prompt != "task"}
    suspensions, _ = await interrupted_turn(*way, at=0, **options)
    for at in range(1, suspensions + 1):
        _, outcome = await interrupted_turn(*way, at, **options)
        assert isinstance(outcome, str), "what was asked for is no error"
    gc.collect()
