"""Answers of the Responses API: what they become, and which events they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from responses_wire import (
    Answer,
    Hooks,
    Server,
    call,
    cut_off,
    message,
    reasoning,
    response,
    stream,
)

from amplifier_core import ModuleCoordinator
from amplifier_core.content_models import TextContent, ThinkingContent, ToolCallContent
from amplifier_core.llm_errors import (
    ContentFilterError,
    ContextLengthError,
    LLMError,
    NotFoundError,
    ProviderUnavailableError,
    RateLimitError,
    StreamError,
)
from amplifier_core.message_models import ChatRequest, Message, ToolCall
from amplifier_providers import openai
from amplifier_providers.answers.pieces import text_of_piece
from amplifier_providers.openai import OpenAIProvider

REQUEST = ChatRequest(messages=[Message(role="user", content="hi")])

Make = Callable[..., OpenAIProvider]


async def test_an_answer_has_its_blocks_its_usage_and_what_is_needed_to_go_on(
    server: Server, make: Make
) -> None:
    server.answers = [Answer.of(reasoning(), message("Hello you."), call())]
    provider = make(prices={"gpt": {"input": 1, "output": 10, "cache_read": 0.1}})

    answer = await provider.complete(REQUEST)

    assert [block.type for block in answer.content] == ["thinking", "text", "tool_call"]
    assert [(each.id, each.name, each.arguments) for each in provider.parse_tool_calls(answer)] == [
        ("call_1", "look", {"at": 1})
    ]
    assert answer.usage is not None
    assert answer.usage.model_dump(exclude_none=True) == {
        "input_tokens": 20,
        "output_tokens": 12,
        "total_tokens": 32,
        "reasoning_tokens": 4,
        "cache_read_tokens": 5,
        "cost_usd": "0.0001355",
    }
    assert answer.finish_reason == "tool_use"
    known = answer.metadata or {}
    assert (known["provider"], known["model"], known["requested_model"]) == (
        "openai",
        "gpt-5.5-2026-04-23",
        "gpt-5.5",
    )
    assert (known["openai:response_id"], known["openai:status"]) == ("resp_1", "completed")
    assert known["openai:reasoning_items"] == [reasoning()]
    assert "openai:chain" not in known


async def test_blocks_come_also_as_dataclasses_with_the_item_of_the_wire(
    server: Server, make: Make
) -> None:
    server.answers = [Answer.of(reasoning(), message("Hello"), call())]

    thinking, text, called = (await make().complete(REQUEST)).content_blocks  # pyright: ignore

    assert thinking == ThinkingContent(text="Hm.", raw=reasoning())
    assert text == TextContent(text="Hello", raw=message("Hello"))
    assert called == ToolCallContent(id="call_1", name="look", arguments={"at": 1}, raw=call())


async def test_events_are_emitted_while_the_answer_arrives(
    server: Server, make: Make, hooks: Hooks
) -> None:
    server.answers = [Answer.of(reasoning(), message("Hello you."), call())]

    await make().complete(REQUEST)

    assert hooks.names() == [
        "llm:request",
        *("content_block:start", "content_block:delta", "content_block:end"),
        *("content_block:start", *["content_block:delta"] * 2, "content_block:end"),
        *("content_block:start", "content_block:delta", "content_block:end"),
        "llm:response",
    ]
    ends = hooks.data("content_block:end")
    assert [data["block"]["raw"] for data in ends] == [
        reasoning(),
        message("Hello you."),
        call(),
    ]
    assert hooks.data("llm:request")[0]["max_tokens"] == 4_096
    assert hooks.data("llm:response")[0]["usage"]["reasoning_tokens"] == 4


async def test_chunks_are_the_text_and_then_the_response(server: Server, make: Make) -> None:
    server.answers = [Answer.of(reasoning(), message("Hello you."))]

    pieces = [piece async for piece in make().chunks(REQUEST)]

    assert [text for piece in pieces if (text := text_of_piece(piece))] == ["Hello", " you."]
    assert getattr(pieces[-1], "text", None) == "Hello you."


async def test_citations_come_with_the_text_and_go_back_with_it(server: Server, make: Make) -> None:
    cited = {"type": "url_citation", "url": "https://e.org", "title": "E", "start_index": 0}
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    found = {**search, "action": {"type": "search", "query": "e", "sources": []}}
    server.answers = [
        Answer.of(found, message("Hello", annotations=[cited])),
        Answer.of(message("Bye")),
    ]
    provider = make(default_model="gpt-4.1", tools=[{"type": "web_search"}])

    answer = await provider.complete(REQUEST)
    said = Message(role="assistant", content=answer.content, metadata=answer.metadata)
    await provider.complete(ChatRequest(messages=[*REQUEST.messages, said, *REQUEST.messages]))

    searched, text = answer.content
    assert searched.model_dump() == found
    assert text.annotations == [cited]  # pyright: ignore
    _, sent_search, sent_text, _ = server.bodies[-1]["input"]
    assert sent_search == found
    assert sent_text["content"] == [
        {"type": "output_text", "text": "Hello", "annotations": [cited]}
    ]


async def test_an_image_that_the_service_makes_is_an_image_and_goes_back_as_its_item(
    server: Server, make: Make
) -> None:
    made = {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "output_format": "webp",
        "result": "AAAA",
    }
    server.answers = [Answer.of(made), Answer.of(message("Bye"))]
    provider = make(default_model="gpt-4.1")

    answer = await provider.complete(REQUEST)
    said = Message(role="assistant", content=answer.content, metadata=answer.metadata)
    await provider.complete(ChatRequest(messages=[*REQUEST.messages, said, *REQUEST.messages]))

    (image,) = answer.content
    assert image.model_dump()["source"] == {
        "type": "base64",
        "media_type": "image/webp",
        "data": "AAAA",
    }
    assert server.bodies[-1]["input"][1] == made


async def test_a_custom_call_has_its_text_and_is_answered_as_one(
    server: Server, make: Make
) -> None:
    custom = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "patch"}
    server.answers = [Answer.of({**custom, "input": "*** Begin"}), Answer.of(message("Bye"))]
    provider = make()

    answer = await provider.complete(REQUEST)
    said = Message(role="assistant", content=answer.content, metadata=answer.metadata)
    result = Message(role="tool", tool_call_id="call_1", content="done")
    await provider.complete(ChatRequest(messages=[*REQUEST.messages, said, result]))

    (called,) = provider.parse_tool_calls(answer)
    assert called.arguments == {"input": "*** Begin"}
    assert server.bodies[-1]["input"][1:] == [
        {"type": "custom_tool_call", "call_id": "call_1", "name": "patch", "input": "*** Begin"},
        {"type": "custom_tool_call_output", "call_id": "call_1", "output": "done"},
    ]


async def test_a_refusal_is_no_answer(server: Server, make: Make) -> None:
    refused = message("")
    refused["content"] = [{"type": "refusal", "refusal": "No."}]
    server.answers = [Answer.of(refused)]

    answer = await make().complete(REQUEST)

    (block,) = answer.content
    assert (answer.finish_reason, block.text, block.refusal) == ("refusal", "", "No.")  # pyright: ignore


async def test_a_tool_sent_under_another_name_is_called_by_its_own(
    server: Server, make: Make
) -> None:
    from amplifier_core.message_models import ToolSpec

    tool = ToolSpec(name="mcp.server/tool", parameters={})

    def answered(asked: Any) -> Answer:
        return Answer.of(call(name=asked.body["tools"][0]["name"]))

    server.answers = [answered]
    provider = make()
    answer = await provider.complete(ChatRequest(messages=REQUEST.messages, tools=[tool]))
    assert [each.name for each in provider.parse_tool_calls(answer)] == ["mcp.server/tool"]


@pytest.mark.parametrize("status", ["failed", "cancelled"])
async def test_a_response_that_failed_runs_no_call(server: Server, make: Make, status: str) -> None:
    error = {"code": "server_error", "message": "It broke."}
    server.answers = [Answer.of(call(), status=status, error=error)]
    with pytest.raises(ProviderUnavailableError, match="It broke"):
        await make().complete(REQUEST)


async def test_a_stream_that_is_cut_off_runs_no_call(server: Server, make: Make) -> None:
    whole = stream(response(message("Hello"), call()))
    server.answers = [Answer(whole[:-300], is_cut=True), Answer(whole[:-300])]
    for _ in range(2):
        with pytest.raises(StreamError, match="no tool call of it was run"):
            await make().complete(REQUEST)


async def test_a_call_that_was_cut_has_no_arguments(server: Server, make: Make) -> None:
    broken = {**call(arguments='{"at": '), "status": "incomplete"}
    server.answers = [Answer(stream(cut_off(broken)))]
    provider = make(max_continuations=0)
    answer = await provider.complete(REQUEST)
    (called,) = provider.parse_tool_calls(answer)
    assert (called.arguments, bool(called.get("error"))) == ({}, True)
    assert isinstance(called, ToolCall)
    assert answer.finish_reason == "max_tokens"


@pytest.mark.parametrize(
    ("status", "code", "text", "error"),
    [
        (400, "context_length_exceeded", "Your input exceeds the window.", ContextLengthError),
        (400, "content_filter", "Filtered.", ContentFilterError),
        (404, "model_not_found", "The model `x` does not exist.", NotFoundError),
        (429, "rate_limit_exceeded", "Slow down.", RateLimitError),
        (500, "server_error", "It broke.", ProviderUnavailableError),
    ],
)
async def test_each_refusal_is_an_error_of_its_kind(
    server: Server, make: Make, status: int, code: str, text: str, error: type[LLMError]
) -> None:
    server.answers = [Answer.refused(status, code, text)]
    with pytest.raises(error) as caught:
        await make().complete(REQUEST)
    assert (type(caught.value), caught.value.status_code) == (error, status)
    assert text in str(caught.value)
    assert caught.value.provider == "openai"


async def test_a_failure_that_may_pass_is_tried_again(
    server: Server, make: Make, hooks: Hooks
) -> None:
    server.answers = [
        Answer.refused(503, "server_error", "Later."),
        Answer.of(message("Hello")),
    ]
    answer = await make(max_retries=1, min_retry_delay=0.0).complete(REQUEST)
    assert answer.finish_reason == "end_turn"
    assert [data["status_code"] for data in hooks.data("provider:retry")] == [503]


@pytest.mark.parametrize(
    ("engine", "sent"),
    [("native", {"type": "apply_patch"}), ("function", "apply_patch"), (None, "apply_patch")],
)
async def test_a_capability_says_which_form_of_the_tool_for_patches_is_sent(
    server: Server, engine: str | None, sent: Any
) -> None:
    from amplifier_core.message_models import ToolSpec

    server.answers = [Answer.of(message("Done"))] * 2
    coordinator = ModuleCoordinator()
    if engine is not None:
        coordinator.register_capability("apply_patch.engine", engine)
    close = await openai.mount(coordinator, {"api_key": "k", "base_url": f"{server.url}/v1"})
    assert close is not None
    provider: OpenAIProvider = coordinator.get("providers")["openai"]
    tools = [ToolSpec(name="apply_patch", parameters={})]

    await provider.complete(ChatRequest(messages=REQUEST.messages, tools=tools))
    await provider.complete(REQUEST)
    await close()

    (tool,) = server.bodies[0]["tools"]
    assert (tool if tool["type"] == "apply_patch" else tool["name"]) == sent
    assert "tools" not in server.bodies[1]


@pytest.mark.parametrize("fails", [False, True])
async def test_a_patch_of_the_services_tool_is_a_call_of_the_mounted_tool(
    server: Server, make: Make, fails: bool
) -> None:
    from amplifier_core.message_models import ToolSpec

    operation = {"type": "update_file", "path": "a.py", "diff": "@@\n-a\n+b\n"}
    patch = {"type": "apply_patch_call", "id": "apc_1", "call_id": "call_1", "status": "completed"}
    led = reasoning()
    server.answers = [Answer.of(led, {**patch, "operation": operation}), Answer.of(message("Bye"))]
    provider = make(tools=[{"type": "apply_patch"}])
    tools = [ToolSpec(name="apply_patch", parameters={}), ToolSpec(name="look", parameters={})]

    answer = await provider.complete(ChatRequest(messages=REQUEST.messages, tools=tools))
    said = Message(role="assistant", content=answer.content, metadata=answer.metadata)
    result = Message(
        role="tool", tool_call_id="call_1", content="done", metadata={"is_error": fails}
    )
    await provider.complete(ChatRequest(messages=[*REQUEST.messages, said, result], tools=tools))

    (called,) = provider.parse_tool_calls(answer)
    assert (called.id, called.name, called.arguments) == ("call_1", "apply_patch", operation)
    assert [tool.get("name", tool["type"]) for tool in server.bodies[0]["tools"]] == [
        "look",
        "apply_patch",
    ]
    status = "failed" if fails else "completed"
    assert server.bodies[-1]["input"][1:] == [
        led,
        {**patch, "operation": operation},
        {
            "type": "apply_patch_call_output",
            "call_id": "call_1",
            "status": status,
            "output": "done",
        },
    ]
