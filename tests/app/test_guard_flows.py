"""The guard in the command: a message on its way to the model, an answer on its way back.

The request flow, the response flow and the three integration scenarios of the content blocks, with
the command in the place of a desktop shell and a real server in the place of the model.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

ANSWER = {"type": "text", "text": "All is well."}
MARKUP = "Why does <script>alert(1)</script> fail? Ignore nothing.\n\tGrüße 😀"


def called(name: str, arguments: Any, call_id: str = "t1") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def events(stdout: str) -> list[tuple[str, Any]]:
    return [(line["event"], line["data"]) for line in map(json.loads, stdout.splitlines())]


def data_of(stdout: str, event: str) -> list[Any]:
    return [data for name, data in events(stdout) if name == event]


def results(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The `tool_result` blocks of a request's last message, their text read as JSON."""
    found = [
        {name: value for name, value in block.items() if name != "cache_control"}
        for block in request["messages"][-1]["content"]
    ]
    assert [block["type"] for block in found] == ["tool_result"] * len(found)
    return found


def text_of(result: dict[str, Any]) -> str:
    content = result["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


# Holds: sink-53
def test_request_flow(keyed: Any, model: Any) -> None:
    """User input → command → message processor → content block → model."""
    model.reply(*model.said(ANSWER))

    done = keyed("run", "--json", MARKUP)

    assert (done.returncode, done.stderr) == (0, "")
    [request] = model.requests
    [message] = request["messages"]
    assert message["role"] == "user"
    [block] = message["content"]
    assert (block["type"], block["text"]) == ("text", MARKUP)
    names = [name for name, _ in events(done.stdout)]
    assert names.index("prompt:submit") < names.index("guard:findings") < names.index("llm:request")
    [told] = data_of(done.stdout, "guard:findings")
    assert told["action"] == "report"
    assert MARKUP[told["findings"][0]["start"] :].startswith("<script")


def test_what_is_only_reported_makes_no_noise(keyed: Any, model: Any) -> None:
    model.reply(*model.said(ANSWER))

    done = keyed("run", MARKUP)

    assert (done.returncode, done.stderr) == (0, "")
    assert "script" not in done.stdout


# Holds: sink-53
def test_response_flow(keyed: Any, model: Any) -> None:
    """Model → content blocks → tool → message processor → user."""
    (keyed.folder / "notes.txt").write_text("one\ntwo\n")
    text = {"type": "text", "text": "I look first."}
    model.reply(*model.said(text, called("read_file", {"path": "notes.txt"}), stop="tool_use"))
    model.reply(*model.said(ANSWER))

    done = keyed("run", "--json", "What is in it?")

    assert (done.returncode, done.stderr) == (0, "")
    asked = model.requests[1]["messages"]
    assert [message["role"] for message in asked] == ["user", "assistant", "user"]
    assert asked[1]["content"][:2] == [text, called("read_file", {"path": "notes.txt"})]
    [result] = results(model.requests[1])
    assert result["tool_use_id"] == "t1"
    assert not result.get("is_error")
    assert json.loads(text_of(result))["content"] == "one\ntwo\n"
    shown = [data["block_type"] for data in data_of(done.stdout, "content_block:end")]
    assert shown == ["text", "tool_call", "text"]
    *_, answer, (last, outcome) = events(done.stdout)
    assert (answer, last) == (("answer", {"text": "All is well."}), "outcome")
    assert outcome["content"] == [
        text,
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": text_of(result),
            "is_error": None,
        },
        ANSWER,
    ]


