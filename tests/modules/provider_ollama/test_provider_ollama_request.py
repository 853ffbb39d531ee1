"""What is sent: messages, results in the order of their calls, images, thinking, forms, tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from amplifier_core.llm_errors import ConfigurationError, InvalidRequestError
from amplifier_core.message_models import ChatRequest, Message, ToolSpec
from amplifier_providers.ollama import read_config
from amplifier_providers.ollama.completions import CompletionsFormat
from amplifier_providers.ollama.models import UNKNOWN, ModelFacts
from amplifier_providers.ollama.wire_format import OllamaFormat
from amplifier_providers.wire.body import WireRequest

USER = Message(role="user", content="hi")
PNG = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
IMAGE = {"type": "image", "source": PNG}
LOOK = ToolSpec(name="look", description="Looks.", parameters={"properties": {"at": True}})
REST = ToolSpec(name="a b", parameters={"type": "object"})
THINKER = ModelFacts(frozenset({"completion", "tools", "thinking", "vision"}))
LEVELS = ModelFacts(frozenset({"completion", "tools", "thinking"}), family="gptoss")
PLAIN = ModelFacts(frozenset({"completion"}))


def encoded(
    *messages: Any, facts: ModelFacts = THINKER, config: Any = None, **wishes: Any
) -> WireRequest:
    options = wishes.pop("options", {})
    settings = read_config({"default_model": "m", **(config or {})}, {})
    make = OllamaFormat if settings.api == "native" else CompletionsFormat
    request = ChatRequest(
        messages=[Message.model_validate(each) for each in messages or [USER]], **wishes
    )
    return make(settings, lambda model: facts).encode(request, options)


def sent(*messages: Any, **given: Any) -> Any:
    return encoded(*messages, **given).body["messages"]


def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_a_conversation_becomes_plain_messages() -> None:
    assert sent(
        {"role": "system", "content": "Be kind."},
        {"role": "developer", "content": "And brief."},
        USER,
        {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "And"}, {"type": "text", "text": "?"}],
        },
    ) == [
        {"role": "system", "content": "Be kind.\n\nAnd brief."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "And\n\n?"},
    ]


def test_results_have_the_names_and_the_order_of_their_calls() -> None:
    calls = [call("1", "look", at="a"), call("2", "a b"), call("3", "look", at="c")]
    messages = sent(
        USER,
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, *calls]},
        result("3", "third"),
        result("1", "first"),
        {"role": "user", "content": "Go on."},
    )
    assert messages[1]["tool_calls"][0] == {"function": {"name": "look", "arguments": {"at": "a"}}}
    assert "id" not in messages[1]["tool_calls"][0]
    names = [each["function"]["name"] for each in messages[1]["tool_calls"]]
    assert [each["tool_name"] for each in messages[2:5]] == names
    assert [each["content"][:5] for each in messages[2:5]] == ["first", "No re", "third"]
    assert messages[5] == {"role": "user", "content": "Go on."}


def test_images_are_base64_beside_the_text_also_those_of_results() -> None:
    url = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    broken = {"type": "image", "source": {**PNG, "data": "no base64!"}}
    messages = sent(
        {"role": "user", "content": [IMAGE, {"type": "text", "text": "What?"}, url, broken]},
        {"role": "assistant", "content": [call("1", "look")]},
        result("1", [{"type": "text", "text": "this"}, IMAGE]),
    )
    assert messages[0]["images"] == [PNG["data"]]
    assert messages[0]["content"].startswith("What?\n\n(An image was here, which `m` cannot see.)")
    assert messages[0]["content"].count("cannot see") == 2
    assert messages[2] == {
        "role": "tool", "tool_name": "look",
        "content": "this\n\n(The images of this result are in the next message of the user.)",
    }  # fmt: skip
    assert messages[3] == {
        "role": "user", "images": [PNG["data"]],
        "content": "(From the result of the call `1` of `look`:)",
    }  # fmt: skip
    assert "images" not in sent({"role": "user", "content": [IMAGE]}, facts=PLAIN)[0]
    assert sent({"role": "user", "content": [IMAGE]}, facts=UNKNOWN)[0]["images"]


def test_thinking_goes_back_to_the_model_that_wrote_it() -> None:
    def thought(model: str, provider: str = "ollama") -> dict[str, Any]:
        block = {"type": "thinking", "thinking": "Hm.", "signature": "of another"}
        known = {"provider": provider, "requested_model": model}
        text = {"type": "text", "text": "So."}
        return {"role": "assistant", "content": [block, text], "metadata": known}

    for said, is_kept in (
        (thought("m"), True),
        (thought("m:latest"), True),
        (thought("other"), False),
        (thought("m", "anthropic"), False),
    ):
        messages = sent(USER, said, USER)
        assert messages[1].get("thinking") == ("Hm." if is_kept else None)
    alone = {**thought("m"), "content": thought("m")["content"][:1]}
    assert [each["role"] for each in sent(USER, alone, USER)] == ["user"]


WANTED: list[tuple[dict[str, Any], ModelFacts, Any, str | None]] = [
    ({}, THINKER, None, None),
    ({"config": {"enable_thinking": True}}, THINKER, True, None),
    ({"config": {"enable_thinking": True}}, PLAIN, None, "thinking"),
    ({"config": {"enable_thinking": True}}, UNKNOWN, None, "thinking"),
    ({"config": {"enable_thinking": False}}, THINKER, False, None),
    ({"config": {"enable_thinking": False}}, PLAIN, None, None),
    ({"config": {"enable_thinking": False}}, UNKNOWN, None, "no thinking"),
    ({"config": {"enable_thinking": False, "reasoning_effort": "low"}}, THINKER, False, None),
    (
        {"config": {"enable_thinking": False}, "options": {"reasoning_effort": "low"}},
        LEVELS, "low", None,
    ),
    ({"options": {"extended_thinking": True}}, THINKER, True, None),
    ({"options": {"extended_thinking": False}, "reasoning_effort": "low"}, THINKER, False, None),
    ({"reasoning_effort": "none"}, THINKER, False, None),
    ({"reasoning_effort": "low"}, THINKER, True, "reasoning effort `low`"),
    ({"reasoning_effort": "low"}, PLAIN, None, "reasoning effort `low`"),
    ({"reasoning_effort": "low"}, LEVELS, "low", None),
    ({"reasoning_effort": "xhigh"}, LEVELS, "high", "reasoning effort `xhigh`"),
    ({"reasoning_effort": "odd"}, LEVELS, "medium", "reasoning effort `odd`"),
    ({"config": {"enable_thinking": True}}, LEVELS, "medium", None),
    ({"config": {"enable_thinking": False}}, LEVELS, "low", "no thinking"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "facts", "think", "degraded"), WANTED)
def test_a_model_is_asked_to_think_only_if_it_can(
    given: dict[str, Any], facts: ModelFacts, think: Any, degraded: str | None
) -> None:
    request = encoded(facts=facts, **given)
    assert request.body.get("think") == think
    assert [each.requested for each in request.degradations] == ([degraded] if degraded else [])

    config = {**given.get("config", {}), "api": "openai"}
    other = encoded(facts=facts, **{**given, "config": config})
    effort = {True: "medium", False: "none"}.get(think, think) if think is not None else None
    assert other.body.get("reasoning_effort") == effort
    assert other.degradations == request.degradations


@pytest.mark.parametrize("api", ["native", "openai"])
def test_only_tools_that_may_be_called_are_offered(api: str) -> None:
    def offered(choice: Any) -> tuple[list[str], list[str]]:
        request = encoded(tools=[LOOK, REST], tool_choice=choice, config={"api": api})
        assert "tool_choice" not in request.body
        names = [tool["function"]["name"] for tool in request.body.get("tools", [])]
        return names, [each.requested for each in request.degradations]

    both = ["look", "a_b_c8687a08"]
    assert offered(None) == offered("auto") == offered({"type": "auto"}) == (both, [])
    assert offered("none") == offered({"type": "none"}) == ([], [])
    assert offered("any") == offered({"type": "required"}) == (both, ["a tool call"])
    assert offered("look") == (both[:1], ["a call of `look`"])
    assert offered({"type": "function", "name": "a b"}) == (both[1:], ["a call of `a b`"])
    with pytest.raises(InvalidRequestError, match="unknown tool choice `nobody`"):
        offered("nobody")


def test_tools_are_functions_with_a_schema() -> None:
    [first, second] = encoded(tools=[LOOK, REST]).body["tools"]
    assert first == {
        "type": "function",
        "function": {
            "name": "look", "description": "Looks.",
            "parameters": {"properties": {"at": {}}, "type": "object"},
        },
    }  # fmt: skip
    assert second["function"]["parameters"] == {"type": "object", "properties": {}}


SCHEMA = {"type": "array", "items": {"type": "string"}}


def test_an_answer_is_held_to_json_or_a_schema() -> None:
    wanted = {"type": "json_schema", "json_schema": SCHEMA}
    assert encoded(response_format=wanted).body["format"] == SCHEMA
    request = encoded(response_format={"type": "json"})
    assert request.body["format"] == "json"
    assert "Answer with JSON only" in request.body["messages"][0]["content"]
    assert request.degradations == []
    assert "format" not in encoded(response_format={"type": "text"}).body


@pytest.mark.parametrize("api", ["native", "openai"])
def test_with_tools_a_form_is_asked_for_in_words(api: str) -> None:
    wanted = {"type": "json_schema", "json_schema": SCHEMA}
    request = encoded(response_format=wanted, tools=[LOOK], config={"api": api})
    assert not {"format", "response_format"} & request.body.keys()
    assert '"items"' in request.body["messages"][0]["content"]
    [degradation] = request.degradations
    assert degradation.requested == "response format json_schema"


def test_options_of_the_call_go_before_the_request_and_that_before_the_settings() -> None:
    config = {"max_tokens": 1, "temperature": 0.1}
    request: dict[str, Any] = {
        "max_output_tokens": 2, "temperature": 0.2, "top_p": 0.9, "stop": ["a", " "],
    }  # fmt: skip
    assert encoded(config=config).body["options"] == {"num_predict": 1, "temperature": 0.1}
    given = encoded(config=config, **request).body["options"]
    rest = {"top_p": 0.9, "stop": ["a"]}
    assert given == {"num_predict": 2, "temperature": 0.2, **rest}
    options = {"max_tokens": 3, "temperature": 0, "model": "x"}
    body = encoded(config=config, options=options, **request).body
    assert body["options"] == {"num_predict": 3, "temperature": 0, **rest}
    assert body["model"] == "x"
    assert "options" not in encoded().body


@pytest.mark.parametrize("api", ["native", "openai"])
def test_without_a_model_or_a_message_nothing_is_sent(api: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        encoded(config={"default_model": None, "api": api})
    assert caught.value.hint == "set `default_model`, or name it: `ollama:MODEL`"
    with pytest.raises(InvalidRequestError, match="no message to send"):
        encoded({"role": "user", "content": " "}, config={"api": api})


def test_both_apis_ask_for_the_same_messages() -> None:
    history: list[Any] = [USER, {"role": "assistant", "content": "Hello."}, USER]
    ask: Callable[..., Any] = sent
    assert ask(*history) == ask(*history, config={"api": "openai"})
