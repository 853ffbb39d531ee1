"""Requests to the Anthropic API: what any history becomes, and what each wish does to it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_app.demo.request import check_request
from amplifier_core.content_models import TextContent
from amplifier_core.llm_errors import InvalidRequestError
from amplifier_core.message_models import (
    ChatRequest,
    Degradation,
    ImageBlock,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
)
from amplifier_modules.providers.anthropic_config import AnthropicConfig
from amplifier_modules.providers.anthropic_messages import MISSING_RESULT, encode_messages
from amplifier_modules.providers.anthropic_models import is_same_model, model_profile
from amplifier_modules.providers.anthropic_request import EncodedRequest, encode_request

MODEL = "claude-sonnet-4-5"
PLAIN = AnthropicConfig(
    api_key="secret-key", default_model=MODEL, enable_prompt_caching=False, thinking_budget_tokens=0
)
USER: dict[str, Any] = {"role": "user", "content": "hi"}
SPEC = ToolSpec(name="look", description="Look.", parameters={"properties": {"at": {}}})


def messages_of(*history: Any) -> list[dict[str, Any]]:
    return encode_messages(history, MODEL).messages


def text(written: str) -> dict[str, Any]:
    return {"type": "text", "text": written}


def call(call_id: str, **extra: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": "look", "input": {}, **extra}


def use(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "look", "input": {}}


def result(call_id: str, content: str = "seen") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "name": "look", "content": content}


def encode(config: AnthropicConfig = PLAIN, **wishes: Any) -> EncodedRequest:
    options = wishes.pop("options", None)
    wishes.setdefault("messages", [Message(**USER)])
    return encode_request(ChatRequest(**wishes), config, options)


def thinking_config(**settings: Any) -> AnthropicConfig:
    return AnthropicConfig(**{"api_key": "secret-key", "default_model": MODEL, **settings})


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

    conversation = encode_messages(history, MODEL)

    assert conversation.system == [text("Be brief."), text("Be exact.")]
    assert conversation.messages == [
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
    assert (conversation.repaired, conversation.dropped) == ([], [])


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
    conversation = encode_messages(
        [
            USER,
            {"role": "assistant", "content": [call("1"), call("2")]},
            result("1"),
            {"role": "assistant", "content": "done"},
            {"role": "assistant", "content": [call("3")]},
        ],
        MODEL,
    )

    assert conversation.repaired == ["2", "3"]
    missing = {"type": "tool_result", "content": MISSING_RESULT, "is_error": True}
    assert conversation.messages[2]["content"][1] == {**missing, "tool_use_id": "2"}
    assert conversation.messages[4]["content"] == [{**missing, "tool_use_id": "3"}]


def test_results_that_answer_no_call_are_dropped() -> None:
    conversation = encode_messages(
        [
            result("0"),
            USER,
            {"role": "assistant", "content": [call("1")]},
            result("1"),
            result("1"),
        ],
        MODEL,
    )
    assert conversation.dropped == ["0", "1"]
    assert len(conversation.messages[2]["content"]) == 1


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
        ({"signature": "s"}, None, True),
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
    cited = {"type": "text", "text": "x", "citations": [{"type": "char_location"}]}
    encoded = messages_of(
        {"role": "user", "content": [ImageBlock(source=source)]},
        {"role": "assistant", "content": [searched, cited, {"type": "reasoning", "content": []}]},
    )
    assert encoded[0]["content"] == [{"type": "image", "source": source}]
    assert encoded[1]["content"] == [searched, cited]


BLOCK = st.one_of(
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
    st.just({"type": "image", "source": {"type": "url", "url": "u"}}),
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
        encoded = encode_request(request, config)
    except InvalidRequestError:
        assert not encode_messages(history, model).messages
        return

    body = json.loads(encoded.to_bytes())
    check_request(body, lambda thinking, signature: (thinking, signature) == ("t", "s"))
    roles = [message["role"] for message in body["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)
    assert not body["messages"][-1]["content"][-1].get("text", "x").endswith(" ") or (
        roles[-1] == "user"
    )


@given(HISTORY)
def test_encoding_changes_nothing_of_the_history(history: list[Any]) -> None:
    before = json.dumps(history)
    encode_messages(history, MODEL)
    assert json.dumps(history) == before


def test_the_ends_of_what_stays_the_same_are_marked_for_caching() -> None:
    marked = {"cache_control": {"type": "ephemeral"}}
    config = AnthropicConfig(api_key="secret-key", default_model=MODEL, thinking_budget_tokens=0)

    body = encode(
        config,
        messages=[Message(role="system", content=["a", "b"][1]), Message(**USER)],
        tools=[SPEC, SPEC.model_copy(update={"name": "two"})],
    ).body

    assert body["system"] == [text("b") | marked]
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, {"type": "ephemeral"}]
    assert body["messages"] == [{"role": "user", "content": [text("hi") | marked]}]


def test_a_plain_request_holds_only_what_was_asked_for() -> None:
    assert encode(tools=[SPEC], stop=["END", " "], temperature=0.5).body == {
        "model": MODEL,
        "max_tokens": 16_000,
        "messages": [{"role": "user", "content": [text("hi")]}],
        "tools": [
            {
                "name": "look",
                "description": "Look.",
                "input_schema": {"type": "object", "properties": {"at": {}}},
            }
        ],
        "stop_sequences": ["END"],
        "temperature": 0.5,
        "stream": True,
    }


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, None),
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("any", {"type": "any"}),
        ("required", {"type": "any"}),
        ("look", {"type": "tool", "name": "look"}),
        ({"type": "tool", "name": "look"}, {"type": "tool", "name": "look"}),
        ({"type": "function", "function": {"name": "look"}}, {"type": "tool", "name": "look"}),
    ],
)
def test_a_tool_choice_in_any_of_its_forms(choice: Any, expected: Any) -> None:
    assert encode(tools=[SPEC], tool_choice=choice).body.get("tool_choice") == expected


def test_an_unknown_tool_choice_names_the_tools() -> None:
    with pytest.raises(InvalidRequestError, match=r"unknown tool choice `lock` .*`look`"):
        encode(tools=[SPEC], tool_choice="lock")


def test_a_tool_choice_without_tools_is_not_sent() -> None:
    assert "tool_choice" not in encode(tool_choice="auto").body


@pytest.mark.parametrize("history", [[], [{"role": "system", "content": "x"}]])
def test_nothing_to_send_is_an_invalid_request(history: list[Any]) -> None:
    with pytest.raises(InvalidRequestError, match="no message to send"):
        encode(messages=[Message(**message) for message in history])


def test_a_model_with_budgets_thinks_by_default_and_loses_its_temperature() -> None:
    encoded = encode(thinking_config(temperature=0.5), tools=[SPEC])

    assert encoded.body["thinking"] == {"type": "enabled", "budget_tokens": 8_192}
    assert encoded.body["max_tokens"] == 16_000
    assert "temperature" not in encoded.body
    assert encoded.betas == ["interleaved-thinking-2025-05-14"]
    assert encoded.degradation is None


@pytest.mark.parametrize(
    ("settings", "wishes", "budget", "max_tokens"),
    [
        ({"reasoning_effort": "low"}, {}, 4_096, 16_000),
        ({}, {"reasoning_effort": "low"}, 4_096, 16_000),
        ({"thinking_budget_tokens": 10}, {}, 1_024, 16_000),
        ({"thinking_budget_tokens": 20_000}, {"reasoning_effort": "low"}, 20_000, 36_000),
        ({"thinking_budget_tokens": 900_000}, {}, 63_999, 64_000),
        ({}, {"max_output_tokens": 100}, 8_192, 8_292),
        ({}, {"options": {"thinking_budget_tokens": 2_000, "max_tokens": 500}}, 2_000, 2_500),
    ],
)
def test_a_thinking_budget_always_fits_into_the_answer(
    settings: dict[str, Any], wishes: dict[str, Any], budget: int, max_tokens: int
) -> None:
    body = encode(thinking_config(**settings), **wishes).body
    assert (body["thinking"]["budget_tokens"], body["max_tokens"]) == (budget, max_tokens)


@pytest.mark.parametrize(
    ("settings", "wishes"),
    [
        ({"thinking_budget_tokens": 0}, {}),
        ({}, {"reasoning_effort": "none"}),
        ({}, {"options": {"extended_thinking": False}}),
        ({}, {"tools": [SPEC], "tool_choice": "any"}),
        ({"default_model": "claude-3-5-sonnet-20241022"}, {}),
        ({"default_model": "some-gateway"}, {}),
    ],
)
def test_there_is_no_thinking_where_it_is_unwanted_or_impossible(
    settings: dict[str, Any], wishes: dict[str, Any]
) -> None:
    assert "thinking" not in encode(thinking_config(**settings), **wishes).body


def test_an_adaptive_model_gets_effort_and_no_budget() -> None:
    encoded = encode(
        thinking_config(default_model="claude-sonnet-5-5", reasoning_effort="high"), tools=[SPEC]
    )
    assert encoded.body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert encoded.body["output_config"] == {"effort": "high"}
    assert (encoded.betas, encoded.degradation) == ([], None)


def test_what_cannot_be_given_is_reported() -> None:
    adaptive = thinking_config(default_model="claude-opus-5", thinking_budget_tokens=5_000)
    assert encode(adaptive).degradation == Degradation(
        requested="a thinking budget of 5000 tokens",
        actual="adaptive thinking",
        reason="`claude-opus-5` decides itself how much to think",
    )
    assert encode(thinking_config(), temperature=0.1).degradation is not None
    forced = encode(thinking_config(), tools=[SPEC], tool_choice="look").degradation
    assert forced is not None
    assert forced.reason == "a forced tool call excludes thinking"


def test_a_tool_round_that_began_without_thinking_goes_on_without() -> None:
    history = [USER, {"role": "assistant", "content": [call("1")]}, result("1")]
    unsigned = encode(thinking_config(), messages=[Message(**message) for message in history])
    assert "thinking" not in unsigned.body
    assert unsigned.degradation is not None

    history[1]["content"].insert(0, {"type": "thinking", "thinking": "t", "signature": "s"})
    signed = encode(thinking_config(), messages=[Message(**message) for message in history])
    assert "thinking" in signed.body


def test_options_of_the_call_win_over_request_and_config() -> None:
    options = {"model": "claude-opus-4-5", "max_tokens": 7, "temperature": 0.3, "unheard": 1}
    body = encode(model="claude-haiku-4-5", temperature=0.9, options=options).body
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("claude-opus-4-5", 7, 0.3)


def test_beta_headers_are_sent_once_each() -> None:
    config = thinking_config(beta_headers=("a", "interleaved-thinking-2025-05-14", "a"))
    assert encode(config, tools=[SPEC]).betas == ["a", "interleaved-thinking-2025-05-14"]


def test_what_json_cannot_hold_is_replaced_and_never_fatal() -> None:
    arguments = {"nan": float("nan"), "big": 10**40, "half": "\ud83d", "pair": "\ud83d\ude00"}
    history = [USER, {"role": "assistant", "content": [call("1", input=arguments)]}, result("1")]

    written = encode(messages=[Message(**message) for message in history]).to_bytes()

    sent = json.loads(written)["messages"][1]["content"][0]["input"]
    assert sent == {"nan": None, "big": 10**40, "half": "\ufffd", "pair": "😀"}


def test_a_request_that_is_no_json_at_all_is_an_invalid_request() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    message = Message.model_construct(
        role="assistant", content=[call("1", input=endless)], name=None, metadata=None
    )
    request = ChatRequest.model_construct(messages=[Message(**USER), message])
    encoded = encode_request(ChatRequest(messages=[Message(**USER)]), PLAIN)
    encoded.body["messages"] = encode_messages(request.messages, MODEL).messages
    with pytest.raises(InvalidRequestError, match="cannot be written as JSON"):
        encoded.to_bytes()


@pytest.mark.parametrize(
    ("model", "thinking", "output"),
    [
        ("claude-3-haiku-20240307", "none", 4_096),
        ("claude-3-5-sonnet-latest", "none", 8_192),
        ("claude-3-7-sonnet-20250219", "budget", 64_000),
        ("claude-opus-4-20250514", "budget", 32_000),
        ("anthropic.claude-opus-4-1-20250805-v1:0", "budget", 32_000),
        ("claude-haiku-4-5-20251001", "budget", 64_000),
        ("claude-sonnet-4-6", "adaptive", 64_000),
        ("claude-sonnet-5", "adaptive", 64_000),
        ("claude-mythos-preview", "adaptive", 64_000),
        ("amplifier-demo", "none", 32_000),
    ],
)
def test_what_is_known_of_a_model_by_its_name(model: str, thinking: str, output: int) -> None:
    profile = model_profile(model)
    assert (profile.thinking, profile.max_output_tokens) == (thinking, output)


def test_a_dated_name_and_its_alias_are_the_same_model() -> None:
    assert is_same_model("claude-sonnet-4-5", "claude-sonnet-4-5-20250929")
    assert is_same_model("claude-opus-4-0", "claude-opus-4-20250514")
    assert not is_same_model("claude-opus-4", "claude-opus-4-5")
