"""Commands in the background in a conversation: their rows, `/jobs`, and that they end."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from prompt_terminal import CTRL_D, TAB, PromptTerminal, Screen
from terminal import WAY_BACK, Terminal

FREE = 'tool-bash={"safety_profile": "unrestricted", "keep_changes": false}'
COMMAND = "echo ready; read line < pipe; echo $line"
SHOWN = re.escape(COMMAND)
SINCE = r"since \d\d:\d\d: " + SHOWN


@pytest.fixture
def pipe(keyed: Any, model: Any) -> Path:
    """What a command waits for after its first line; the model begins it in the background."""
    keyed.environment |= {"TERM": "xterm", "NO_COLOR": "1"}
    pipe = keyed.folder / "pipe"
    os.mkfifo(pipe)
    arguments = {"command": COMMAND, "run_in_background": True}
    use = {"type": "tool_use", "id": "t1", "name": "bash", "input": arguments}
    model.reply(*model.said(use, stop="tool_use"))
    return pipe


def list_jobs_until(terminal: PromptTerminal, pattern: str) -> None:
    """Type `/jobs` until the answer is this one: what a job writes takes a moment to be read."""
    listing = r"^job-1  "
    listings = len(re.findall(listing, terminal.screen, re.MULTILINE))
    while not re.search(pattern, terminal.screen, re.MULTILINE):
        listings += 1
        terminal.say("/jobs")
        terminal.see_match(listing, listings)


# Holds: sandbox-86, sandbox-87
def test_a_job_is_seen_and_listed_between_turns(
    keyed: Any, model: Any, pipe: Path, say: Any
) -> None:
    say("It runs.")
    terminal = PromptTerminal(keyed, "--module", FREE)
    terminal.say("/jobs")
    terminal.see("> /jobs\nthere are no jobs\n>")
    terminal.say("Begin")
    terminal.see_match(rf"^It runs\.\n\n.*\n• job-1 {SINCE}\n>$")
    list_jobs_until(terminal, rf"^job-1  running, {SINCE}\n    ready\n• job-1 .*\n>$")
    pipe.write_text("and go\n")
    terminal.see_match(rf"^    ready\njob-1 has ended: {SHOWN}\n>$")
    list_jobs_until(terminal, rf"^job-1  exited with 0, {SINCE}\n    and go\n>$")
    terminal.say("/jobs kill job-1")
    terminal.see("`job-1` has ended already\n>")
    terminal.say("/jobs kill job-2")
    terminal.see("error: no job `job-2` (there are: `job-1`); `/jobs` lists them\n>")
    terminal.say("/jobs end job-1")
    terminal.see("error: `/jobs end job-1` is not to be understood; `/jobs` lists the jobs,")
    terminal.say("/help jobs")
    terminal.see("List the commands in the background; `/jobs kill ID` ends one.\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert "•" not in terminal.screen


# Holds: sandbox-87
def test_a_job_is_listed_and_ended_while_a_turn_runs(
    keyed: Any, model: Any, pipe: Path, hold: Any
) -> None:
    pieces = model.said({"type": "text", "text": "One moment please, "})
    model.reply(*pieces[:3], hold, *pieces[3:])
    terminal = PromptTerminal(keyed, "--module", FREE)
    terminal.say("Begin")
    terminal.see("One moment please,")
    list_jobs_until(terminal, rf"^job-1  running, {SINCE}\n    ready$")
    terminal.say("/jobs kill job-1")
    terminal.see("`job-1` is being ended\n")
    terminal.see_match(f"^job-1 was ended: {SHOWN}$")
    hold.set()
    terminal.see("2 model calls · 1 tool\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0
    assert terminal.screen.count("was ended") == 1


# Holds: sandbox-86
def test_jobs_end_with_their_conversation(keyed: Any, model: Any, pipe: Path, say: Any) -> None:
    say("It runs.")
    terminal = PromptTerminal(keyed, "--module", FREE)
    terminal.say("Begin")
    terminal.see_match(rf"^It runs\.\n\n.*\n• job-1 {SINCE}\n>$")
    terminal.say("/clear")
    terminal.see_match(rf"^job-1 was ended: {SHOWN}\na new conversation begins\n>$")
    terminal.say("/jobs")
    terminal.see("> /jobs\nthere are no jobs\n>")
    terminal.type(CTRL_D)
    assert terminal.wait() == 0


# Holds: sandbox-86
def test_a_run_shows_its_jobs_and_ends_them(keyed: Any, model: Any, pipe: Path, hold: Any) -> None:
    pieces = model.said({"type": "text", "text": "It runs."})
    model.reply(hold, *pieces)
    terminal = Terminal(keyed, "run", "Begin", "--module", FREE)
    terminal.read_until(f"{COMMAND}\r\n")  # the row, above the waiting line
    hold.set()
    assert terminal.wait() == 0
    screen = Screen(80)
    screen.feed(terminal.written)
    assert WAY_BACK.sub("", screen.text).splitlines() == [
        "● 1 bash $ echo ready; read line < pipe; echo $line",
        "    in the background",
        "  ✓ 1 bash: runs in the background as `job-1`, without a sandbox",
        "",
        "It runs.",
        "",
        "80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool",
        f"job-1 was ended: {COMMAND}",
    ]


# Holds: sandbox-87
def test_a_session_without_commands_has_nothing_of_it(keyed: Any, tmp_path: Path) -> None:
    keyed.environment |= {"TERM": "xterm", "NO_COLOR": "1"}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"tools": ["tool-search"]}))
    terminal = PromptTerminal(keyed, "--plan", str(plan), columns=160)
    terminal.say("/help")
    terminal.see("`/help NAME` says more of one.\n>")
    assert "/jobs" not in terminal.screen
    terminal.say("/jobs")
    terminal.see("error: there is no command `/jobs`;")
    terminal.type(b"/j" + TAB + b"x")
    terminal.see("> /jx")
    terminal.type(b"\x03" + CTRL_D)
    assert terminal.wait() == 0
