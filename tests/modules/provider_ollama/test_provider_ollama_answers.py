"""What comes back: ids before events and response, thinking, usage, chunks, and no half answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.message_models import ChatRequest, ChatResponse, Message, ToolSpec
from amplifier_testing.servers import Answer, Call, Fault, OllamaServer, Recorded, Thinking
from amplifier_testing.servers import Usage as Tokens

TOOLS = [ToolSpec(name="look", parameters={}), ToolSpec(name="a b", parameters={})]
REQUEST = ChatRequest(messages=[Message(role="user", content="hi")], tools=TOOLS)
CALLS = Answer(Thinking("Hm."), "I look.", Call("look", {"at": "a"}), Call("look", {"at": "b"}))


def recorded(*lines: dict[str, Any]) -> Recorded:
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return Recorded(body, content_type="application/x-ndjson")


@pytest.mark.parametrize("use_streaming", [True, False])
async def test_calls_get_ids_that_events_and_response_share(
    server: OllamaServer, hooks: Any, provider_with: Any, use_streaming: bool
) -> None:
    server.answers = [CALLS]
    provider = provider_with(use_streaming=use_streaming, enable_thinking=True)
    response = await provider.complete(REQUEST)

    calls = provider.parse_tool_calls(response)
    expected = [("made_1", {"at": "a"}), ("made_2", {"at": "b"})]
    assert [(each.id, each.arguments) for each in calls] == expected
    blocks = [each.id for each in response.content if each.type == "tool_call"]
    assert blocks == ["made_1", "made_2"]
    started = hooks.of("content_block:start")
    assert [each["block_type"] for each in started] == ["thinking", "text", *["tool_call"] * 2]
    assert [each["metadata"]["id"] for each in started[2:]] == ["made_1", "made_2"]
    ended = [each["block"] for each in hooks.of("content_block:end")]
    assert [each["id"] for each in ended[2:]] == ["made_1", "made_2"]
    assert ended[2]["raw"] == {"function": {"name": "look", "arguments": {"at": "a"}}}
    assert (response.finish_reason, response.metadata["stop_reason"]) == ("tool_use", "stop")
    assert response.metadata["content_blocks_emitted"] is True


async def test_an_id_of_the_server_is_kept(server: OllamaServer, provider_with: Any) -> None:
    server.answers = [Answer(Call("look", id="of_the_server"), Call("look"))]
    response = await provider_with().complete(REQUEST)
    assert [each.id for each in response.tool_calls or []] == ["of_the_server", "made_1"]


async def test_results_go_back_to_the_calls_of_the_model(
    server: OllamaServer, provider_with: Any
) -> None:
    server.answers = [CALLS, "Done."]
    provider = provider_with(enable_thinking=True)
    response = await provider.complete(REQUEST)
    said = Message(role="assistant", content=response.content, metadata=response.metadata)
    results = [
        Message(role="tool", tool_call_id=each, content=each) for each in ("made_2", "made_1")
    ]
    messages = [*REQUEST.messages, said, *results]
    await provider.complete(REQUEST.model_copy(update={"messages": messages}))

    _, answered, *told = server.requests[-1].body["messages"]
    assert answered["thinking"] == "Hm."
    assert [each["content"] for each in told] == ["made_1", "made_2"]
    assert server.refusals == []


async def test_chunks_yield_the_text_and_then_the_response(
    server: OllamaServer, hooks: Any, provider_with: Any
) -> None:
    server.answers = [Answer(Thinking("Hm."), "one two three", Call("look"), fragment=4)]
    pieces = [each async for each in provider_with(enable_thinking=True).chunks(REQUEST)]
    *chunks, response = pieces
    assert [(each.type, each.content) for each in chunks] == [
        ("thinking", "Hm."),
        *(("message", text) for text in ("one ", "two ", "thre", "e")),
        ("tool_call", ""),
        ("tool_call", ""),
    ]
    assert isinstance(response, ChatResponse)
    assert [each.id for each in response.tool_calls or []] == ["made_1"]
    assert {name for name, _ in hooks.events} == {"llm:request", "llm:response"}


async def test_tokens_that_the_server_does_not_count_are_unknown(
    server: OllamaServer, hooks: Any, provider_with: Any
) -> None:
    server.answers = [Answer("a", usage=Tokens(input=7, output=3)), "b", "c"]
    server.answers[1] = recorded({"message": {"content": "b"}, "done": True, "eval_count": 5})
    server.answers[2] = recorded({"message": {"content": "c"}, "done": True})
    counted, half, none = [await provider_with().complete(REQUEST) for _ in range(3)]
    assert (counted.usage.input_tokens, counted.usage.output_tokens) == (7, 3)
    assert (half.usage.output_tokens, none.usage) == (5, None)
    assert [each["usage"] for each in hooks.of("llm:response")][-1] == {}


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "end_turn"), ("length", "max_tokens"), ("load", "other"), (None, "end_turn")],
)
async def test_the_reason_of_the_end_is_kept(
    server: OllamaServer, provider_with: Any, reason: str | None, finish: str
) -> None:
    told = {"done_reason": reason} if reason else {}
    server.answers = [recorded({"message": {"content": "a"}, "done": True, **told})]
    response = await provider_with().complete(REQUEST)
    assert (response.finish_reason, response.metadata["stop_reason"]) == (finish, reason)


async def test_arguments_that_are_no_object_never_reach_a_tool(
    server: OllamaServer, provider_with: Any
) -> None:
    server.answers = [Answer(Call("look", "no JSON"))]
    provider = provider_with()
    [call] = provider.parse_tool_calls(await provider.complete(REQUEST))
    assert call.arguments == {}
    assert call.error


async def test_a_tool_is_called_by_its_own_name(server: OllamaServer, provider_with: Any) -> None:
    server.answers = [Answer(Call("a_b_c8687a08"))]
    response = await provider_with().complete(REQUEST)
    assert [each.name for each in response.tool_calls or []] == ["a b"]


async def test_a_stream_without_its_last_line_is_no_answer(
    server: OllamaServer, provider_with: Any
) -> None:
    server.answers = [
        recorded({"message": {"content": "a"}, "done": False}),
        recorded(
            {"message": {"tool_calls": [{"function": {"name": "look", "arguments": {}}}]}},
            {"error": "out of memory"},
        ),
    ]
    provider = provider_with()
    with pytest.raises(llm_errors.StreamError, match="was cut off"):
        await provider.complete(REQUEST)
    with pytest.raises(llm_errors.ProviderUnavailableError, match="out of memory"):
        await provider.complete(REQUEST)


async def test_blank_lines_and_unknown_fields_are_no_harm(
    server: OllamaServer, provider_with: Any
) -> None:
    body = b'\n\n{"new":1,"message":{"content":"a","later":[]}}\n\r\n{"done":true}\n\n'
    server.answers = [Recorded(body, content_type="application/x-ndjson")]
    assert (await provider_with().complete(REQUEST)).text == "a"


@pytest.mark.parametrize("kind", ["text/html", "text/event-stream"])
async def test_an_answer_of_another_type_is_no_answer(
    server: OllamaServer, provider_with: Any, kind: str
) -> None:
    server.faults = [Fault(content_type=kind)]
    with pytest.raises(llm_errors.ConfigurationError) as caught:
        await provider_with().complete(REQUEST)
    assert caught.value.hint == "check `OLLAMA_HOST`"


async def test_chat_completions_say_the_same(server: OllamaServer, provider_with: Any) -> None:
    said: list[Any] = []
    for api in ("native", "openai"):
        server.answers = [CALLS]
        provider = provider_with(api=api, enable_thinking=True)
        response = await provider.complete(REQUEST)
        blocks = [each.model_dump(exclude={"id"}, exclude_none=True) for each in response.content]
        said.append((blocks, response.finish_reason, response.metadata["provider"]))
    assert said[0] == said[1]
    assert server.refusals == []