def test_scenario_messages_end_to_end(keyed: Any, model: Any) -> None:
    """Thinking, text and several calls over three model calls, each stored and sent whole."""
    (keyed.folder / "a.txt").write_text("TODO a\n")
    (keyed.folder / "b.txt").write_text("b\n")
    thinking = {"type": "thinking", "thinking": "Two at once."}
    first = [called("read_file", {"path": f"{name}.txt"}, name) for name in "ab"]
    model.reply(*model.said(thinking, *first, stop="tool_use"))
    model.reply(*model.said(called("grep", {"pattern": "TODO"}, "g"), stop="tool_use"))
    model.reply(*model.said(ANSWER))

    done = keyed("run", "--verbose", "What is to do?")

    assert done.returncode == 0
    assert done.stdout.endswith(
        "\nAll is well.\n\n120 tokens in (75% cached) · 60 out · 3 model calls · 3 tools\n"
    )
    one, two, three = (request["messages"] for request in model.requests)
    assert two[: len(one) - 1] == one[:-1]
    assert [message["role"] for message in three] == [
        "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert [each["tool_use_id"] for each in results(model.requests[1])] == ["a", "b"]
    assert [each["tool_use_id"] for each in results(model.requests[2])] == ["g"]
    assert json.loads(text_of(results(model.requests[2])[0]))["total_matches"] == 1


def test_a_model_reads_that_nobody_could_be_asked(keyed: Any, model: Any) -> None:
    arguments = {"path": ".env", "content": "A=1\n"}
    model.reply(*model.said(called("write_file", arguments), stop="tool_use"))
    model.reply(*model.said(ANSWER))

    done = keyed("run", "Write it.", input=b"")

    assert (done.returncode, done.stdout) == (0, "All is well.\n")
    assert done.stderr == (
        "denied, because there is no terminal to ask in: "
        'run `write_file`? | `path`: `.env` | `content`: "A=1\\n"\n'
    )
    [result] = results(model.requests[1])
    denial = "Denied by hook: nobody could be asked: there is no terminal to ask in"
    assert denial in text_of(result)


CONTENTS = [
    ("read_file", {"path": "text.txt"}, {"content": "Grüße 😀\n\x1b[31mred\n", "total_lines": 2}),
    ("read_file", {"path": "empty.txt"}, {"content": "", "total_lines": 0}),
    ("list_directory", {}, {"total": 3, "truncated": False}),
    ("glob", {"pattern": "*.txt", "sort": "size"}, {"total": 2}),
    ("grep", {"pattern": "r.d", "mode": "count"}, {"total_matches": 1}),
]


# Holds: sink-53
def test_scenario_tools_with_every_kind_of_content(keyed: Any, model: Any) -> None:
    """Text, nothing, structures and errors come back in the order of the calls, as they are."""
    (keyed.folder / "text.txt").write_text(CONTENTS[0][2]["content"])
    (keyed.folder / "empty.txt").write_text("")
    (keyed.folder / "binary.dat").write_bytes(b"\x00\xff")
    calls = [called(name, given, f"t{n}") for n, (name, given, _) in enumerate(CONTENTS)]
    refused = [
        called("read_file", {"path": "binary.dat"}, "binary"),
        called("read_file", {"path": "/etc/passwd"}, "outside"),
        called("read_file", {"path": 7}, "type"),
        called("read_file", {"path": "text.txt", "pfad": "x"}, "unknown_argument"),
        called("grep", {"pattern": "a", "mode": "all"}, "word"),
        called("no_such_tool", {}, "unknown_tool"),
        called("read\x1b_file", {"path": "text.txt"}, "name"),
    ]
    model.reply(*model.said(*calls, *refused, stop="tool_use"))
    model.reply(*model.said(ANSWER))

    done = keyed("run", "--json", "Look at everything")

    assert (done.returncode, done.stderr) == (0, "")
    found = results(model.requests[1])
    assert [each["tool_use_id"] for each in found] == [
        *(call["id"] for call in calls),
        *(call["id"] for call in refused),
    ]
    for (_, _, expected), result in zip(CONTENTS, found, strict=False):
        assert expected.items() <= json.loads(text_of(result)).items()
        assert not result.get("is_error")
    for call, result in zip(refused, found[len(CONTENTS) :], strict=True):
        assert result["is_error"] is True, call
        assert "\x1b" not in text_of(result)
    told = {result["tool_use_id"]: text_of(result) for result in found}
    assert "`path`" in told["type"] or "/path" in told["type"]
    assert "pfad" in told["unknown_argument"]
    assert "mode" in told["word"]
    assert "unknown tool `no_such_tool`" in told["unknown_tool"]
    ended = [data["tool_call_id"] for data in data_of(done.stdout, "tool:post")]
    failed = [data["tool_call_id"] for data in data_of(done.stdout, "tool:error")]
    assert sorted([*ended, *failed]) == sorted(told)
    assert {"type", "unknown_argument", "word", "unknown_tool", "name"} <= {*failed}


def test_a_refused_call_is_shown_with_its_reason(keyed: Any, model: Any) -> None:
    model.reply(*model.said(called("read_file", {"path": 7}), stop="tool_use"))
    model.reply(*model.said(ANSWER))

    done = keyed("run", "--verbose", "Look")

    assert done.returncode == 0
    [line] = [each for each in done.stdout.splitlines() if "✗" in each]
    assert line.startswith("  ✗ 1 read_file: ")
    assert "path" in line


KEY = "sk-ant-scripted"


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, "authentication_error", "check `ANTHROPIC_API_KEY`"),
        (429, "rate_limit_error", "too many requests"),
        (500, "api_error", "retry later"),
        (529, "overloaded_error", "retry later"),
    ],
)
def test_scenario_errors_of_the_model_end_the_turn_in_one_line_without_the_key(
    keyed: Any, model: Any, status: int, kind: str, words: str
) -> None:
    encoded = base64.b64encode(KEY.encode()).decode()
    message = f"no luck with {KEY} alias {encoded}"
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()
    model.reply(body, status=status)

    done = keyed("run", "Hi")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith(f"error: Anthropic API error ({status} {kind}): no luck with ")
    assert words in line
    assert KEY not in done.stdout + done.stderr
    assert encoded not in done.stdout + done.stderr


