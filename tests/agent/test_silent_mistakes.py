"""Mistakes of a program that were silent, or that Python reported in words of its own."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_agent import Agent, BaseProvider, ScriptedProvider, ToolContext, hook, tool
from amplifier_core import ChatRequest, ChatResponse, HookResult, TextBlock
from amplifier_core.llm_errors import ConfigurationError

HERE = __name__


class Look:
    """A tool."""

    description = "looks"

    def __init__(self) -> None:
        self.name = "look"

    async def execute(self, input: dict[str, Any]) -> str:
        return "seen"


class Named(Look):
    name = "named"


class Returning(BaseProvider):
    """A provider that returns this, whatever it is."""

    name = "returning"

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    async def complete(self, request: ChatRequest, **options: Any) -> Any:
        return self._answer


class Chunkless(BaseProvider):
    name = "chunkless"

    async def chunks(self, request: ChatRequest, **options: Any) -> Any:  # type: ignore[override]
        return "text"


class Plain(BaseProvider):
    name = "plain"

    def chunks(self, request: ChatRequest, **options: Any) -> Any:
        return "text"


class Hidden(BaseProvider):
    """Returns a coroutine from a function that is none."""

    name = "hidden"

    def chunks(self, request: ChatRequest, **options: Any) -> Any:
        async def text() -> str:
            return "text"

        return text()


YIELDS = "must be an async generator: `async def chunks(self, request, **options)` with `yield`"
INSTEAD = "must be a `ChatResponse`, such as `ChatResponse(content=[TextBlock(text=text)])`"


def typo(event: str, data: dict[str, Any]) -> HookResult:
    return HookResult(actoin="deny", reason="no")  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    ("event", "status", "told"),
    [
        ("prompt:submit", "denied", ""),
        ("provider:request", "denied", ""),
        ("tool:pre", "completed", "Denied by hook: "),
        ("tool:post", "completed", "Denied by hook: "),
    ],
)
async def test_a_hook_that_misspells_a_key_refuses_the_step_of_an_agent(
    event: str, status: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    said = (
        f"hook `typo` (`{HERE}.typo`) answered `{event}` with the unknown key `actoin` (did you"
        " mean `action`?)"
    )

    @tool
    def look() -> str:
        """Look."""
        return "seen"

    model = ScriptedProvider([{"tool": "look"}, "Done."])
    with caplog.at_level(logging.ERROR, "amplifier_core.hooks"):
        result = await Agent(model, tools=[look], hooks=[hook(event)(typo)]).run("go")
    assert result.status == status
    if told:
        [message] = [each for each in result.messages if each["role"] == "tool"]
        assert message["content"] == told + said
    else:
        assert result.reason is not None
        assert result.reason.endswith(said)
    assert caplog.messages == [f"SECURITY: {said}; denying"]


def test_a_hook_that_no_event_can_call_is_refused_where_it_is_made() -> None:
    def of_data(data: dict[str, Any]) -> None: ...

    name = f"{HERE}.{of_data.__qualname__}"
    for decorate, where in (
        (hook("tool:pre", "tool:post"), "`tool:pre`, `tool:post`"),
        (hook("*"), "`*`"),
    ):
        with pytest.raises(TypeError) as raised:
            decorate(of_data)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        assert str(raised.value) == (
            f"the handler `{name}` of {where} takes `(data: 'dict[str, Any]') -> 'None'` (must be"
            " a function of the event and its data, such as `def handle(event, data)`)"
        )


# Holds: agent-12
async def test_a_tool_class_is_refused_at_the_start() -> None:
    tools: list[Any] = [Look, Named, Named()]
    with pytest.raises(ConfigurationError) as raised:
        await Agent(ScriptedProvider(["a"]), tools=tools).run("go")
    assert str(raised.value) == "; ".join(
        f"the tool `{name}` is a class (must be an instance, such as `{name}()`)"
        for name in ("Look", "Named")
    )


# Holds: agent-12
@pytest.mark.parametrize("optional", [False, True])
def test_a_context_that_is_not_the_first_parameter_is_refused(optional: bool) -> None:
    def late(a: int, ctx: ToolContext) -> str:
        return ""

    def perhaps(a: int, ctx: ToolContext | None = None) -> str:
        return ""

    function: Any = perhaps if optional else late
    with pytest.raises(ConfigurationError) as raised:
        Agent("demo", tools=[function])
    assert isinstance(raised.value, TypeError)
    name = function.__name__
    assert str(raised.value) == (
        f"`ctx` of `{name}` is a `ToolContext` (must be the first parameter: `def {name}(ctx:"
        " ToolContext, …)`)"
    )


# Holds: agent-12
async def test_chunks_that_return_are_refused_at_the_start() -> None:
    with pytest.raises(ConfigurationError) as raised:
        await Agent(Chunkless()).run("go")
    assert str(raised.value) == (
        f"`chunks` of the provider `chunkless` returns instead of yielding ({YIELDS})"
    )


@pytest.mark.parametrize(("provider", "found"), [(Plain(), "str"), (Hidden(), "coroutine")])
async def test_chunks_that_return_are_refused_at_the_call(provider: Any, found: str) -> None:
    with pytest.raises(TypeError) as raised:
        await Agent(provider).run("go")
    name = type(provider).__name__
    assert str(raised.value) == f"`chunks` of `{name}` returned a `{found}` ({YIELDS})"


# Holds: agent-12
@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
@pytest.mark.parametrize("answer", ["text", {"content": "text"}, None, b"text", ["text"]])
async def test_a_provider_that_returns_no_response_is_named(loop: str, answer: Any) -> None:
    with pytest.raises(TypeError) as raised:
        await Agent(Returning(answer), loop=loop).run("go")
    found = type(answer).__name__
    assert str(raised.value) == (
        f"`complete` of the provider `returning` returned a `{found}` ({INSTEAD})"
    )


async def test_a_response_of_another_type_is_taken_as_it_is() -> None:
    response = SimpleNamespace(content=[TextBlock(text="hi")], tool_calls=None, usage=None)
    assert (await Agent(Returning(response)).run("go")).text == "hi"
    assert (await Agent(Returning(ChatResponse(content=response.content))).run("go")).text == "hi"


def test_a_plain_for_over_a_stream_says_what_is_right() -> None:
    agent = Agent(ScriptedProvider(["a"]))
    stream: Any = agent.stream("go")
    assert isinstance(stream, AsyncIterator)
    for take in (iter, list, tuple):
        with pytest.raises(TypeError, match="a stream of events is asynchronous: use `async for`"):
            take(stream)
