"""What is on the screen, on standard output and in the exit code, for each form of output."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

import pytest
from terminal import Terminal

DISPLAY = """\
thinking
│ I look for notes.

● 1 grep(pattern="TODO")
  ✓ 1 grep: 1 match in 1 file

All is well.

80 tokens in (75% cached)
    40 out · 2 model calls
    1 tool
"""
CONTENT_TOKENS = {
    "input": 20,
    "cache_read": 60,
    "cache_write": 0,
    "output": 40,
    "reasoning": 0,
    "total": 120,
}


def test_a_terminal_shows_the_work_live(answering: Any) -> None:
    terminal = Terminal(answering, "What is here?", columns=30)
    assert terminal.wait() == 0
    assert terminal.screen == DISPLAY
    assert "\x1b[36m" not in terminal.written
    assert "\x1b[1mwell\x1b[0m" in terminal.written


def test_a_pipe_gets_the_answer_alone(answering: Any) -> None:
    done = answering("What is here?")
    assert (done.returncode, done.stdout, done.stderr) == (0, "All is **well**.\n", "")


def test_quiet_is_the_answer_alone_in_a_terminal_too(answering: Any) -> None:
    terminal = Terminal(answering, "--quiet", "What is here?")
    assert (terminal.wait(), terminal.written) == (0, "All is **well**.\r\n")


def test_verbose_brings_the_display_back_in_a_pipe(answering: Any) -> None:
    done = answering("What is here?", "--verbose")
    assert done.returncode == 0
    assert done.stdout.startswith("thinking\n│ I look for notes.\n\n● 1 grep(")
    assert done.stdout.endswith("\n80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool\n")


def test_json_ends_with_the_outcome(answering: Any, model: Any, outcome_of: Any) -> None:
    done = answering("--json", "What is here?")
    assert (done.returncode, done.stderr) == (0, "")
    [result] = model.requests[1]["messages"][-1]["content"]
    assert outcome_of(done.stdout) == {
        "status": "completed",
        "reason": None,
        "text": "All is **well**.",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": result["content"],
                "is_error": None,
            },
            {"type": "text", "text": "All is **well**."},
        ],
        "usage": CONTENT_TOKENS,
        "cost": "0",
        "error": None,
    }


@pytest.mark.parametrize("columns", [20, 40, 200])
def test_no_line_is_wider_than_the_terminal(answering: Any, columns: int) -> None:
    terminal = Terminal(answering, "What is here?", columns=columns)
    assert terminal.wait() == 0
    assert max(map(len, terminal.screen.splitlines())) <= min(columns, 120)
    assert re.sub(r"\s+", " ", terminal.screen).count("All is well.") == 1


def test_without_colours_there_are_none(answering: Any) -> None:
    answering.environment["NO_COLOR"] = "1"
    terminal = Terminal(answering, "What is here?", columns=30)
    assert terminal.wait() == 0
    assert terminal.screen == DISPLAY
    assert not re.search(r"\x1b\[[\d;]*[34]\d", terminal.written)
    assert "\x1b" in terminal.written


def test_plain_mode_writes_lines_and_nothing_else(answering: Any) -> None:
    terminal = Terminal(answering, "--plain", "What is here?", columns=30)
    assert terminal.wait() == 0
    written = terminal.written.replace("\r\n", "\n")
    assert not re.search("[\x1b\r\b]", written)
    assert written.startswith("waiting for the model\n")
    assert "\nthinking\n  I look for notes.\n\ncall 1 grep(" in written


def test_a_reader_that_wants_one_line_ends_the_command_quietly(keyed: Any, model: Any) -> None:
    line = "All is well.\n"
    model.reply(*model.said({"type": "text", "text": line * 100_000}))
    script = '"$@" hello | head -1; echo "${PIPESTATUS[0]}" >&2'
    done = subprocess.run(
        ["/bin/bash", "-c", script, "bash", *keyed.line],
        cwd=keyed.folder,
        env=keyed.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
    )
    assert (done.stdout, done.stderr) == (line, "141\n")


def test_an_answer_that_was_cut_short_says_so(keyed: Any, model: Any, outcome_of: Any) -> None:
    model.reply(*model.said({"type": "text", "text": "One, two"}, stop="max_tokens"))
    reason = "the answer was cut short (`max_tokens`)"

    done = keyed("Count")
    assert (done.returncode, done.stdout) == (3, "One, two\n")
    assert done.stderr == f"error: {reason}; ask for less at a time\n"

    outcome = outcome_of(keyed("Count", "--json").stdout)
    assert (outcome["status"], outcome["reason"]) == ("truncated", reason)
    assert (outcome["text"], outcome["error"]) == ("One, two", None)


def test_a_refused_prompt_has_an_outcome_and_no_answer(
    keyed: Any, model: Any, outcome_of: Any
) -> None:
    keyed.environment["MESSAGE_MAX_CHARS"] = "10"
    done = keyed("--json", "A prompt of some length")
    assert done.returncode == 1
    outcome = outcome_of(done.stdout)
    assert (outcome["status"], outcome["text"], outcome["error"]) == ("denied", "", None)
    assert outcome["reason"] in done.stderr
    assert '"event": "answer"' not in done.stdout
    assert model.requests == []


def test_names_that_are_not_utf_8_are_shown(command: Any) -> None:
    with open(os.fsencode(command.folder) + b"/caf\xe9.py", "wb") as file:
        file.write(b"x = 1\n")
    terminal = Terminal(command, "Give me a tour of this project")
    assert terminal.wait() == 0
    assert "caf" in terminal.screen


def test_a_large_folder_is_looked_at_as_far_as_a_terminal_can_show(command: Any) -> None:
    for number in range(3_000):
        (command.folder / f"file_{number}.py").touch()
    terminal = Terminal(command, "Give me a tour of this project")
    assert terminal.wait() == 0
    assert "3,000" in terminal.screen
