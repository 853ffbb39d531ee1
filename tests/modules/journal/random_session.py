"""Sessions of several turns in which anything may happen that a seed says."""

from __future__ import annotations

import asyncio
import copy
from contextlib import suppress
from random import Random
from typing import Any

import anyio
import anyio.lowlevel
from rebuilding import MESSAGE, REPLACED, Journal, rebuilt

from amplifier_core import _engine, coordinator
from amplifier_core.llm_errors import ContextLengthError, NetworkError
from amplifier_core.message_models import ChatResponse, TextBlock, ToolCall, ToolCallBlock
from amplifier_core.models import HookResult, ToolResult
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops import basic, streaming

ENGINES = (_engine.RustCoordinator, coordinator.ModuleCoordinator)
JUDGED = (
    "prompt:submit",
    "provider:request",
    "tool:pre",
    "tool:post",
    "orchestrator:steering_submitted",
)
OBSERVED = ("llm:pre", "llm:post", "content_block:end", "tool:error", "execution:start", "turn:end")
SETTLED = ("llm:pre", "orchestrator:complete")
"""Events at which nothing is on its way: what was told by then is the history."""


class ForeignContext:
    """A context of somebody else: it stores copies and hands out copies, and emits nothing."""

    def __init__(self, random: Random) -> None:
        self.messages: list[dict[str, Any]] = []
        self._suspends = random.random() < 0.5

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(copy.deepcopy(message))
        if self._suspends:
            await anyio.lowlevel.checkpoint()

    async def get_messages(self) -> list[dict[str, Any]]:
        return copy.deepcopy(self.messages)

    async def get_messages_for_request(self, **_: Any) -> list[dict[str, Any]]:
        return await self.get_messages()

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages = copy.deepcopy(messages)

    async def clear(self) -> None:
        self.messages = []


class Provider:
    name = "random"

    def __init__(self, session: RandomSession) -> None:
        self._session = session

    async def complete(self, request: Any, **options: Any) -> ChatResponse:
        return self._session.answer()


class StreamingProvider(Provider):
    async def stream(self, request: Any, tools: Any, **options: Any) -> Any:
        for piece in ("Let ", "me ", self._session.answer()):
            await self._session.maybe_wait()
            yield piece


class Tool:
    description = "A tool."
    input_schema = {"type": "object"}  # noqa: RUF012

    def __init__(self, session: RandomSession, name: str) -> None:
        self._session, self.name = session, name
        self.parallel = name != "alone"

    async def execute(self, arguments: dict[str, Any]) -> ToolResult:
        await self._session.maybe_wait()
        if self.name == "fail":
            raise ValueError("broken")
        await self._session.maybe_steer()
        await self._session.maybe_cancel()
        return ToolResult(output=f"{self.name} " * self._session.random.randint(1, 30))


