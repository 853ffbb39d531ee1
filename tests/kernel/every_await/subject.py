"""A session with hooks, a tool and an approval that suspend, and a record of its turns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pairs import PAIRED
from scripted import Approvals, Loader, suspend

from amplifier_core.message_models import ChatResponse
from amplifier_core.models import HookResult
from amplifier_modules.contexts.simple import SimpleContext

OBSERVED = (
    "execution:start",
    "turn:start",
    "prompt:submit",
    "provider:request",
    "llm:pre",
    "llm:post",
    "provider:response",
    "content_block:start",
    "content_block:end",
    "agent:tool_call_end",
    "agent:message_end",
    "tool:pre",
    "tool:start",
    "tool:post",
    "prompt:complete",
    "cancel:requested",
    "cancel:completed",
    "turn:end",
    "orchestrator:complete",
    "execution:end",
)
RECORDED = {*OBSERVED, *PAIRED, "agent:message_content", "provider:error", "look:progress"}
STAMPS = {"session_id", "parent_id", "timestamp"}
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Record:
    """What happened in a turn, written down by those to whom it happened."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        """Events, as the first of their handlers heard them, and the callback of a cancel."""
        self.settled: list[tuple[str, dict[str, Any]]] = []
        """Events that went through all of their handlers."""
        self.responses: list[ChatResponse] = []
        """What the model answered."""
        self.written: list[str] = []
        """The calls that the model wrote in tags."""
        self.approved: list[str] = []
        self.begun: list[str] = []
        """The calls that the user allowed, and those whose tool was run."""
        self.names: dict[str, str] = {}
        """What the model calls each call, by its id: calls in tags have none of their own."""

    def heard(self, event: str) -> list[str]:
        """The calls that an event went through all of its handlers for."""
        return [self.names[data["tool_call_id"]] for name, data in self.settled if name == event]


class Subject:
    """A session with two hooks, a tool and an approval, and what came out of it."""

    def __init__(
        self, session_class: Any, loop: str, calls: int, context_class: Any = SimpleContext
    ) -> None:
        plan = {
            "session": {"orchestrator": loop, "context": "context"},
            "providers": [{"module": "provider"}],
            "tools": [{"module": "tool"}],
        }
        self.loop, self.calls, self.record, self.cleaned = loop, calls, Record(), []
        self.loader = Loader(self, loop, calls, context_class)
        self.session = session_class(
            plan, loader=self.loader, session_id="s", approval_system=Approvals(self)
        )
        hooks = self.session.coordinator.hooks
        for event in sorted(RECORDED):
            hooks.register(event, self.hear, priority=-100, name="first")
            hooks.register(event, self.settle, priority=100, name="last")
        for event in OBSERVED:
            hooks.register(event, self.observe, name="observer")
        hooks.register("tool:pre", self.ask, priority=10, name="guard", timeout=30)
        hooks.register("tool:post", self.inject, priority=10, name="guard")
        self.session.coordinator.register_cleanup(lambda: self.cleaned.append(1))
        self.session.coordinator.cancellation.on_cancel(self.let_go)

    def hear(self, event: str, data: dict[str, Any]) -> None:
        self.record.told.append((event, {k: v for k, v in data.items() if k not in STAMPS}))
        if event == "tool:pre":
            self.record.names[data["tool_call_id"]] = data["tool_input"]["id"]

    def settle(self, event: str, data: dict[str, Any]) -> None:
        self.record.settled.append((event, data))

    async def observe(self, event: str, data: dict[str, Any]) -> HookResult:
        await suspend()
        return HookResult()

    async def ask(self, event: str, data: dict[str, Any]) -> HookResult:
        await suspend()
        prompt = data["tool_input"]["id"]
        return HookResult(action="ask_user", approval_prompt=prompt, approval_timeout=60)

    async def inject(self, event: str, data: dict[str, Any]) -> dict[str, Any]:
        await suspend()
        return {"action": "inject_context", "context_injection": "Look twice.", "ephemeral": True}

    async def let_go(self) -> None:
        await suspend()
        self.record.told.append(("callback", {}))

    def registrations(self) -> dict[str, list[str]]:
        names = self.session.coordinator.hooks.list_handlers()
        return {event: listed for event, listed in names.items() if listed}

    async def history(self) -> list[dict[str, Any]]:
        """The conversation, in which each call is called what the model calls it."""
        messages = await self.session.coordinator.get("context").get_messages()
        names = {
            call["id"]: call["arguments"]["id"]
            for message in messages
            for call in message.get("tool_calls", ())
        }
        assert len(set(names.values())) == len(names)
        return [renamed(message, names) for message in messages]


def renamed(message: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """A message with other ids of calls."""
    changed = dict(message)
    if "tool_call_id" in message:
        changed["tool_call_id"] = names[message["tool_call_id"]]
    if "tool_calls" in message:
        changed["tool_calls"] = [
            {**call, "id": names[call["id"]]} for call in message["tool_calls"]
        ]
        changed["content"] = [
            {**block, "id": names[block["id"]]} if "id" in block else block
            for block in message["content"]
        ]
    return changed
