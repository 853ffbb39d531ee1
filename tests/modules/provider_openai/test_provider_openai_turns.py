"""Histories as `provider-openai` sends them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from responses_wire import Answer, Server, call, message, reasoning

from amplifier_core.message_models import ChatRequest, Message, ToolCallBlock
from amplifier_providers.openai import OpenAIProvider

Make = Callable[..., OpenAIProvider]

MODEL = "gpt-5.5"
OURS = {"provider": "openai", "model": MODEL}
PNG = {"type": "base64", "media_type": "image/png", "data": "AAAA"}


def said(*content: dict[str, Any], **metadata: Any) -> Message:
    return Message.model_validate(
        {"role": "assistant", "content": list(content), "metadata": {**OURS, **metadata}}
    )


def user(content: Any = "hi") -> Message:
    return Message.model_validate({"role": "user", "content": content})


def thinking(item: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "thinking", "thinking": "Hm.", "item": item, **fields}


def text(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "text", "text": item["content"][0]["text"], "item": item}


def called(item: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    given = arguments or {"at": 1}
    return {
        "type": "tool_call",
        "id": item["call_id"],
        "name": item["name"],
        "input": given,
        "item": item,
    }


async def sent(server: Server, provider: OpenAIProvider, *messages: Message) -> list[Any]:
    server.answers = [Answer.of(message("Hello"))]
    await provider.complete(ChatRequest(messages=list(messages)))
    return server.bodies[-1]["input"]


async def test_reasoning_goes_back_before_the_call_that_it_led_to(
    server: Server, make: Make
) -> None:
    answer = said(thinking({**reasoning(), "status": None}), called(call()))
    result = Message(role="tool", tool_call_id="call_1", content="seen")

    items = await sent(server, make(), user(), answer, result)

    assert items[1:] == [
        reasoning(),
        {
            "type": "function_call",
            "call_id": "call_1",
            "name": "look",
            "arguments": '{"at": 1}',
            "id": "fc_call_1",
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "seen"},
    ]


async def test_parallel_calls_go_back_with_the_reasoning_before_the_first(
    server: Server, make: Make
) -> None:
    answer = said(thinking(reasoning()), called(call()), called(call("call_2")))
    results = [
        Message(role="tool", tool_call_id=f"call_{number}", content="seen") for number in (2, 1)
    ]
    items = await sent(server, make(), user(), answer, *results)
    assert [(item["type"], item.get("id")) for item in items[1:]] == [
        ("reasoning", "rs_1"),
        ("function_call", "fc_call_1"),
        ("function_call", None),
        ("function_call_output", None),
        ("function_call_output", None),
    ]


@pytest.mark.parametrize(
    ("metadata", "kept"),
    [
        ({}, True),
        ({"model": "gpt-5.5-2026-04-23"}, True),
        ({"model": "gpt-5.4"}, False),
        ({"provider": "azure-openai"}, False),
        ({"provider": "anthropic", "model": "claude-sonnet-4-5"}, False),
    ],
)
async def test_only_what_this_model_wrote_goes_back_as_its_items(
    server: Server, make: Make, metadata: dict[str, Any], kept: bool
) -> None:
    original = message("Hello", phase="final_answer")
    answer = said(thinking(reasoning()), text(original), **metadata)

    items = await sent(server, make(), user(), answer, user("more"))

    if kept:
        assert items[1:3] == [reasoning(), original]
    else:
        content = [{"type": "output_text", "text": "Hello"}]
        assert items[1] == {"type": "message", "role": "assistant", "content": content}
        assert len(items) == 3


@pytest.mark.parametrize(
    "blocks",
    [
        [thinking(reasoning())],
        [thinking({**reasoning(), "encrypted_content": None}), text(message("Hello"))],
        [thinking(reasoning(), led_to="function_call call_1"), text(message("Hello"))],
        [text(message("Hello")), thinking(reasoning())],
    ],
    ids=["alone", "not encrypted", "led to a call", "last"],
)
async def test_reasoning_without_what_it_led_to_is_left_out(
    server: Server, make: Make, blocks: list[dict[str, Any]]
) -> None:
    items = await sent(server, make(), user(), said(*blocks), user("more"))
    assert [item.get("type") for item in items] in ([None], [None, "message", None])
    assert not any("id" in item for item in items)


async def test_what_an_answer_led_to_is_remembered(server: Server, make: Make) -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    provider = make()
    server.answers = [Answer.of(reasoning(), search, reasoning(item_id="rs_2"), call())]
    answer = await provider.complete(ChatRequest(messages=[user()]))
    assert answer.content[0].led_to == "web_search_call"  # pyright: ignore
    assert answer.content[2].led_to == "function_call call_1"  # pyright: ignore

    without_call = answer.content[:3]
    without_search = [*answer.content[:1], *answer.content[2:]]
    for kept, types in (
        (without_call, ["reasoning", "web_search_call"]),
        (without_search, ["reasoning", "function_call", "function_call_output"]),
        (answer.content[1:2], ["reasoning", "web_search_call"]),  # that of the metadata
    ):
        told = Message(role="assistant", content=kept, metadata=answer.metadata)
        items = await sent(server, provider, user(), told, user("more"))
        assert [item["type"] for item in items if "type" in item] == types


async def test_the_same_answer_twice_is_sent_once_under_its_ids(server: Server, make: Make) -> None:
    answer = said(thinking(reasoning()), text(message("Hello")))
    items = await sent(server, make(), user(), answer, user(), answer, user())
    ids = [item["id"] for item in items if "id" in item]
    assert ids == ["rs_1", "msg_1"]
    assert [item["role"] for item in items if "role" in item].count("assistant") == 2


async def test_changed_arguments_and_texts_go_back_as_they_were_changed(
    server: Server, make: Make
) -> None:
    edited = {**text(message("Hello")), "text": "Edited"}
    answer = said(edited, called(call(), at=2))
    result = Message(role="tool", tool_call_id="call_1", content="seen")
    items = await sent(server, make(), user(), answer, result)
    assert items[1]["content"] == [{"type": "output_text", "text": "Edited"}]
    assert items[2]["arguments"] == '{"at":2}'


async def test_a_call_without_a_result_gets_one_and_ids_are_short(
    server: Server, make: Make
) -> None:
    long = ToolCallBlock(id="c" * 90, name="n" * 90, input={})
    answer = Message(role="assistant", content=[long])
    items = await sent(server, make(), user(), answer, user("more"))
    assert (items[1]["type"], items[2]["type"]) == ("function_call", "function_call_output")
    assert items[1]["call_id"] == items[2]["call_id"]
    assert len(items[1]["call_id"]) == len(items[1]["name"]) == 64
    assert "interrupted" in items[2]["output"]


async def test_the_system_prompt_is_the_instructions_and_later_texts_stay_in_their_place(
    server: Server, make: Make
) -> None:
    items = await sent(
        server,
        make(),
        Message(role="system", content="Be brief."),
        Message(role="developer", content="And kind."),
        user(),
        said(text(message("Hello"))),
        Message(role="system", content="It is late."),
        user("more"),
    )
    assert server.bodies[-1]["instructions"] == "Be brief.\n\nAnd kind."
    assert [item["role"] for item in items] == ["user", "assistant", "developer", "user"]
    assert items[2]["content"] == [{"type": "input_text", "text": "It is late."}]


@pytest.mark.parametrize(
    ("block", "part"),
    [
        (
            {"type": "image", "source": PNG},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
        ),
        (
            {"type": "image", "source": {"type": "url", "url": "https://e.org/a"}, "detail": "low"},
            {"type": "input_image", "image_url": "https://e.org/a", "detail": "low"},
        ),
        (
            {"type": "image", "source": {"type": "file", "file_id": "file-1"}},
            {"type": "input_image", "file_id": "file-1", "detail": "auto"},
        ),
        (
            {
                "type": "document",
                "title": "a.pdf",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"},
            },
            {
                "type": "input_file",
                "filename": "a.pdf",
                "file_data": "data:application/pdf;base64,AAAA",
            },
        ),
        (
            {"type": "document", "source": {"type": "url", "url": "https://e.org/a.pdf"}},
            {"type": "input_file", "file_url": "https://e.org/a.pdf"},
        ),
        (
            {"type": "document", "source": {"type": "text", "data": "All of it."}},
            {"type": "input_text", "text": "All of it."},
        ),
        (
            {"type": "image", "source": {"type": "odd"}},
            {
                "type": "input_text",
                "text": "(An image was here, whose source this API does not take.)",
            },
        ),
    ],
)
async def test_images_and_documents_go_in_from_users_and_tools(
    server: Server, make: Make, block: dict[str, Any], part: dict[str, Any]
) -> None:
    answer = said(called(call()))
    result = {"type": "tool_result", "tool_call_id": "call_1", "output": [block]}
    items = await sent(server, make(), user([block]), answer, user([result]))
    assert items[0]["content"] == [part]
    assert items[-1]["output"] == [part]


async def test_a_model_without_eyes_is_told_of_images(server: Server, make: Make) -> None:
    items = await sent(
        server, make(default_model="o3-mini"), user([{"type": "image", "source": PNG}])
    )
    (part,) = items[0]["content"]
    assert part["type"] == "input_text"
    assert "cannot see" in part["text"]


async def test_reasoning_that_is_kept_as_metadata_alone_goes_back_to_its_place(
    server: Server, make: Make
) -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    provider = make()
    server.answers = [Answer.of(reasoning(), search, reasoning(item_id="rs_2"), call())]
    answer = await provider.complete(ChatRequest(messages=[user()]))
    without = [block for block in answer.content if block.type != "thinking"]
    result = Message(role="tool", tool_call_id="call_1", content="seen")

    for content in (without, without[:1]):
        kept = {"role": "assistant", "content": content, "metadata": answer.metadata}
        calls = [{"id": "call_1", "tool": "look", "arguments": {"at": 1}}]
        told = Message.model_validate({**kept, "tool_calls": calls})
        items = await sent(server, provider, user(), told, result)
        assert [(item["type"], item.get("id")) for item in items[1:4]] == [
            ("reasoning", "rs_1"),
            ("web_search_call", "ws_1"),
            ("reasoning", "rs_2"),
        ]
        assert [item["type"] for item in items[4:]] == ["function_call", "function_call_output"]


async def test_one_item_of_reasoning_without_its_place_is_the_first(
    server: Server, make: Make
) -> None:
    metadata = {**OURS, "openai:reasoning_items": [reasoning()]}
    answer = said(called(call()), **metadata)
    items = await sent(server, make(), user(), answer, user("more"))
    assert [item.get("type") for item in items[1:3]] == ["reasoning", "function_call"]
    both = {**OURS, "openai:reasoning_items": [reasoning(), reasoning(item_id="rs_2")]}
    items = await sent(server, make(), user(), said(called(call()), **both), user("more"))
    assert items[1]["type"] == "function_call"
