"""A session with two hooks, a tool and an approval that suspend, and a record of its turns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import anyio.lowlevel

from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall, ToolCallBlock
from amplifier_core.models import HookResult, ToolResult
from amplifier_modules.contexts.simple import SimpleContext

OBSERVED = (
    "execution:start",
    "prompt:submit",
    "provider:request",
    "llm:post",
    "tool:pre",
    "tool:post",
    "prompt:complete",
    "cancel:requested",
    "cancel:completed",
    "turn:end",
    "orchestrator:complete",
    "execution:end",
)
RECORDED = (*OBSERVED, "content_block:end", "tool:error", "provider:error", "look:progress")
STAMPS = {"session_id", "parent_id", "timestamp"}
PROMPTS = ("Look.", "Look again.")
ANSWER = "It says 42."
NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def suspend(times: int = 1) -> None:
    for _ in range(times):
        await anyio.lowlevel.checkpoint()


class Record:
    """What happened in a turn, written down by those to whom it happened."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        """Events, as the first of their handlers heard them, and the callback of a cancel."""
        self.settled: list[tuple[str, dict[str, Any]]] = []
        """Events that went through all of their handlers."""
        self.responses: list[ChatResponse] = []
        """What the provider answered."""
        self.approved: list[str] = []
        self.begun: list[str] = []
        """The calls that the user allowed, and those whose tool was run."""


class Provider:
    """Asks for the tool until there is a result behind the last prompt, then answers."""

    name = "scripted"

    def __init__(self, subject: Subject, calls: int) -> None:
        self.subject, self.calls = subject, calls

    async def complete(self, request: Any, **options: Any) -> ChatResponse:
        await suspend(2)
        roles = ["prompt" if m.content in PROMPTS else m.role for m in request.messages]
        if "tool" in roles[::-1][: roles[::-1].index("prompt")]:
            response = ChatResponse(content=[TextBlock(text=ANSWER)])
        else:
            ids = [f"{len(request.messages)}-{number}" for number in range(self.calls)]
            response = ChatResponse(
                content=[ToolCallBlock(id=id, name="look", input={"id": id}) for id in ids],
                tool_calls=[ToolCall(id=id, name="look", arguments={"id": id}) for id in ids],
            )
        self.subject.record.responses.append(response)
        return response


class Look:
    """A tool that listens to an event of its own only while it works."""

    name = "look"
    description = "Look."

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.input_schema = {"type": "object"}

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.subject.record.begun.append(input["id"])
        hooks, heard = self.subject.session.coordinator.hooks, []
        unregister = hooks.register("look:progress", lambda *_: heard.append(1), name="look")
        try:
            await suspend()
            await hooks.emit("look:progress", {})
            await suspend()
        finally:
            unregister()
        return ToolResult(output={"answer": 42})


class Approvals:
    """A user who allows everything, after a while."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject

    async def request_approval(
        self, prompt: str, options: list[str], seconds: float, default: str
    ) -> str:
        await suspend(2)
        self.subject.record.approved.append(prompt)
        return "Allow"


class SlowContext(SimpleContext):
    """A context that gives way when it has stored a message, as one on a disk does."""

    async def add_message(self, message: Any) -> None:
        await super().add_message(message)
        await suspend()


class Loader:
    """A loader of our loops and context, and of the provider and the tool above."""

    def __init__(self, subject: Subject, calls: int, context_class: Any) -> None:
        from amplifier_modules.loops import basic, streaming

        async def context(coordinator: Any, config: Any) -> None:
            made = context_class({}, coordinator.hooks, clock=lambda: NOW)
            await coordinator.mount("context", made)

        async def provider(coordinator: Any, config: Any) -> None:
            await coordinator.mount("providers", Provider(subject, calls))

        async def tool(coordinator: Any, config: Any) -> None:
            await coordinator.mount("tools", Look(subject))

        self.mounts: dict[str, Any] = {
            "loop-basic": basic.mount,
            "loop-streaming": streaming.mount,
            "context": context,
            "provider": provider,
            "tool": tool,
        }

    async def load(self, module_id: str, config: Any = None, **_: Any) -> Any:
        return lambda coordinator: self.mounts[module_id](coordinator, config)

    def get_on_session_ready_queue(self) -> list[Any]:
        return []

    def clear_on_session_ready_queue(self) -> None: ...

    def cleanup(self) -> None: ...


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
        self.loader = Loader(self, calls, context_class)
        self.session = session_class(
            plan, loader=self.loader, session_id="s", approval_system=Approvals(self)
        )
        hooks = self.session.coordinator.hooks
        for event in RECORDED:
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

    def settle(self, event: str, data: dict[str, Any]) -> None:
        self.record.settled.append((event, data))

    async def observe(self, event: str, data: dict[str, Any]) -> HookResult:
        await suspend()
        return HookResult()

    async def ask(self, event: str, data: dict[str, Any]) -> HookResult:
        await suspend()
        prompt = data["tool_call_id"]
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
        return await self.session.coordinator.get("context").get_messages()
