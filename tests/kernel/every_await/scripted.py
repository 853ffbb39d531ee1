"""The modules of a session that is interrupted: a loop of ours, a model, a tool, a user."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import anyio.lowlevel

from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall, ToolCallBlock
from amplifier_core.models import ToolResult
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops import basic, streaming, tagged
from amplifier_providers.base import BaseProvider

if TYPE_CHECKING:
    from subject import Subject

PROMPTS = ("Look.", "Look again.")
ANSWER = "It says 42."
BEFORE, AFTER = "I look.", " Then I tell."
"""What the model writes around calls in tags."""


async def suspend(times: int = 1) -> None:
    for _ in range(times):
        await anyio.lowlevel.checkpoint()


class Model:
    """Asks for the tool in its first answer of a turn, and answers in the second."""

    def __init__(self, subject: Subject, calls: int) -> None:
        self.subject, self.calls = subject, calls

    def ids(self, request: Any) -> list[str]:
        """The ids of the calls that it asks for; none to answer."""
        if self.subject.record.responses:
            return []
        return [f"{len(request.messages)}-{number}" for number in range(self.calls)]

    def answered(self, ids: list[str], *, before: str = "", after: str = "") -> ChatResponse:
        """Note an answer."""
        texts = [[TextBlock(text=text)] if text else [] for text in (before, after)]
        calls = [ToolCallBlock(id=id, name="look", input={"id": id}) for id in ids]
        response = ChatResponse(
            content=[*texts[0], *calls, *texts[1]],
            tool_calls=[ToolCall(id=id, name="look", arguments={"id": id}) for id in ids],
        )
        self.subject.record.responses.append(response)
        return response


class Provider:
    """Gives the whole answer."""

    name = "scripted"

    def __init__(self, model: Model) -> None:
        self.model = model

    async def complete(self, request: Any, **options: Any) -> ChatResponse:
        await suspend(2)
        ids = self.model.ids(request)
        return self.model.answered(ids, after="" if ids else ANSWER)


class TaggedProvider(BaseProvider):
    """Gives an answer piece by piece, with the calls in tags."""

    name = "scripted"

    def __init__(self, model: Model) -> None:
        self.model = model

    async def chunks(self, request: Any, **options: Any) -> AsyncIterator[str]:
        ids = self.model.ids(request)
        texts = (BEFORE, AFTER) if ids else ("", ANSWER)
        await suspend()
        if texts[0]:
            yield texts[0]
        for id in ids:
            await suspend()
            self.model.subject.record.written.append(id)
            yield f"<tool>{json.dumps({'tool_name': 'look', 'arguments': {'id': id}})}</tool>"
        await suspend(8)  # early calls run meanwhile
        yield texts[1]
        self.model.answered(ids, before=texts[0], after=texts[1])


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


LOOPS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "loop-basic": (basic.mount, Provider, {}),
    "loop-streaming": (streaming.mount, Provider, {}),
    "loop-tagged": (tagged.mount, TaggedProvider, {}),
    "early": (tagged.mount, TaggedProvider, {"execute_while_streaming": True}),
}
"""How each loop is mounted, the provider that it asks, and its settings."""


class Loader:
    """A loader of our loops and context, and of the provider and the tool above."""

    def __init__(self, subject: Subject, loop: str, calls: int, context_class: Any) -> None:
        from subject import NOW

        mount, provider_class, settings = LOOPS[loop]

        async def mount_loop(coordinator: Any, config: Any) -> None:
            await mount(coordinator, settings)

        async def context(coordinator: Any, config: Any) -> None:
            made = context_class({}, coordinator.hooks, clock=lambda: NOW)
            await coordinator.mount("context", made)

        async def provider(coordinator: Any, config: Any) -> None:
            await coordinator.mount("providers", provider_class(Model(subject, calls)))

        async def tool(coordinator: Any, config: Any) -> None:
            await coordinator.mount("tools", Look(subject))

        self.mounts: dict[str, Any] = {
            loop: mount_loop,
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
