"""Histories of any kind become messages that the Anthropic API accepts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.content_models import TextContent
from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import (
    ChatRequest,
    ImageBlock,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
)
from amplifier_providers.anthropic.config import AnthropicConfig
from amplifier_providers.anthropic.turns import AnthropicRules, turn_message
from amplifier_providers.anthropic.wire_format import AnthropicFormat
from amplifier_providers.wire.history import MISSING_RESULT, CheckedHistory, History
from amplifier_testing.servers.anthropic import judge
from amplifier_testing.servers.anthropic.models import MODELS, AnthropicModel
from amplifier_testing.servers.serving.issued import Issued

MODEL = "claude-sonnet-4-5"
USER: dict[str, Any] = {"role": "user", "content": "hi"}
SPEC = ToolSpec(name="look", description="Look.", parameters={"properties": {"at": {}}})


def checked(history: Sequence[Any], model: str = MODEL) -> CheckedHistory:
    rules = AnthropicRules("anthropic", model, received={"s1", "xyz", "received"})
    return History().check(history, rules)


def messages_in(history: CheckedHistory) -> list[dict[str, Any]]:
    return [turn_message(turn) for turn in history.turns]


def messages_of(*history: Any) -> list[dict[str, Any]]:
    return messages_in(checked(history))


def text(written: str) -> dict[str, Any]:
    return {"type": "text", "text": written}


def call(call_id: str, **extra: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": "look", "input": {}, **extra}


def use(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": {}}


def result(call_id: str, content: Any = "seen") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "name": "look", "content": content}


def test_a_whole_conversation_is_written_turn_by_turn() -> None:
    history = [
        Message(role="system", content="Be brief."),
        Message(role="developer", content=[TextBlock(text="Be exact.")]),
        Message(role="user", content="look at a and b"),
        Message(
            role="assistant",
            content=[
                ThinkingBlock(thinking="hm", signature="s1"),
                TextBlock(text="I look."),
                RedactedThinkingBlock(data="xyz"),
                ToolCallBlock(id="1", name="look", input={"at": "a"}),
                ToolCallBlock(id="2", name="look", input={"at": "b"}),
            ],
        ),
        Message(role="tool", tool_call_id="1", content="A"),
        Message(role="tool", tool_call_id="2", content=[TextBlock(text="B")]),
        Message(role="user", content="and now?"),
    ]

    conversation = checked(history)

    assert conversation.system == [text("Be brief."), text("Be exact.")]
    assert messages_in(conversation) == [
        {"role": "user", "content": [text("look at a and b")]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s1"},
                text("I look."),
                {"type": "redacted_thinking", "data": "xyz"},
                {**use("1"), "input": {"at": "a"}},
                {**use("2"), "input": {"at": "b"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "A"},
                {"type": "tool_result", "tool_use_id": "2", "content": [text("B")]},
                text("and now?"),
            ],
        },
    ]
    assert (conversation.repairs.answered, conversation.repairs.dropped) == ([], [])


def test_dicts_of_a_loop_with_foreign_keys_are_the_same_as_models() -> None:
    dicts = [
        USER,
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"id": "1", "tool": "look", "arguments": {}}],
            "timestamp": 1,
        },
        result("1"),
    ]
    both = {**dicts[1], "content": [text("I look."), call("1")]}

    expected = messages_of(*dicts)
    assert messages_of(dicts[0], both, dicts[2]) == expected
    assert messages_of(*(Message(**message) for message in dicts)) == expected
    assert expected[1]["content"] == [text("I look."), use("1")]


@pytest.mark.parametrize("arguments", ['{"at": "a"}', {"at": "a"}])
def test_arguments_may_be_text_or_an_object(arguments: Any) -> None:
    calls = [{"id": "1", "name": "look", "arguments": arguments}]
    encoded = messages_of(USER, {"role": "assistant", "content": "", "tool_calls": calls})
    assert encoded[1]["content"][0]["input"] == {"at": "a"}


def test_results_come_first_in_their_turn_whatever_came_between() -> None:
    encoded = messages_of(
        USER,
        {"role": "assistant", "content": [call("1"), call("2")]},
        result("2"),
        {"role": "user", "content": "hurry"},
        result("1"),
    )
    assert [block["type"] for block in encoded[2]["content"]] == [
        "tool_result", "tool_result", "text",
    ]  # fmt: skip


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    conversation = checked(
        [
            USER,
            {"role": "assistant", "content": [call("1"), call("2")]},
            result("1"),
            {"role": "assistant", "content": "done"},
            {"role": "assistant", "content": [call("3")]},
        ],
    )

    assert conversation.repairs.answered == ["2", "3"]
    missing = {"type": "tool_result", "content": MISSING_RESULT, "is_error": True}
    assert messages_in(conversation)[2]["content"][1] == {**missing, "tool_use_id": "2"}
    assert messages_in(conversation)[4]["content"] == [{**missing, "tool_use_id": "3"}]


def test_results_that_answer_no_call_are_dropped() -> None:
    conversation = checked(
        [
            result("0"),
            USER,
            {"role": "assistant", "content": [call("1")]},
            result("1"),
            result("1"),
        ],
    )
    assert conversation.repairs.dropped == ["0", "1"]
    assert len(messages_in(conversation)[2]["content"]) == 1


def test_ids_of_other_providers_are_made_fit_and_unique() -> None:
    encoded = messages_of(
        USER,
        {"role": "assistant", "content": [call("call:0"), call("")]},
        result("call:0", "first"),
        result("", "second"),
        {"role": "assistant", "content": [call("call:0")]},
        result("call:0", "third"),
    )
    assert [block["id"] for block in encoded[1]["content"]] == ["call_0", "call"]
    assert [block["tool_use_id"] for block in encoded[2]["content"]] == ["call_0", "call"]
    assert encoded[4]["content"] == [
        {"type": "tool_result", "tool_use_id": "call_0_2", "content": "third"}
    ]


def test_blank_text_is_left_out_and_neighbours_of_a_role_are_joined() -> None:
    encoded = messages_of(
        {"role": "user", "content": ["", "a"]},
        {"role": "assistant", "content": " \n"},
        {"role": "user", "content": [TextContent(text="b")]},
        {"role": "assistant", "content": "c"},
        {"role": "assistant", "content": "d \n"},
    )
    assert encoded == [
        {"role": "user", "content": [text("a"), text("b")]},
        {"role": "assistant", "content": [text("c"), text("d")]},
    ]


def test_a_history_that_lost_its_beginning_starts_with_a_user() -> None:
    encoded = messages_of({"role": "assistant", "content": "x"}, USER)
    assert [message["role"] for message in encoded] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("block", "metadata", "is_kept"),
    [
        ({"signature": "s"}, None, False),
        ({"signature": "received"}, None, True),
        ({"signature": None}, None, False),
        ({"signature": ""}, None, False),
        ({"signature": "s"}, {"provider": "anthropic", "model": MODEL}, True),
        ({"signature": "s"}, {"model": f"{MODEL}-20250929"}, True),
        ({"signature": "s"}, {"model": "other", "requested_model": MODEL}, True),
        ({"signature": "s"}, {"model": "claude-opus-4-5"}, False),
        ({"signature": "s"}, {"provider": "openai"}, False),
    ],
)
def test_thinking_is_replayed_only_where_this_model_signed_it(
    block: dict[str, Any], metadata: dict[str, Any] | None, is_kept: bool
) -> None:
    thinking = {"type": "thinking", "thinking": " hm \u00e9\n", **block}
    said = {"role": "assistant", "content": [thinking, text("x")], "metadata": metadata}

    content = messages_of(USER, said, USER)[1]["content"]

    assert content == ([thinking] if is_kept else []) + [text("x")]


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ("seen", "seen"),
        ("", None),
        (None, None),
        ({"a": [1, "é"]}, '{"a": [1, "é"]}'),
        ([1, 2], "[1, 2]"),
        (7, "7"),
        ([{"type": "text", "text": "x"}], [text("x")]),
        ([{"type": "image", "source": {"type": "url"}}], [{"type": "image", "source": {"type": "url"}}]),
    ],
)  # fmt: skip
def test_a_result_block_of_any_output(output: Any, content: Any) -> None:
    said = {"role": "user", "content": [ToolResultBlock(tool_call_id="1", output=output)]}
    encoded = messages_of(USER, {"role": "assistant", "content": [call("1")]}, said)
    assert encoded[2]["content"][0].get("content") == content


def test_failed_tools_are_marked() -> None:
    failures = [{**result("1"), "is_error": True}, {**result("2"), "metadata": {"is_error": True}}]
    encoded = messages_of(USER, {"role": "assistant", "content": [call("1"), call("2")]}, *failures)
    assert [block["is_error"] for block in encoded[2]["content"]] == [True, True]


def test_images_citations_and_blocks_of_the_api_itself_pass_unchanged() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    searched = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    cited = {"type": "text", "text": "x", "citations": [{"type": "char_location"}]}
    encoded = messages_of(
        {"role": "user", "content": [ImageBlock(source=source)]},
        {
            "role": "assistant",
            "content": [searched, found, cited, {"type": "reasoning", "content": []}],
        },
    )
    assert encoded[0]["content"] == [{"type": "image", "source": source}]
    assert encoded[1]["content"] == [searched, found, cited]


def test_a_call_of_the_servers_tools_and_its_result_are_sent_together_or_not_at_all() -> None:
    searched = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    for lonely in (searched, found):
        said = {"role": "assistant", "content": [lonely, text("x")]}
        assert messages_of(USER, said, USER)[1]["content"] == [text("x")]


CODE = {"type": "code", "language": "c", "text": "x"}
HOLOGRAM = {"type": "hologram", "depth": 3}


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_blocks_that_the_api_does_not_know_are_text_or_left_out_by_name(role: str) -> None:
    odd = [CODE, {"type": "chart", "data": 1}, HOLOGRAM, {"type": "\x1b[2J"}, text("x")]
    conversation = checked([{"role": role, "content": odd}, USER])

    turns = messages_in(conversation)
    content = conversation.system
    if role != "system":
        content = next(turn["content"] for turn in turns if turn["role"] == role)
    assert content[:3] == [
        text("```c\nx\n```"), text('```json\n{"kind": null, "data": 1}\n```'), text("x")
    ]  # fmt: skip
    assert conversation.repairs.left_out == ["hologram", "\x1b[2J"]


@pytest.mark.parametrize(
    ("role", "kind"),
    [("assistant", "image"), ("assistant", "document"), ("user", "server_tool_use"), ("system", "image")],
)  # fmt: skip
def test_a_block_of_the_other_role_is_left_out_by_name(role: str, kind: str) -> None:
    conversation = checked([USER, {"role": role, "content": [text("x"), {"type": kind}]}])
    assert conversation.repairs.left_out == [kind]
    assert kind not in json.dumps(messages_in(conversation))


def test_results_hold_code_as_text_and_what_nobody_knows_as_json() -> None:
    outputs: list[Any] = [[text("x"), CODE], [text("x"), HOLOGRAM]]
    said = [call("1"), call("2")]
    results = [result(str(number), output) for number, output in enumerate(outputs, 1)]
    [_, _, answered] = messages_of(USER, {"role": "assistant", "content": said}, *results)
    assert [block["content"] for block in answered["content"]] == [
        [text("x"), text("```c\nx\n```")],
        json.dumps(outputs[1]),
    ]


BLOCK = st.one_of(
    st.sampled_from([CODE, HOLOGRAM, {"type": "table", "columns": ["a"], "rows": []}]),
    st.builds(text, st.text(max_size=4)),
    st.builds(call, st.sampled_from(["1", "2", "a:b", ""])),
    st.builds(
        lambda signature: {"type": "thinking", "thinking": "t", "signature": signature},
        st.sampled_from(["s", None]),
    ),
    st.builds(
        lambda call_id: {"type": "tool_result", "tool_call_id": call_id, "output": "o"},
        st.sampled_from(["1", "2", "a:b"]),
    ),
    st.just({"type": "redacted_thinking", "data": "d"}),
    st.just({"type": "image", "source": {"type": "url", "url": "https://u/a.png"}}),
)
HISTORY = st.lists(
    st.one_of(
        st.builds(result, st.sampled_from(["1", "2", "a:b", "9"])),
        st.fixed_dictionaries(
            {
                "role": st.sampled_from(["system", "user", "assistant", "developer"]),
                "content": st.one_of(st.text(max_size=4), st.lists(BLOCK, max_size=5)),
            }
        ),
        st.just({"role": "assistant", "content": "", "tool_calls": [{"id": "1", "tool": "t"}]}),
    ),
    max_size=12,
)


@given(HISTORY, st.sampled_from([MODEL, "claude-sonnet-5-5", "unknown"]))
def test_any_history_becomes_a_request_that_the_api_accepts(history: list[Any], model: str) -> None:
    config = AnthropicConfig(api_key="secret-key", default_model=model)
    request = ChatRequest(
        messages=[Message.model_construct(**message) for message in history], tools=[SPEC]
    )
    try:
        encoded = AnthropicFormat(config).encode(request)
    except InvalidRequestError:
        assert not checked(history, model).turns
        return

    body = json.loads(encoded.to_bytes())
    issued = Issued()
    issued.remember("t", "s")
    assert (
        judge(body, issued=issued, models=[*MODELS, AnthropicModel("unknown", prefill=True)])
        is None
    )
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    assert not body["messages"][-1]["content"][-1].get("text", "x").endswith(" ") or (
        roles[-1] == "user"
    )


@given(HISTORY)
def test_encoding_changes_nothing_of_the_history(history: list[Any]) -> None:
    before = json.dumps(history)
    checked(history)
    assert json.dumps(history) == before
