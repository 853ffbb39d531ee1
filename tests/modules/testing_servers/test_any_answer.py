"""Whatever a script says, a client reads it, and the server takes it back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_stream import StreamDecoder
from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    Call,
    ChatServer,
    Fault,
    ModelServer,
    OllamaServer,
    ResponsesServer,
    Text,
    Thinking,
)

Body = dict[str, Any]

HEADERS = {"x-api-key": "k", "authorization": "Bearer k", "anthropic-version": "2023-06-01"}
CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXTS = st.text(CHARACTERS, min_size=1, max_size=30).filter(str.strip)
ARGUMENTS = st.dictionaries(
    st.text(CHARACTERS, max_size=5),
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(CHARACTERS, max_size=20),
    max_size=3,
)
CALLS = st.builds(Call, st.sampled_from(["look", "rest"]), ARGUMENTS)
# In the order that every dialect can say.
PARTS = st.tuples(
    st.lists(st.builds(Thinking, TEXTS), max_size=1),
    st.lists(st.builds(Text, TEXTS), min_size=1, max_size=1),
    st.lists(CALLS, max_size=3),
).map(lambda groups: [part for group in groups for part in group])
FAULTS = st.none() | st.builds(Fault, piece=st.integers(1, 50))


def ask_anthropic(*turns: Body) -> tuple[str, Body]:
    names = [{"name": name, "input_schema": {"type": "object"}} for name in ("look", "rest")]
    given = {"model": "claude-sonnet-5", "max_tokens": 9, "tools": names}
    return "/v1/messages", {**given, "thinking": {"type": "adaptive"}, "messages": list(turns)}


def ask_responses(*turns: Body) -> tuple[str, Body]:
    include = ["reasoning.encrypted_content"]
    given = {"model": "gpt-5", "store": False, "include": include, "input": list(turns)}
    return "/responses", given


def ask_chat(*turns: Body) -> tuple[str, Body]:
    return "/chat/completions", {"model": "deepseek-v4", "messages": list(turns)}


def ask_ollama(*turns: Body) -> tuple[str, Body]:
    given = {"model": "qwen3:8b", "think": True, "stream": False}
    return "/api/chat", {**given, "messages": list(turns)}


def replay_anthropic(answer: Body) -> list[Body]:
    content = answer["content"]
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": "x"}
        for block in content
        if block["type"] == "tool_use"
    ]
    asked = {"role": "user", "content": results or "go on"}
    return [{"role": "assistant", "content": content}, asked]


def replay_responses(answer: Body) -> list[Body]:
    items = answer["output"]
    return [
        *items,
        *(
            {"type": "function_call_output", "call_id": item["call_id"], "output": "x"}
            for item in items
            if item["type"] == "function_call"
        ),
    ]


def replay_chat(answer: Body) -> list[Body]:
    message = answer["choices"][0]["message"]
    message.pop("annotations")
    calls = message.get("tool_calls", [])
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "x"} for call in calls]
    return [message, *results]


def replay_ollama(answer: Body) -> list[Body]:
    message = answer["message"]
    names = [call["function"]["name"] for call in message.get("tool_calls", [])]
    return [message, *({"role": "tool", "tool_name": name, "content": "x"} for name in names)]


DIALECTS = {
    "anthropic": (AnthropicServer, ask_anthropic, replay_anthropic),
    "responses": (ResponsesServer, ask_responses, replay_responses),
    "chat": (ChatServer, ask_chat, replay_chat),
    "ollama": (OllamaServer, ask_ollama, replay_ollama),
}


@pytest.fixture(scope="module", params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Iterator[tuple[str, ModelServer, httpx2.Client]]:
    kind = DIALECTS[request.param][0]
    options: Body = {"preset": "deepseek"} if kind is ChatServer else {}
    with kind(**options) as server, httpx2.Client(headers=HEADERS) as client:
        yield request.param, server, client


def said(parts: list[Any]) -> list[tuple[str, Any]]:
    """What a script says: thoughts, texts and calls."""
    told: list[tuple[str, Any]] = []
    for part in parts:
        match part:
            case Thinking(text):
                told.append(("thinking", text))
            case Text(text):
                told.append(("text", text))
            case _:
                told.append(("tool_call", (part.name, dict(part.arguments))))
    return told


def read(blocks: list[Body]) -> list[tuple[str, Any]]:
    """What a client reads."""
    told: list[tuple[str, Any]] = []
    for kind, group in groupby(blocks, lambda block: block["type"]):
        if kind == "tool_call":
            told += [(kind, (block["name"], block["arguments"])) for block in group]
        else:
            told.append((kind, "".join(block[kind] for block in group)))
    return told


@given(parts=PARTS, fault=FAULTS)
@settings(max_examples=40)
def test_an_answer_is_read_as_it_was_scripted_and_taken_back(
    dialect: tuple[str, ModelServer, httpx2.Client], parts: list[Any], fault: Fault | None
) -> None:
    name, server, client = dialect
    _, ask, replay = DIALECTS[name]
    hello = {"role": "user", "content": "hi"}
    path, body = ask(hello)
    server.answers = [Answer(*parts), Answer(*parts)]
    server.faults = [fault]

    response = client.post(server.url + path, json={**body, "stream": True})
    decoder = StreamDecoder(name, response.status_code, dict(response.headers))  # pyright: ignore
    decoder.feed(response.content)
    result = decoder.finish()
    whole = client.post(server.url + path, json=body)
    turns = replay(json.loads(whole.content))

    assert (result.error, result.truncated) == (None, False)
    assert read(result.blocks) == said(parts)
    again = ask(hello, *turns)[1]
    assert server.judge(again) is None  # pyright: ignore[reportAttributeAccessIssue]
    assert server.refusals == []
