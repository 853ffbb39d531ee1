"""The mistakes of the guide with providers, models without tools, their recovery, and contexts."""

from __future__ import annotations

import asyncio
from contextlib import chdir
from tempfile import TemporaryDirectory
from typing import Any

from mistakes import add, mistake, model

from amplifier_agent import Agent, BaseProvider, ScriptedProvider
from amplifier_core import ChatResponse
from amplifier_core.llm_errors import ContextLengthError

# recovery


@mistake("recovery", "`require_call` without a tool that ends the turn")
def _() -> None:
    loop = {"module": "loop-basic", "config": {"require_call": True}}
    Agent(model(), loop=loop).run_sync("go")


# providers


class Small(BaseProvider):
    """Yields one piece, and then a word."""

    name = "small"

    def __init__(self, piece: Any) -> None:
        self._pieces = [piece]
        self.requests: list[Any] = []

    async def chunks(self, request: Any, **options: Any) -> Any:
        self.requests.append(request)
        yield self._pieces.pop() if self._pieces else "Done."


class Neither(BaseProvider):
    name = "neither"


class Mine(BaseProvider):
    name = "mine"

    def complete(self, request: Any, **options: Any) -> Any:
        return ChatResponse(content=[])


class Texter(BaseProvider):
    name = "texter"

    async def complete(self, request: Any, **options: Any) -> Any:
        return "Hello"


class Chunky(BaseProvider):
    name = "chunky"

    async def chunks(self, request: Any, **options: Any) -> Any:
        return "Hello"


mistake("providers", "a `complete` that returns text")(lambda: Agent(Texter()).run_sync("go"))
mistake("providers", "`chunks` that returns")(lambda: Agent(Chunky()).run_sync("go"))
mistake("providers", "no key")(lambda: Agent("anthropic:claude-sonnet-4-5").run_sync("go"))
mistake("providers", "a misspelt provider")(lambda: Agent("anthropc:claude").run_sync("go"))
mistake("providers", "a model without its provider")(lambda: Agent("claude-sonnet-4-5"))
mistake("providers", "neither `chunks` nor `complete`")(lambda: Agent(Neither()).run_sync("go"))
mistake("models-without-tools", "a provider that yields something else")(
    lambda: Agent(Small(3), loop="loop-tagged").run_sync("go")
)


@mistake("models-without-tools", "a `tool_prompt` without `{tools}`")
def _() -> None:
    loop = {"module": "loop-tagged", "config": {"tool_prompt": "Use tools."}}
    Agent(Small("Hi"), loop=loop).run_sync("go")


@mistake("models-without-tools", "an answer that ends within a call")
def _() -> str:
    small = Small('<tool>{"tool_name": "add", "arguments": {"a": 1')
    Agent(small, tools=[add], loop="loop-tagged").run_sync("go")
    return str(small.requests[1].messages[-1].content)


mistake("providers", "a `complete` that is not `async`")(lambda: Agent(Mine()).run_sync("go"))


# contexts


@mistake("contexts", "an unknown key in `config`")
def _() -> None:
    context = {"module": "context-simple", "config": {"max_token": 3}}
    Agent(model(), context=context).run_sync("go")


@mistake("contexts", "a prompt that does not fit even when everything else is left out")
def _() -> None:
    refused = ContextLengthError("prompt is too long", provider="scripted")
    context = {"module": "context-simple", "config": {"max_tokens": 50}}
    scripted = ScriptedProvider([refused], repeat=True)
    Agent(scripted, context=context).run_sync("word " * 500)


@mistake("contexts", "two sessions with one file")
def _() -> None:
    async def main() -> None:
        context = {"module": "context-persistent", "config": {"path": "chat.jsonl"}}
        agent = Agent(model(), context=context)
        async with agent.session(), agent.session():
            pass

    with TemporaryDirectory() as folder, chdir(folder):
        asyncio.run(main())


@mistake("contexts", "a history with a call that has no result")
def _() -> None:
    call = {"type": "tool_call", "id": "1", "name": "add", "input": {}}
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": [call]}]
    Agent(model()).run_sync("on", messages=messages)


@mistake("contexts", "a method of your own context that is not `async`")
def _() -> None:
    class Memory:
        def add_message(self, message: Any) -> None: ...

        async def get_messages(self) -> list[Any]:
            return []

        get_messages_for_request = set_messages = clear = get_messages

    Agent(model(), context=Memory()).run_sync("go")  # type: ignore[arg-type]
