"""A local model without native tools, with its calls in tags, from the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from terminal import Terminal

from amplifier_testing.servers import Answer, Fault, OllamaModel, OllamaServer

FIRST = """<think>I look around.</think>I look first: 1 < 2.
<tool>{"tool_name": "list_directory", "arguments": {}}</tool>
<tool><tool_name>grep</tool_name><arguments><pattern>TODO</pattern></arguments></tool>
That is all."""
SECOND = "<think>There is one.</think>There is **one** TODO."


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    model = OllamaModel("tiny:latest", capabilities=frozenset({"completion"}))
    with OllamaServer([Answer(FIRST, fragment=3), Answer(SECOND)], models=[model]) as running:
        yield running
        assert running.refusals == []


@pytest.fixture
def options(server: OllamaServer, command: Any) -> list[str]:
    (command.folder / "notes.txt").write_text("one\nTODO two\n")
    command.environment |= {"OLLAMA_HOST": server.url, "TERM": "xterm-256color"}
    command.environment["PROVIDER_PRICES"] = '{"*": {"input": 0, "output": 0}}'
    thinking = json.dumps({"thinking_tags": "think"})
    loop = ["--module", "loop-tagged", "--module", f"provider-ollama={thinking}"]
    return ["--model", "ollama:tiny", *loop]


def test_the_answer_in_a_pipe_has_no_tags(
    command: Any, server: OllamaServer, options: list[str]
) -> None:
    done = command(*options, "Where is the TODO?")
    assert (done.returncode, done.stdout, done.stderr) == (0, "There is **one** TODO.\n", "")
    first, second = (request.body for request in server.requests)
    assert "tools" not in first
    assert "- grep: " in first["messages"][0]["content"] + first["messages"][1]["content"]
    told = second["messages"][-1]
    assert told["role"] == "user"
    assert told["content"].count("<tool_result>") == 2


def test_the_lines_of_json_have_the_events_of_the_answer(
    command: Any, server: OllamaServer, options: list[str], outcome_of: Any
) -> None:
    done = command(*options, "--json", "Where is the TODO?")
    assert (done.returncode, done.stderr) == (0, "")
    assert outcome_of(done.stdout)["text"] == "There is **one** TODO."
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    events = [line["event"] for line in lines]
    assert events.count("agent:thinking_start") == events.count("agent:thinking_end") == 2
    assert events.count("agent:message_start") == events.count("agent:message_end") == 2
    ended = [line["data"]["call"] for line in lines if line["event"] == "agent:tool_call_end"]
    assert [(call["name"], call["arguments"]) for call in ended] == [
        ("list_directory", {}),
        ("grep", {"pattern": "TODO"}),
    ]
    shown = [line["data"] for line in lines if line["event"] == "content_block:delta"]
    assert "<tool" not in json.dumps(shown)


def test_the_screen_shows_thoughts_text_and_tools_without_tags(
    command: Any, server: OllamaServer, options: list[str]
) -> None:
    terminal = Terminal(command, "Where is the TODO?", *options)
    assert terminal.wait() == 0
    for line in (
        "│ I look around.",
        "I look first: 1 < 2.",
        "● 1 list_directory()",
        '● 2 grep(pattern="TODO")',
        "  ✓ 1 list_directory: 1 entry",
        "  ✓ 2 grep: 1 match in 1 file",
        "│ There is one.",
        "There is one TODO.",
    ):
        assert line in terminal.screen
    assert "tool>" not in terminal.screen
    assert "Traceback" not in terminal.written


def test_without_the_loop_a_model_that_lacks_tools_has_them_in_tags_as_well(
    command: Any, server: OllamaServer, options: list[str]
) -> None:
    done = command(*options[:2], *options[4:], "Hi")
    assert (done.returncode, done.stdout, done.stderr) == (0, "There is **one** TODO.\n", "")
    assert "tools" not in server.requests[0].body


def test_an_answer_that_is_cut_off_is_an_error_and_its_calls_do_not_run(
    command: Any, server: OllamaServer, options: list[str]
) -> None:
    server.faults = [Fault(cut=2_000)]
    done = command(*options, "--json", "Where is the TODO?")
    events = [json.loads(line)["event"] for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert "agent:error" in events
    assert "tool:pre" not in events
    assert "Traceback" not in done.stderr
