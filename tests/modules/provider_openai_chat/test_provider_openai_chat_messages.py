"""Histories of any kind become messages that servers of Chat Completions accept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import (
    ChatRequest,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from amplifier_providers.openai_chat import PRESETS, ChatSettings, Preset
from amplifier_providers.openai_chat.presets import OTHER
from amplifier_providers.openai_chat.turns import BRIDGE
from amplifier_providers.openai_chat.wire_format import ChatFormat
from amplifier_providers.wire.body import WireRequest
from amplifier_providers.wire.history import GO_ON, MISSING_BEGINNING, MISSING_RESULT

MODEL = "some-model"
USER: dict[str, Any] = {"role": "user", "content": "hi"}
PNG = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
PDF = {"type": "base64", "media_type": "application/pdf", "data": "BBBB"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
ALL = [OTHER, *PRESETS.values()]


def encode(preset: Preset, *history: Any) -> WireRequest:
    encoder = ChatFormat(preset, ChatSettings(default_model=MODEL))
    return encoder.encode(ChatRequest(messages=list(history)))


def messages(*history: Any, preset: Preset = OTHER) -> list[dict[str, Any]]:
    return encode(preset, *history).body["messages"]


def asks(*ids: str, text: str | None = None, **metadata: Any) -> dict[str, Any]:
    said = [{"type": "text", "text": text}] if text else []
    calls = [{"type": "tool_call", "id": each, "name": "look", "input": {"at": 1}} for each in ids]
    return {"role": "assistant", "content": [*said, *calls], "metadata": metadata}


def result(call_id: str, content: Any = "seen") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def wire_call(call_id: str) -> dict[str, Any]:
    function = {"name": "look", "arguments": '{"at":1}'}
    return {"id": call_id, "type": "function", "function": function}


def test_a_whole_conversation_is_written_message_by_message() -> None:
    assert messages(
        Message(role="system", content="Be brief."),
        Message(role="developer", content=[TextBlock(text="Be exact.")]),
        Message(role="user", content="look twice"),
        Message(
            role="assistant",
            content=[
                TextBlock(text="I look."),
                ToolCallBlock(id="1", name="look", input={"at": 1}),
                ToolCallBlock(id="2", name="look", input={"at": 1}),
            ],
        ),
        Message(role="tool", tool_call_id="2", content="B"),
        Message(role="tool", tool_call_id="1", content=[TextBlock(text="A")]),
        Message(role="user", content="and now?"),
    ) == [
        {"role": "system", "content": "Be brief.\n\nBe exact."},
        {"role": "user", "content": "look twice"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [wire_call("1"), wire_call("2")],
        },
        {"role": "tool", "tool_call_id": "2", "content": "B"},
        {"role": "tool", "tool_call_id": "1", "content": "A"},
        {"role": "user", "content": "and now?"},
    ]


def test_a_message_with_calls_alone_has_the_content_that_the_service_wants() -> None:
    history = (USER, asks("1"), result("1"))
    assert messages(*history)[1]["content"] is None
    assert messages(*history, preset=PRESETS["lm-studio"])[1]["content"] == ""


def test_a_call_without_a_result_gets_one_and_a_result_without_a_call_is_dropped() -> None:
    encoded = encode(OTHER, USER, asks("1"), result("9"), USER)
    assert encoded.body["messages"][2:] == [
        {"role": "tool", "tool_call_id": "1", "content": MISSING_RESULT},
        USER,
    ]
    assert (encoded.history.repairs.answered, encoded.history.repairs.dropped) == (["1"], ["9"])


def test_the_user_has_the_first_and_the_last_word() -> None:
    assert messages({"role": "assistant", "content": "So I said "}) == [
        {"role": "user", "content": MISSING_BEGINNING},
        {"role": "assistant", "content": "So I said "},
        {"role": "user", "content": GO_ON},
    ]


def test_images_and_documents_of_the_user_are_parts() -> None:
    content = [
        TextBlock(text="see"),
        ImageBlock(source=PNG),
        ImageBlock(source={"type": "url", "url": "https://example.org/a.png"}),
        {"type": "document", "source": PDF, "title": "a.pdf"},
        {"type": "document", "source": {"type": "text", "data": "words"}, "title": "b.txt"},
    ]
    [message] = messages({"role": "user", "content": content}, preset=PRESETS["openrouter"])
    assert message["content"] == [
        {"type": "text", "text": "see"},
        PICTURE,
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,BBBB"},
        },
        {"type": "text", "text": "b.txt:\nwords"},
    ]
    [message] = messages({"role": "user", "content": content[3:4]}, preset=PRESETS["mistral"])
    assert message["content"] == [
        {"type": "document_url", "document_url": "data:application/pdf;base64,BBBB"}
    ]


def test_what_the_model_cannot_see_becomes_a_text_that_says_so() -> None:
    source = {"type": "file", "file_id": "f"}
    document = {"type": "document", "source": PDF}
    encoded = encode(
        OTHER,
        Message(role="user", content=[ImageBlock(source=source)]),
        {**USER, "content": [document]},
    )
    [message] = encoded.body["messages"]
    assert message["content"] == (
        "(An image was here, which `some-model` cannot see.)\n\n"
        "(A document (application/pdf) was here, which `some-model` cannot read.)"
    )
    assert encoded.degradation is not None
    assert encoded.degradation.requested == "content blocks `image`, `document`"
    [message] = messages(
        {"role": "user", "content": [ImageBlock(source=PNG)]}, preset=PRESETS["deepseek"]
    )
    assert "cannot see" in message["content"]


def test_an_image_of_a_result_follows_in_a_message_of_the_user_that_names_the_call() -> None:
    seen = [{"type": "text", "text": "taken"}, {"type": "image", "source": PNG}]
    assert messages(USER, asks("1", "2"), result("1", seen), result("2"), USER)[2:] == [
        {
            "role": "tool",
            "tool_call_id": "1",
            "content": "taken\n\n(The images of this result are in the next message of the user.)",
        },
        {"role": "tool", "tool_call_id": "2", "content": "seen"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "(From the result of the call `1` of `look`:)"},
                PICTURE,
                {"type": "text", "text": "hi"},
            ],
        },
    ]


def test_a_refusal_is_what_the_assistant_said() -> None:
    refusal = {"role": "assistant", "content": [{"type": "text", "text": "", "refusal": "No."}]}
    assert messages(USER, refusal, USER)[1] == {"role": "assistant", "content": "No."}


def thinks(preset: str, *, model: str = MODEL, calls: Sequence[str] = ()) -> dict[str, Any]:
    details = [{"type": "reasoning.encrypted", "data": "x", "index": 0}]
    block = {"type": "thinking", "thinking": "hm", "reasoning_details": details}
    text = [] if calls else [{"type": "text", "text": "so"}]
    metadata = {"provider": preset, "requested_model": model}
    content = [block, *text, *asks(*calls)["content"]]
    return {"role": "assistant", "content": content, "metadata": metadata}


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("groq", {"content": "so"}),
        ("deepseek", {"content": "so", "reasoning_content": "hm"}),
        (
            "openrouter",
            {
                "content": "so",
                "reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "index": 0}],
            },
        ),
        (
            "mistral",
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                    {"type": "text", "text": "so"},
                ]
            },
        ),
    ],
)
def test_each_service_gets_its_own_thinking_back_as_it_takes_it(
    preset: str, expected: dict[str, Any]
) -> None:
    encoded = encode(PRESETS[preset], USER, thinks(preset), USER)
    assert encoded.body["messages"][1] == {"role": "assistant", **expected}
    assert encoded.degradations == []


@pytest.mark.parametrize("preset", ["openrouter", "mistral", "deepseek"])
def test_thinking_of_others_is_left_out_and_that_is_said(preset: str) -> None:
    encoded = encode(PRESETS[preset], USER, thinks("anthropic"), USER)
    assert encoded.body["messages"][1] == {"role": "assistant", "content": "so"}
    assert [each.requested for each in encoded.degradations] == ["thinking of `anthropic`"]


def test_signed_thinking_goes_to_no_other_model_of_the_service() -> None:
    encoded = encode(PRESETS["openrouter"], USER, thinks("openrouter", model="other"), USER)
    assert "reasoning_details" not in encoded.body["messages"][1]
    assert len(encoded.degradations) == 1


def test_a_service_that_wants_thinking_beside_calls_gets_the_field_for_calls_of_others() -> None:
    own, other = (
        messages(USER, thinks(name, calls=["1"]), result("1"), preset=PRESETS["deepseek"])[1]
        for name in ("deepseek", "anthropic")
    )
    assert (own["reasoning_content"], other["reasoning_content"]) == ("hm", "")


def test_thinking_alone_is_no_message() -> None:
    alone = {"role": "assistant", "content": [ThinkingBlock(thinking="hm")]}
    assert messages(USER, alone, USER, preset=PRESETS["deepseek"]) == [
        {"role": "user", "content": "hi\n\nhi"}
    ]


def test_mistral_has_short_ids_and_an_assistant_between_result_and_user() -> None:
    call_id = "call_00_ioIn7yN9p1ZOMNpDLwd4MgAF"
    sent = messages(USER, asks(call_id), result(call_id), USER, preset=PRESETS["mistral"])
    assert [each["role"] for each in sent] == ["user", "assistant", "tool", "assistant", "user"]
    assert sent[3]["content"] == BRIDGE
    short = sent[1]["tool_calls"][0]["id"]
    assert (len(short), short.isalnum(), sent[2]["tool_call_id"]) == (9, True, short)


TEXTS = st.text(max_size=4)
IDS = st.sampled_from(["1", "2", "a b", "", "call_" + "x" * 70])
BLOCKS = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXTS),
    st.builds(lambda text: {"type": "thinking", "thinking": text, "signature": "s"}, TEXTS),
    st.just({"type": "redacted_thinking", "data": "x"}),
    st.builds(lambda each: {"type": "tool_call", "id": each, "name": "look", "input": {}}, IDS),
    st.builds(lambda each: {"type": "tool_result", "tool_call_id": each, "output": "x"}, IDS),
    st.just({"type": "image", "source": PNG}),
    st.just({"type": "image", "source": {}}),
    st.just({"type": "document", "source": PDF}),
    st.just({"type": "server_tool_use", "id": "s", "name": "n", "input": {}}),
)
CONTENTS = TEXTS | st.lists(BLOCKS, max_size=4)
MESSAGES = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "developer", "user", "assistant", "tool"]),
        "content": CONTENTS,
    },
    optional={
        "tool_call_id": IDS,
        "metadata": st.sampled_from([{"provider": "anthropic"}, {"provider": "mistral"}, {}]),
    },
)


def check(sent: list[dict[str, Any]], preset: Preset) -> None:
    """Raise if a strict server of this kind would refuse the messages."""
    pending: list[str] = []
    known: set[str] = set()
    before = None
    for position, message in enumerate(sent):
        role, content = message["role"], message["content"]
        if role == "system":
            assert position == 0
        elif role == "tool":
            assert before in {"assistant", "tool"}
            pending.remove(message["tool_call_id"])
            assert isinstance(content, str)
        else:
            assert pending == []
            assert role != before
            assert role == "user" or before in {"user", "tool"}
            if before == "tool" and role == "user":
                assert preset.user_after_result
            calls = message.get("tool_calls", [])
            assert content or calls
            if isinstance(content, list):
                assert not all(part["type"] == "text" for part in content)
            pending = [each["id"] for each in calls]
            assert len(set(pending)) == len(pending)
            assert known.isdisjoint(pending)
            known.update(pending)
            for each in calls:
                assert isinstance(json.loads(each["function"]["arguments"]), dict)
                assert 0 < len(each["id"]) <= 40
                if preset.short_ids:
                    assert (len(each["id"]), each["id"].isalnum()) == (9, True)
        before = role
    assert pending == []
    assert before in {"user", "tool"}


@given(st.sampled_from(ALL), st.lists(MESSAGES, max_size=8))
def test_any_history_becomes_one_that_a_strict_server_accepts(
    preset: Preset, history: list[dict[str, Any]]
) -> None:
    check(messages(USER, *history, preset=preset), preset)


@given(st.sampled_from(ALL), st.lists(MESSAGES, max_size=8), st.data())
def test_what_was_encoded_before_is_what_is_encoded_anew(
    preset: Preset, history: list[dict[str, Any]], data: st.DataObject
) -> None:
    encoder = ChatFormat(preset, ChatSettings(default_model=MODEL))
    whole = [Message.model_validate(each) for each in [USER, *history]]
    for end in sorted(data.draw(st.lists(st.integers(1, len(whole)), min_size=1, max_size=4))):
        request = ChatRequest(messages=whole[:end])
        request.messages = whole[:end]
        anew = ChatFormat(preset, ChatSettings(default_model=MODEL)).encode(request)
        assert encoder.encode(request).to_bytes() == anew.to_bytes()
