"""What Ollama takes and what it refuses, one row a rule."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from amplifier_testing.servers.ollama import OllamaModel, judge

Body = dict[str, Any]

PNG = "iVBORw0KGgo="
HELLO: Body = {"model": "qwen3-vl:8b", "messages": [{"role": "user", "content": "hi"}]}
TOOL: Body = {
    "type": "function",
    "function": {"name": "look", "description": "looks", "parameters": {"type": "object"}},
}


def call(name: str, **arguments: Any) -> Body:
    return {"function": {"name": name, "arguments": arguments}}


def result(name: str) -> Body:
    return {"role": "tool", "tool_name": name, "content": "x"}


def asking(*messages: Body, **fields: Any) -> Body:
    return {**HELLO, **({"messages": list(messages)} if messages else {}), **fields}


TWO: Body = {"role": "assistant", "content": "", "tool_calls": [call("look", at="a"), call("rest")]}
USER: Body = HELLO["messages"][0]

NAMED = {"role": "assistant", "tool_calls": [call("look") | {"id": each} for each in "12"]}


def of_id(call_id: str, **more: Any) -> Any:
    return {"role": "tool", "tool_call_id": call_id, "content": "x", **more}


CASES = [
    pytest.param(HELLO, None, id="hello"),
    pytest.param(asking(model="llama3.2"), None, id="a name without a tag"),
    pytest.param(asking(model="nobody"), "model 'nobody' not found", id="an unknown model"),
    pytest.param(asking(model=""), "model is required", id="no name"),
    pytest.param({"messages": []}, "model is required", id="no model"),
    pytest.param(asking(model="nomic-embed-text"), "does not support chat", id="no chat"),
    pytest.param(asking(messages=[]), "messages is required", id="no message"),
    pytest.param(asking(messages="hi"), "cannot unmarshal string", id="messages as text"),
    pytest.param(asking(unheard_of=1, options={"odd": []}), None, id="unknown fields"),
    pytest.param(asking(stream="yes"), "cannot unmarshal string", id="stream as text"),
    pytest.param(asking(stream=False, truncate=False), None, id="whole"),
    pytest.param(asking({"role": "developer", "content": "x"}), "invalid role", id="a role"),
    pytest.param(asking({"content": "x"}), "role is required", id="no role"),
    pytest.param(
        asking({"role": "user", "content": [{"type": "text", "text": "x"}]}),
        "cannot unmarshal array",
        id="content as blocks",
    ),
    pytest.param(asking({"role": "user", "content": ""}), "an empty message", id="empty"),
    pytest.param(
        asking({"role": "system", "content": "Be kind."}, USER), None, id="a system message"
    ),
    pytest.param(asking({**USER, "images": [PNG]}), None, id="an image"),
    pytest.param(
        asking({**USER, "images": [PNG]}, model="qwen3:8b"), "does not support image", id="blind"
    ),
    pytest.param(
        asking({**USER, "images": [f"data:image/png;base64,{PNG}"]}),
        "illegal base64 data",
        id="an image with a media type",
    ),
    pytest.param(asking({**USER, "images": ["aGk="]}), "Failed to load image", id="no image"),
    pytest.param(asking({**USER, "images": [{}]}), "cannot unmarshal", id="an image as a mapping"),
    pytest.param(asking(USER, TWO, result("look"), result("rest")), None, id="calls and results"),
    pytest.param(
        asking(USER, TWO, result("rest"), result("look")), None, id="results in another order"
    ),
    pytest.param(
        asking(USER, TWO, result("look"), result("look")),
        "the result of `look` where that of `rest` is expected",
        id="two results of one call",
    ),
    pytest.param(
        asking(USER, NAMED, of_id("2"), of_id("1")), None, id="results by the ids of their calls"
    ),
    pytest.param(
        asking(USER, NAMED, of_id("1"), of_id("1")),
        "a result with the id `1`, which no call has that waits: `look`",
        id="two results of one id",
    ),
    pytest.param(
        asking(USER, NAMED, of_id("2", tool_name="rest"), of_id("1")),
        "the result of `rest` has the id of a call of `look`",
        id="an id of another tool",
    ),
    pytest.param(
        asking(USER, TWO, of_id("a"), of_id("b")), None, id="ids of which the calls have none"
    ),
    pytest.param(
        asking(USER, TWO, {"role": "tool", "content": "x"}, {"role": "tool", "content": "y"}),
        None,
        id="results by their position",
    ),
    pytest.param(asking(USER, TWO, result("look")), "no result of the call", id="no result"),
    pytest.param(asking(USER, result("look")), "follows no call", id="an orphan"),
    pytest.param(
        asking(USER, TWO, {"role": "tool", "content": "x"}),
        "no result of the call of `rest`",
        id="one result without a name",
    ),
    pytest.param(
        asking(
            USER,
            {"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "{}"}}]},
        ),
        "cannot unmarshal string",
        id="arguments as text",
    ),
    pytest.param(
        asking({"role": "user", "tool_calls": [call("look")]}),
        "tool_calls in a message of `user`",
        id="calls of the user",
    ),
    pytest.param(
        asking({"role": "assistant", "tool_calls": [call("")]}), "without the name", id="no tool"
    ),
    pytest.param(
        asking(USER, {"role": "assistant", "content": "Yes.", "thinking": "Hm."}, USER),
        None,
        id="thoughts that come back",
    ),
    pytest.param(asking(think=True), None, id="think"),
    pytest.param(asking(think=True, model="llama3.2"), "does not support thinking", id="no think"),
    pytest.param(asking(think=False, model="llama3.2"), None, id="do not think"),
    pytest.param(asking(think="high", model="gpt-oss:20b"), None, id="a level"),
    pytest.param(asking(think="high"), "is not supported for this model", id="no level"),
    pytest.param(asking(think="much", model="gpt-oss:20b"), "invalid think value", id="much"),
    pytest.param(asking(think=1), "invalid think value", id="think as a number"),
    pytest.param(asking(tools=[TOOL]), None, id="a tool"),
    pytest.param(asking(tools=[TOOL], model="gemma3:4b"), "does not support tools", id="no tools"),
    pytest.param(asking(tools=[{**TOOL, "type": "other"}]), "no function", id="another tool"),
    pytest.param(
        asking(tools=[{**TOOL, "function": {"name": "a", "parameters": {"type": "array"}}}]),
        "are no object",
        id="parameters as a list",
    ),
    pytest.param(
        asking(
            tools=[
                {
                    **TOOL,
                    "function": {
                        "name": "a",
                        "parameters": {"type": "object", "properties": {"a": True}},
                    },
                }
            ]
        ),
        "cannot unmarshal a property",
        id="a property that is no schema",
    ),
    pytest.param(
        asking(options={"num_ctx": 8_192, "temperature": 0, "top_p": 0.5, "stop": ["a"]}),
        None,
        id="options",
    ),
    pytest.param(asking(options={"num_predict": 9.0}), None, id="a whole number with a point"),
    pytest.param(asking(options={"num_ctx": "8k"}), "of type integer", id="num_ctx as text"),
    pytest.param(asking(options={"num_ctx": 0}), "at least 1", id="no context"),
    pytest.param(asking(options={"temperature": "hot"}), "of type float32", id="temperature"),
    pytest.param(asking(options={"stop": "a"}), "of type array", id="stop as text"),
    pytest.param(asking(options={"stop": [1]}), "array of strings", id="stop as numbers"),
    pytest.param(asking(keep_alive="1h30m"), None, id="keep alive"),
    pytest.param(asking(keep_alive=-1), None, id="for ever"),
    pytest.param(asking(keep_alive="5"), "invalid duration", id="keep alive without a unit"),
    pytest.param(asking(keep_alive=[5]), "Unsupported type", id="keep alive as a list"),
    pytest.param(asking(format="json"), None, id="json"),
    pytest.param(asking(format={"type": "array", "items": {}}), None, id="a schema"),
    pytest.param(asking(format="yaml"), "invalid format", id="yaml"),
    pytest.param(
        asking(format={"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}}),
        "invalid JSON schema",
        id="a reference that leads nowhere",
    ),
    pytest.param(asking(format={"half": "\ud83d"}), "invalid character", id="half a character"),
]


@pytest.mark.parametrize(("body", "said"), CASES)
def test_a_rule_is_kept(body: Body, said: str | None) -> None:
    before = copy.deepcopy(body)
    refusal = judge(body)
    if said is None:
        assert refusal is None
    else:
        assert refusal is not None
        assert said in refusal.message
        assert refusal.status == (404 if "not found" in said else 400)
    assert repr(body) == repr(before)


def test_a_key_is_needed_only_if_there_is_one() -> None:
    assert judge(HELLO, {}) is None
    refusal = judge(HELLO, {"authorization": "Bearer other"}, api_key="key")
    assert refusal is not None
    assert (refusal.status, refusal.message) == (401, "unauthorized")
    assert judge(HELLO, {"authorization": "Bearer key"}, api_key="key") is None


def test_a_model_of_ones_own_is_judged_by_what_it_can_do() -> None:
    own = OllamaModel("mine:latest", frozenset({"completion"}))
    assert judge({**HELLO, "model": "mine"}, models=[own]) is None
    assert judge({**HELLO, "model": "mine", "tools": [TOOL]}, models=[own]) is not None
