"""What servers are made of: scripts of the right types, and an address that clients take as it is."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import anthropic
import ollama
import openai
import pytest

from amplifier_testing.servers import (
    Answer,
    AnthropicServer,
    ChatServer,
    Fault,
    ModelServer,
    OllamaServer,
    Recorded,
    ResponsesServer,
)

SERVERS = [AnthropicServer, ResponsesServer, ChatServer, OllamaServer]
ANSWERS = "a text, an `Answer` or a `Recorded`"


# Holds: provider-3
@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"answers": "Hello"}, f"`answers` is a `str` (must be a list of answers, each {ANSWERS})"),
        ({"answers": 3}, f"`answers` is a `int` (must be a list of answers, each {ANSWERS})"),
        (
            {"answers": {"a": 1}},
            f"`answers` is a `dict` (must be a list of answers, each {ANSWERS})",
        ),
        ({"answers": ["a", 3]}, f"answer 1 of the script is a `int` (must be {ANSWERS})"),
        ({"answers": [["a"]]}, f"answer 0 of the script is a `list` (must be {ANSWERS})"),
        ({"answers": [{"text": "a"}]}, f"answer 0 of the script is a `dict` (must be {ANSWERS})"),
        ({"answers": [Answer]}, f"answer 0 of the script is a `type` (must be {ANSWERS})"),
        (
            {"faults": Fault()},
            ("`faults` is a `Fault` (must be a list of faults, each a `Fault`, or None for none)"),
        ),
        (
            {"faults": [None, 503]},
            "fault 1 of the script is a `int` (must be a `Fault`, or None for none)",
        ),
    ],
)
def test_a_script_of_the_wrong_type_is_refused_at_the_start(
    server: Any, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(TypeError) as caught:
        server(**given)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Answer("a", 3), "part 1 of an answer is a `int` (must be a text, or a `Text`,"),
        (lambda: Answer({"tool": "x"}), "part 0 of an answer is a `dict` (must be a text, or a"),
        (lambda: Answer("a", stop=3), "`stop` of an answer is a `int` (must be a text)"),
        (lambda: Answer("a", usage={}), "`usage` of an answer is a `dict` (must be a `Usage`)"),
        (lambda: Answer("a", fragment=0), "`fragment` of an answer is `0` (must be a whole number"),
        (lambda: Recorded("body"), "the body of a recorded answer is a `str` (must be bytes, or"),
    ],
)
def test_an_answer_of_the_wrong_type_is_refused_where_it_is_made(make: Any, said: str) -> None:
    with pytest.raises(TypeError) as caught:
        make()
    assert str(caught.value).startswith(said)


def test_a_script_may_be_any_iterable() -> None:
    server = ChatServer((text for text in ("One.", "Two.")), faults=iter([None, Fault()]))

    assert (server.answers, server.faults) == (["One.", "Two."], [None, Fault()])


def by_anthropic(url: str) -> str:
    with anthropic.Anthropic(base_url=url, api_key="k") as client:
        message = client.messages.create(
            model="claude-sonnet-5-5", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
        )
    return message.content[0].text


def by_responses(url: str) -> str:
    with openai.OpenAI(base_url=url, api_key="k") as client:
        return client.responses.create(model="gpt-4.1", input="hi").output_text


def by_chat(url: str) -> Any:
    with openai.OpenAI(base_url=url, api_key="k") as client:
        made = client.chat.completions.create(
            model="gpt-4.1", messages=[{"role": "user", "content": "hi"}]
        )
    return made.choices[0].message.content


def by_ollama(url: str) -> Any:
    messages = [{"role": "user", "content": "hi"}]
    with ollama.Client(host=url) as client:
        return client.chat("qwen3:8b", messages=messages).message.content


# Holds: provider-3
@pytest.mark.parametrize(
    ("server", "ask"),
    [
        (AnthropicServer, by_anthropic),
        (ResponsesServer, by_responses),
        (ChatServer, by_chat),
        (OllamaServer, by_ollama),
    ],
)
def test_the_url_of_each_server_is_what_the_official_client_takes_as_it_is(
    server: type[ModelServer], ask: Any
) -> None:
    with server(["Yes."]) as running:
        assert ask(running.url) == "Yes."
        assert running.refusals == []
        assert urlsplit(running.root).path == ""
        assert running.url.startswith(running.root)