class RandomSession:
    """A session, its journal, and what a seed makes of them."""

    def __init__(self, seed: int, *, foreign: bool) -> None:
        random = self.random = Random(seed)
        self.coordinator = random.choice(ENGINES)()
        self.hooks = self.coordinator.hooks
        self.is_foreign = foreign
        self.journal = Journal()
        self.was_cancelled = self.was_interrupted = False
        self.checked = 0
        self._cancels = random.random() < 0.6
        self._is_cancelled = False
        self._task: Any = None
        self._scope: Any = None
        self._names = 0
        self._added = 0
        # What comes after a hook that denies or changes an event does not see it as it was.
        self._is_first = random.random() < 0.5
        priority = -50 if self._is_first else 50
        for event in (MESSAGE, REPLACED):
            self.hooks.register(event, self._write, priority=priority, name="journal")
            if random.random() < 0.6:
                self.hooks.register(event, self._disturb, name="disturbing")
        for event in JUDGED:
            self.hooks.register(event, self._judge, name="judge")
        for event in OBSERVED:
            self.hooks.register(event, self._look_on, name="onlooker")
        for event in SETTLED:
            self.hooks.register(event, self._check, priority=-100, name="check")
        config = {"max_tokens": random.choice((400, 100_000))}
        given = random.choice((None, self.hooks))
        self.context: Any = ForeignContext(random) if foreign else SimpleContext(config, given)
        self.tools = {name: Tool(self, name) for name in ("look", "fail", "alone")}
        kind = random.choice((Provider, StreamingProvider))
        self.provider = kind(self)
        self._module = random.choice((basic, streaming))

    async def run(self) -> None:
        """Run the turns of the session, and check the history whenever it is settled."""
        random = self.random
        await self.coordinator.mount("context", self.context)
        config = {"max_iterations": random.choice((-1, 2, 4))}
        await self._module.mount(self.coordinator, config)
        if random.random() < 0.5:
            for number in range(random.randint(1, 6)):
                role = ("user", "assistant")[number % 2]
                await self.context.add_message({"role": role, "content": self._text()})
        for _ in range(random.randint(1, 4)):
            await self._turn()
            self.coordinator.cancellation.reset()
            if random.random() < 0.15:
                await self.context.clear()
            elif random.random() < 0.2:
                messages = await self.context.get_messages()
                await self.context.set_messages(messages[random.randint(0, len(messages)) :])
            if not self.is_foreign and self.context.history_events.is_connected_to(self.hooks):
                await self._compare()
        await self._turn(cancels=False)
        await self._compare()
        if not self.was_cancelled:
            numbers = self.journal.numbers()
            assert numbers == list(range(1, len(numbers) + 1))

    async def _turn(self, *, cancels: bool = True) -> None:
        self._is_cancelled = not cancels
        with anyio.CancelScope() as self._scope:
            if is_asyncio():
                self._task = asyncio.create_task(self._execute())
                await asyncio.wait([self._task])
            else:
                await self._execute()

    async def _execute(self) -> None:
        with suppress(NetworkError, ContextLengthError, asyncio.CancelledError):
            await self.coordinator.get("orchestrator").execute(
                self._text(),
                self.context,
                {"random": self.provider},
                self.tools,
                self.hooks,
                coordinator=self.coordinator,
            )

    def answer(self) -> ChatResponse:
        """Return what the model says, or raise."""
        random, chance = self.random, self.random.random()
        if chance < 0.06:
            raise random.choice((NetworkError, ContextLengthError))("no")
        blocks: list[Any] = [TextBlock(text=self._text())] if chance < 0.8 else []
        calls = []
        for _ in range(random.choice((0, 1, 1, 2, 3)) if chance > 0.3 else 0):
            self._names += 1
            name = random.choice(("look", "look", "fail", "alone", "unknown"))
            calls.append(ToolCall(id=f"call_{self._names}", name=name, arguments={"a": [1, None]}))
            blocks.append(ToolCallBlock(id=calls[-1].id, name=name, input=calls[-1].arguments))
        return ChatResponse(
            content=blocks, tool_calls=calls or None, metadata=random.choice((None, {"id": "ä\n"}))
        )

    async def maybe_wait(self) -> None:
        for _ in range(self.random.choice((0, 0, 1, 2))):
            await anyio.lowlevel.checkpoint()

    async def maybe_steer(self) -> None:
        steer = self.coordinator.get_capability("session.steer")
        if steer is not None and self.random.random() < 0.2:
            steer(self._text())

    async def maybe_cancel(self) -> None:
        """Cancel the turn in one of the ways there are, sometimes."""
        if not self._cancels or self._is_cancelled or self.random.random() > 0.03:
            return
        self._is_cancelled = self.was_cancelled = True
        token = self.coordinator.cancellation
        way = self.random.choice(("graceful", "immediate", "task"))
        if way == "graceful":
            token.request_graceful()
        elif way == "immediate":
            token.request_immediate()
        elif is_asyncio():
            self.was_interrupted = True
            self._task.cancel()
        else:
            self._scope.cancel()
        await anyio.lowlevel.checkpoint()

    async def _judge(self, event: str, data: dict[str, Any]) -> HookResult:
        await self.maybe_wait()
        await self.maybe_cancel()
        chance = self.random.random()
        if chance < 0.05:
            return HookResult(action="deny", reason="no")
        if chance < 0.25:
            return HookResult(
                action="inject_context",
                context_injection=self._text(),
                context_injection_role=self.random.choice(("user", "system", "assistant")),
                ephemeral=self.random.random() < 0.3,
            )
        return HookResult()

    async def _look_on(self, event: str, data: dict[str, Any]) -> None:
        await self.maybe_wait()
        await self.maybe_steer()
        await self.maybe_cancel()

    def _write(self, event: str, data: dict[str, Any]) -> None:
        self.journal.write(event, data)

    async def _disturb(self, event: str, data: dict[str, Any]) -> Any:
        """Wait, cancel, change the payload, deny, raise, add a message: nothing of it may count."""
        await self.maybe_wait()
        await self.maybe_cancel()
        chance = self.random.random()
        if chance < 0.1 and self._is_first:
            data.get("message", {}).clear()
            return HookResult(
                action="modify", data={**data, "message": {}, "index": 0, "number": 1}
            )
        if chance < 0.15:
            raise ValueError("a hook that fails")
        if chance < 0.2 and self._added < 3:
            self._added += 1
            await self.context.add_message({"role": "user", "content": self._text()})
        return None

    async def _check(self, event: str, data: dict[str, Any]) -> None:
        if not self.was_interrupted:
            await self._compare()

    async def _compare(self) -> None:
        self.checked += 1
        assert rebuilt(self.journal.lines) == await self.context.get_messages()

    def _text(self) -> str:
        return self.random.choice(("hello", "ä😀", "", " x\n", "word " * 40)) + str(
            self.random.randint(0, 9)
        )


def is_asyncio() -> bool:
    import sniffio

    return sniffio.current_async_library() == "asyncio"
