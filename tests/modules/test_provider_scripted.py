"""The scripted model."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_providers.scripted import ScriptedProvider


def request(text: str = "one two three") -> ChatRequest:
    return ChatRequest(messages=[Message(role="user", content=text)])


async def pieces(provider: ScriptedProvider, text: str = "one two three") -> list[Any]:
    return [piece async for piece in provider.chunks(request(text))]


async def test_a_text_comes_word_by_word_and_then_as_a_response() -> None:
    *words, response = await pieces(ScriptedProvider(["Hello  there,\nworld"]))
    assert words == ["Hello  ", "there,\n", "world"]
    assert response == ChatResponse(
        content=[TextBlock(text="Hello  there,\nworld")],
        usage=Usage(input_tokens=4, output_tokens=4, total_tokens=8),
        finish_reason="end_turn",
    )


async def test_tool_calls_and_blocks_are_written_as_mappings() -> None:
    script = [
        {"tool": "add", "arguments": {"a": 1}},
        [{"type": "thinking", "thinking": "hm"}, {"tool": "add"}, {"tool": "add", "id": "mine"}],
    ]
    provider = ScriptedProvider(script)
    first, second = [(await pieces(provider))[-1] for _ in script]
    assert first.content == [ToolCallBlock(id="call_1", name="add", input={"a": 1})]
    assert first.tool_calls == [ToolCall(id="call_1", name="add", arguments={"a": 1})]
    assert first.finish_reason == "tool_use"
    assert second.content == [
        ThinkingBlock(thinking="hm"),
        ToolCallBlock(id="call_2", name="add", input={}),
        ToolCallBlock(id="mine", name="add", input={}),
    ]


async def test_exceptions_are_raised_and_functions_asked() -> None:
    def answer(asked: ChatRequest) -> str:
        return str(asked.messages[-1].content).upper()

    provider = ScriptedProvider([KeyError("gone"), answer, lambda _: answer])
    with pytest.raises(KeyError, match="gone"):
        await pieces(provider)
    assert (await pieces(provider, "loud"))[0] == "LOUD"
    assert (await pieces(provider, "again"))[0] == "AGAIN"


async def test_requests_are_kept_as_they_were() -> None:
    provider = ScriptedProvider(["a"])
    asked = request("first")
    await provider.complete(asked)
    asked.messages.append(Message(role="user", content="later"))
    assert provider.requests == [request("first")]
    assert provider.remaining == 0


async def test_the_end_of_the_script_is_an_assertion() -> None:
    provider = ScriptedProvider(["only"])
    await provider.complete(request())
    with pytest.raises(AssertionError) as caught:
        await provider.complete(request())
    assert str(caught.value) == (
        "the script of the model is over: request 2 came after its 1 answers; add one, or set"
        " `repeat=True`"
    )


async def test_a_script_repeats() -> None:
    provider = ScriptedProvider(["a", "b"], repeat=True)
    texts = [(await pieces(provider))[0] for _ in range(5)]
    assert texts == ["a", "b", "a", "b", "a"]
    assert provider.remaining == 1


@pytest.mark.parametrize(
    ("script", "error", "message"),
    [
        ("text", TypeError, "`script` is a `str` (must be a list of answers)"),
        ([5], TypeError, "item 0 of the script is a `int` (must be a text, a mapping, a list of"),
        (["a", [5]], TypeError, "item 1 of the script holds a `int` (must be a mapping)"),
        ([{"tool": "a", "args": {}}], ValueError, "item 0 of the script: a tool call has no key"),
        ([{"tool": "a", "arguments": 5}], ValueError, "item 0 of the script is neither a tool"),
        ([{"type": "text"}], ValueError, "item 0 of the script is neither a tool call"),
    ],
)
def test_a_script_that_cannot_be_used_is_refused(
    script: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        ScriptedProvider(script)
    assert str(caught.value).startswith(message)


def test_nothing_cannot_be_repeated() -> None:
    with pytest.raises(ValueError, match="there is nothing to repeat"):
        ScriptedProvider([], repeat=True)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param
