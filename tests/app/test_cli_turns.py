"""The command against a scripted model: what it shows and what it fails with."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

ANSWER = {"type": "text", "text": "All is well."}


def events(stdout: str) -> list[tuple[str, Any]]:
    return [(line["event"], line["data"]) for line in map(json.loads, stdout.splitlines())]


def test_a_turn_with_thinking_tools_and_an_answer(keyed: Any, model: Any) -> None:
    (keyed.folder / "notes.txt").write_text("one\nTODO two\n")
    model.reply(
        *model.said(
            {"type": "thinking", "thinking": "I look for notes."},
            {"type": "tool_use", "id": "t1", "name": "list_directory", "input": {}},
            {"type": "tool_use", "id": "t2", "name": "grep", "input": {"pattern": "TODO"}},
            {"type": "tool_use", "id": "t3", "name": "read_file", "input": {"path": "/etc/passwd"}},
            stop="tool_use",
        )
    )
    model.reply(*model.said(ANSWER))

    done = keyed("run", "--verbose", "What is here?")

    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[:6] == [
        "thinking",
        "│ I look for notes.",
        "",
        "● 1 list_directory()",
        '● 2 grep(pattern="TODO")',
        '● 3 read_file(path="/etc/passwd")',
    ]
    results = sorted(lines[6:9])
    assert results[:2] == ["  ✓ 1 list_directory: 1 entry", "  ✓ 2 grep: 1 match in 1 file"]
    assert results[2].startswith("  ✗ 3 read_file: ")
    assert lines[9:] == [
        "",
        "All is well.",
        "",
        "80 tokens in (75% cached) · 40 out · 2 model calls · 3 tools",
    ]
    assert [message["role"] for message in model.requests[1]["messages"]] == [
        "user",
        "assistant",
        "user",
    ]


# Holds: command-4
def test_an_answer_that_starts_again_is_marked_where_it_broke_off(keyed: Any, model: Any) -> None:
    first = model.said({"type": "text", "text": "All is lo"}, {"type": "text", "text": "st"})[:6]
    again = model.event("message_start", message={"id": "msg_2", "role": "assistant"})
    model.reply(*first, again, *model.said(ANSWER)[1:])

    done = keyed("run", "--verbose", "What is here?")

    assert done.returncode == 0
    lines = ["All is lo", "", "st", "", "(the model started its answer again)", "", "All is well."]
    assert done.stdout.splitlines()[:7] == lines


def test_the_prompt_can_come_from_standard_input(keyed: Any, model: Any) -> None:
    model.reply(*model.said(ANSWER))

    done = keyed("run", "-", input="Grüße\nan alle".encode())

    assert done.returncode == 0
    [message] = model.requests[0]["messages"]
    assert "Grüße\nan alle" in json.dumps(message, ensure_ascii=False).replace("\\n", "\n")


def test_json_is_nothing_but_events_and_ends_with_the_answer_and_the_outcome(
    keyed: Any, model: Any
) -> None:
    model.reply(
        *model.said(
            {"type": "tool_use", "id": "t1", "name": "glob", "input": {"pattern": "*"}},
            stop="tool_use",
        )
    )
    model.reply(*model.said(ANSWER))

    done = keyed("run", "--json", "What is here?")

    assert (done.returncode, done.stderr) == (0, "")
    seen = events(done.stdout)
    assert seen[-2] == ("answer", {"text": "All is well."})
    assert (seen[-1][0], seen[-1][1]["status"]) == ("outcome", "completed")
    names = [name for name, _ in seen]
    assert {
        "session:start", "session:end", "prompt:submit", "prompt:complete",
        "execution:start", "execution:end", "orchestrator:complete",
        "turn:start", "turn:end", "llm:pre", "llm:post",
        "provider:request", "provider:response", "llm:request", "llm:response",
        "content_block:start", "content_block:delta", "content_block:end",
        "tool:pre", "tool:post",
    } <= {*names}  # fmt: skip
    assert names.index("session:start") < names.index("tool:pre") < names.index("session:end")
    assert len({data["session_id"] for _, data in seen[:-2]}) == 1


def test_without_a_key_the_demo_model_answers_and_a_notice_says_so(command: Any) -> None:
    (command.folder / "main.py").write_text("print('hello')\n")

    done = command("run", "--json", "Give me a tour of this project")

    assert done.returncode == 0
    assert done.stderr == (
        "neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set: using the demo model, a program, not a"
        " language model\n"
    )
    assert "main.py" in events(done.stdout)[-1][1]["text"]


def test_an_address_without_a_key_does_not_pass_for_the_real_model(command: Any) -> None:
    command.environment["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"

    done = command("run", "Give me a tour of this project")

    assert done.returncode == 0
    assert done.stderr == (
        "neither ANTHROPIC_API_KEY nor OPENAI_API_KEY is set: using the demo model, a program, not a"
        " language model;"
        " ANTHROPIC_BASE_URL is ignored\n"
    )


def test_a_proxy_does_not_come_between_the_command_and_its_demo_model(command: Any) -> None:
    command.environment |= dict.fromkeys(("HTTP_PROXY", "http_proxy"), "http://127.0.0.1:9")
    done = command("run", "Give me a tour of this project")
    assert done.returncode == 0


@pytest.mark.parametrize("pieces", [1, 3, 4])
def test_a_stream_that_stops_in_the_middle_is_one_line(keyed: Any, model: Any, pieces: int) -> None:
    model.reply(*model.said(ANSWER)[:pieces])

    done = keyed("run", "hello")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "was cut off" in line
    assert "retry" in line


def test_an_overload_in_the_middle_of_a_stream_is_one_line(keyed: Any, model: Any) -> None:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    model.reply(*model.said(ANSWER)[:3], model.event("error", error=error))

    done = keyed("run", "hello")

    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "Overloaded" in line


def test_a_key_that_cannot_be_one_is_one_line(keyed: Any) -> None:
    keyed.environment["ANTHROPIC_API_KEY"] = "schlüssel\n2"
    done = keyed("run", "hello")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("error: Failed to load provider 'provider-anthropic': ")
    assert "`ANTHROPIC_API_KEY`" in line


def test_debug_shows_the_traceback(keyed: Any, model: Any) -> None:
    model.reply(b"{}", status=529)
    keyed.environment["AMPLIFIER_DEBUG"] = "1"
    done = keyed("run", "hello")
    assert "Traceback (most recent call last):" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: ")


@pytest.mark.parametrize("options", ["--verbose", "--json"])
def test_a_reader_that_leaves_ends_the_command_quietly(
    keyed: Any, model: Any, options: str
) -> None:
    call = {"type": "tool_use", "id": "t", "name": "glob", "input": {"pattern": "*"}}
    model.reply(*model.said({"type": "text", "text": "x" * 100_000}, call, stop="tool_use"))

    script = f'"$@" run {options} hello | head -c 1 >/dev/null; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *keyed.line],
        env=keyed.environment,
        cwd=keyed.folder,
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.stdout == f"{128 + signal.SIGPIPE}\n"
    assert "error" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["display", "json"])
def test_a_full_disk_is_one_line(keyed: Any, model: Any, options: list[str]) -> None:
    model.reply(*model.said(ANSWER))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*keyed.line, "run", *options, "hello"],
            env=keyed.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            text=True,
        )
    line = "error: standard output cannot be written: No space left on device; check where it is redirected to\n"
    assert (done.returncode, done.stderr) == (1, line)
