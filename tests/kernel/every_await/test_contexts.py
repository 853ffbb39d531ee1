"""A turn that shortens, sums up, puts aside and stores, cancelled at its k-th suspension, for every k."""

from __future__ import annotations

import gc
import re
from collections import Counter
from pathlib import Path
from typing import Any

from engines import on_both_engines
from subject import suspend

from amplifier_core import ChatRequest, ChatResponse, TextBlock, ToolResult
from amplifier_core.message_models import ToolCall, ToolCallBlock
from amplifier_modules.contexts.compaction import is_notice
from amplifier_modules.contexts.persistent import PersistentContext
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.spending.ledger import running_ledger
from amplifier_providers.requests.token_estimate import estimate_tokens

LONG = "".join(f"line {number} of what was seen\n" for number in range(400))
PAIRS = {
    "execution:start": ("execution:end",),
    "turn:start": ("turn:end",),
    "llm:pre": ("llm:post",),
    "tool:pre": ("tool:post", "tool:error"),
}
SUSPENDING = (
    "context:message",
    "context:compaction",
    "context:system_prompt",
    "llm:pre",
    "llm:post",
    "tool:post",
)


def is_valid(history: list[dict[str, Any]]) -> bool:
    """Whether the results of each call are right behind it, and no result is without its call."""
    waiting: list[str] = []
    for message in history:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return False
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return False
        waiting += [call["id"] for call in message.get("tool_calls") or ()]
    return not waiting


class Model:
    """Sums up, calls the tool once a turn, and then answers."""

    name = "scripted"

    def __init__(self) -> None:
        self.summaries = self.calls = 0
        self.refused: list[Any] = []

    async def complete(self, request: ChatRequest, **options: Any) -> ChatResponse:
        await suspend()
        sent = [message.model_dump(exclude_none=True) for message in request.messages]
        if not is_valid(sent):
            self.refused.append(sent)
        if "summary that takes the place" in str(sent[0]["content"]):
            self.summaries += 1
            return ChatResponse(content=[TextBlock(text="They looked around.")])
        if sent[-1]["role"] == "tool":
            return ChatResponse(content=[TextBlock(text="done")])
        self.calls += 1
        ids = [f"{self.calls}.{number}" for number in range(2)]
        return ChatResponse(
            content=[ToolCallBlock(id=id, name="look", input={}) for id in ids],
            tool_calls=[ToolCall(id=id, name="look", arguments={}) for id in ids],
        )


class Look:
    name = "look"
    description = "Look."
    input_schema = {"type": "object"}  # noqa: RUF012

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        await suspend()
        return ToolResult(output=LONG)


def plan_of(kind: str, path: Path) -> dict[str, Any]:
    config = {"max_tokens": 600, "summarize": True, "put_aside_bytes": 4_096, "summary_tokens": 50}
    if kind == "context-persistent":
        config |= {"path": str(path), "fsync": True}
    return {
        "session": {
            "orchestrator": {"module": "loop-streaming", "config": {"budget": {"tokens": 10**6}}},
            "context": {"module": kind, "config": config},
        },
        "providers": [],
    }