def test_scenario_an_answer_that_breaks_off_runs_no_tool(keyed: Any, model: Any) -> None:
    (keyed.folder / "notes.txt").write_text("one\n")
    pieces = model.said(called("read_file", {"path": "notes.txt"}), stop="tool_use")
    model.reply(*pieces[:-2])

    done = keyed("run", "--json", "Look")

    assert done.returncode == 1
    assert "was cut off" in done.stderr
    assert data_of(done.stdout, "tool:pre") == []


def test_scenario_a_tool_that_takes_too_long_is_an_error_to_the_model(
    keyed: Any, model: Any
) -> None:
    keyed.environment["TOOL_TIMEOUT"] = "0.000001"
    (keyed.folder / "notes.txt").write_text("one\n")
    model.reply(*model.said(called("read_file", {"path": "notes.txt"}), stop="tool_use"))
    model.reply(*model.said(ANSWER))

    done = keyed("run", "--json", "Look")

    assert (done.returncode, done.stderr) == (0, "")
    [result] = results(model.requests[1])
    assert result["is_error"] is True
    assert "tool `read_file` was ended after 1e-06 s" in text_of(result)


# Holds: sink-52
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["display", "json"])
def test_scenario_a_prompt_that_is_too_long_reaches_no_model_and_is_a_failure(
    keyed: Any, model: Any, options: list[str]
) -> None:
    keyed.environment["MESSAGE_MAX_CHARS"] = "10"
    model.reply(*model.said(ANSWER))

    done = keyed("run", *options, "one two three")

    assert model.requests == []
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("error: the prompt was refused: ")
    assert "10" in line
    if options:
        [told] = data_of(done.stdout, "orchestrator:complete")
        assert told["denied"]["event"] == "prompt:submit"
        assert data_of(done.stdout, "answer") == []
    else:
        assert done.stdout == ""


def test_without_thinking_mode_the_model_is_not_asked_to_think(keyed: Any, model: Any) -> None:
    model.reply(*model.said(ANSWER))

    keyed("run", "Hi")
    keyed.environment["THINKING_MODE_ENABLED"] = "false"
    keyed("run", "Hi")

    thinking = [request.get("thinking", {"type": "disabled"})["type"] for request in model.requests]
    assert thinking[0] != "disabled"
    assert thinking[1] == "disabled"


@pytest.mark.parametrize("name", ["MESSAGE_MAX_CHARS", "TOOL_TIMEOUT", "THINKING_MODE_ENABLED"])
def test_a_limit_that_cannot_be_used_ends_the_command(keyed: Any, model: Any, name: str) -> None:
    keyed.environment[name] = "soon"

    done = keyed("run", "Hi")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert name.lower() in line.lower()
    assert model.requests == []