def rebuilt(told: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The history that the events tell, each number once."""
    changes = {data["number"]: data for event, data in told if event == "context:message"}
    messages: list[dict[str, Any]] = []
    for number in sorted(changes):
        messages.insert(changes[number]["index"], changes[number]["message"])
    return messages


async def interrupted_turn(
    session_class: Any, interrupt: Any, at: int, kind: str, path: Path
) -> tuple[int, Any]:
    """Run a turn that is interrupted at one suspension, and check all that must hold then."""
    session, model = session_class(plan_of(kind, path)), Model()
    coordinator = session.coordinator
    await coordinator.mount("providers", model, name="scripted")
    await coordinator.mount("tools", Look(), name="look")
    await session.initialize()
    context: SimpleContext = coordinator.get("context")
    told: list[tuple[str, dict[str, Any]]] = []

    def hear(event: str, data: dict[str, Any]) -> None:
        told.append((event, data))

    async def wait(event: str, data: dict[str, Any]) -> None:
        await suspend()

    async def prompt() -> str:
        await suspend()
        return "Be brief."

    for event in {*PAIRS, *sum(PAIRS.values(), ()), "context:message", "context:compaction"}:
        coordinator.hooks.register(event, hear, priority=-100, name="first")
    for number in range(6):
        await context.add_message({"role": "user", "content": f"Question {number}. " + "w " * 120})
        await context.add_message({"role": "assistant", "content": "word " * 60})
    for event in SUSPENDING:
        coordinator.hooks.register(event, wait, name="wait")
    await context.set_system_prompt_factory(prompt)

    count, outcome = await interrupt(session.execute("Look."), at, coordinator.cancellation)

    counted = Counter(event for event, _ in told)
    for start, ends in PAIRS.items():
        assert counted[start] == sum(counted[end] for end in ends), start
    history = await context.get_messages()
    assert is_valid(history)
    assert len(history) >= 12
    check_references(context, history)
    check_view(context, history)
    assert running_ledger() is None
    assert coordinator.cancellation.running_tools == set()

    coordinator.cancellation.reset()
    assert await session.execute("Look again.") == "done"
    assert model.refused == []
    whole = await context.get_messages()
    assert whole[: len(history)] == history
    assert is_valid(whole)
    check_view(context, whole)
    assert rebuilt(told) == whole, "no message is lost to those who follow the history"
    if at == 0:
        assert model.summaries >= 1
        assert counted["context:compaction"] >= 1
        assert len(context._aside.texts.list_ids()) == 1
    await session.cleanup()
    if kind == "context-persistent":
        again = PersistentContext(path=str(path))
        assert await again.get_messages() == whole, "the file has what the conversation has"
        check_references(again, whole)
        again.end()
    return count, outcome


def check_view(context: SimpleContext, history: list[dict[str, Any]]) -> None:
    """Check that each message is either in requests or left out, and that the tokens are theirs."""
    view = context._shown.view
    shown = [message for message in view.messages if not is_notice(message)]
    assert len(shown) + view.messages_removed == len(history)
    assert view.tokens == list(map(estimate_tokens, view.messages))
    assert view.total == sum(view.tokens)


def check_references(context: SimpleContext, history: list[dict[str, Any]]) -> None:
    """Check that what the conversation refers to is there as a whole."""
    for message in history:
        if message["role"] == "tool" and (found := re.search("as `([0-9a-f]{16})`", str(message))):
            assert str(context._aside.texts.get(found[1])) in (LONG, f'"{LONG}"')


@on_both_engines("kind", ["context-simple", "context-persistent"])
async def test_a_turn_that_shortens_its_conversation_can_be_cancelled_at_every_await(
    session_class: Any, interrupt: Any, kind: str, tmp_path: Path
) -> None:
    way = (session_class, interrupt)
    suspensions, answer = await interrupted_turn(*way, 0, kind, tmp_path / "0")
    assert answer == "done"
    assert suspensions >= 20
    for at in range(1, suspensions + 1):
        await interrupted_turn(*way, at, kind, tmp_path / str(at))
    gc.collect()  # a coroutine that was never awaited would warn here


@on_both_engines("kind", ["context-simple", "context-persistent"])
async def test_a_turn_that_shortens_its_conversation_can_be_asked_to_end_at_every_await(
    session_class: Any, asking: Any, kind: str, tmp_path: Path
) -> None:
    way = (session_class, asking[1])
    suspensions, _ = await interrupted_turn(*way, 0, kind, tmp_path / "0")
    for at in range(1, suspensions + 1):
        _, outcome = await interrupted_turn(*way, at, kind, tmp_path / str(at))
        assert isinstance(outcome, str), "what was asked for is no error"
    gc.collect()
