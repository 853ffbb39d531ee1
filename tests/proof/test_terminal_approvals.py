"""Conversations in which a person is asked, and modes change: the screen, the disk, and what the model reads."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "app")]

from prompt_terminal import SHIFT_TAB
from scripted_command import command, keyed, model
from talk import (
    PROMPT,
    Begin,
    Talk,
    bash,
    begin,
    folder,
    list_files,
    list_results,
    wait_for_file,
    write,
)

__all__ = ["begin", "command", "folder", "keyed", "model"]

ASK, PLAN = ("--mode", "ask"), ("--mode", "plan")


# Holds: changes-95
def test_a_yes_is_for_one_call(begin: Begin, folder: Path) -> None:
    talk = begin(write("a", "1\n"), write("b", "2\n"), "Done.", arguments=ASK)
    talk.say("Write.")
    talk.reply_to("| `path`: `a`", "y")
    talk.reply_to("| `path`: `b`", "n")
    assert (
        talk.close("Done.")
        == """\
> Write.

● 1 write_file(path="a")
bcdf| approval needed
bcdf| run `write_file`? (it writes files)
bcdf| | `path`: `a`
bcdf| | `content`: "1\\n"
bcdf| y once, or a for `write_file` in this session, or p for a rule such as \\
bcdf: `Edit(/a)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> y
bcdf| allowed
  ✓ 1 write_file: created, 1 line
    1

● 2 write_file(path="b")
bcdf| approval needed
bcdf| run `write_file`? (it writes files)
bcdf| | `path`: `b`
bcdf| | `content`: "2\\n"
bcdf| y once, or a for `write_file` in this session, or p for a rule such as \\
bcdf: `Edit(/b)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> n
bcdf| denied
  ✗ 2 write_file: User denied: run `write_file`? (it writes files) | `path`:
    `b` | `content`: "2\\n"

Done.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
"""
    )
    assert list_files(folder) == {"a": "1\n"}


# Holds: changes-95
def test_a_tool_that_is_allowed_in_the_session_is_asked_about_once(
    begin: Begin, folder: Path
) -> None:
    talk = begin(
        write("a", "1\n"), write("b", "2\n"), "One.", write("c", "3\n"), "Two.", arguments=ASK
    )
    talk.say("Write.")
    talk.reply_to("| `path`: `a`", "a")
    talk.see_match("^One.$")
    talk.see_match(PROMPT)
    talk.say("More.")
    assert (
        talk.close("Two.")
        == """\
> Write.

● 1 write_file(path="a")
bcdf| approval needed
bcdf| run `write_file`? (it writes files)
bcdf| | `path`: `a`
bcdf| | `content`: "1\\n"
bcdf| y once, or a for `write_file` in this session, or p for a rule such as \\
bcdf: `Edit(/a)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> a
bcdf| allowed in this session
  ✓ 1 write_file: created, 1 line
    1

● 2 write_file(path="b")
  ✓ 2 write_file: created, 1 line
    2

One.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
> More.

● 1 write_file(path="c")
  ✓ 1 write_file: created, 1 line
    3

Two.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
"""
    )
    assert list_files(folder) == {"a": "1\n", "b": "2\n", "c": "3\n"}


# Holds: changes-95
def test_a_denial_carries_words_to_the_model(begin: Begin, model: Any, folder: Path) -> None:
    talk = begin(bash("touch x"), "I see.", arguments=ASK)
    talk.say("Touch.")
    talk.reply_to("`touch x`", "use the folder tmp")
    assert (
        talk.close("I see.")
        == """\
> Touch.

● 1 bash $ touch x
bcdf| approval needed
bcdf| run `bash`? (it runs a command)
bcdf| | `command`: `touch x`
bcdf| y once, or a for `bash` in this session, or p for a rule such as \\
bcdf: `Bash(touch x:*)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> use the folder tmp
bcdf| denied
  ✗ 1 bash: User denied, and says: use the folder tmp

I see.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
"""
    )
    assert "use the folder tmp" in list_results(model)[-1]
    assert list_files(folder) == {}


# Holds: changes-95
def test_a_rule_is_kept_and_counts_for_the_next_call(
    begin: Begin, keyed: Any, folder: Path
) -> None:
    talk = begin(bash("touch x"), bash("touch x y"), "Done.", arguments=ASK)
    talk.say("Touch.")
    talk.reply_to("p for a rule", "p")
    talk.reply_to("Enter agrees to it", "")
    assert talk.close("Done.").count("approval needed") == 1
    assert list_files(folder) == {"x": "", "y": ""}
    settings = Path(keyed.environment["XDG_CONFIG_HOME"]) / "amplifier-core" / "settings.json"
    assert json.loads(settings.read_text()) == {"permissions": {"allow": ["Bash(touch x:*)"]}}


# Holds: changes-95
def test_a_plan_is_agreed_to_and_carried_out(begin: Begin, folder: Path) -> None:
    talk = begin(
        write("a", "1\n"),
        ("present_plan", {"plan": "1. Write `a`.\n2. Stop."}),
        write("a", "2\n"),
        "Done.",
        arguments=PLAN,
    )
    talk.see_match("^plan >$")
    talk.say("Plan.")
    talk.reply_to("| 2. Stop.", "y")
    talk.see_match("^Done.$")
    talk.see_match("^auto >$")
    assert (
        talk.close("Done.")
        == """\
> Plan.

● 1 write_file(path="a")
  ✗ 1 write_file: the mode is `plan`, and `write_file` may change something:
    read what you need, then call `present_plan` with the plan; a person
    decides about it

● 2 present_plan(plan="1. Write `a`.\\n2. Stop.")
bcdf| approval needed
bcdf| carry out this plan?
bcdf| | 1. Write `a`.
bcdf| | 2. Stop.
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> y
bcdf| allowed
  ✓ 2 present_plan: The person agreed. The mode is `auto`: carry out the plan.

● 3 write_file(path="a")
  ✓ 3 write_file: created, 1 line
    2

Done.

160 tokens in (75% cached) · 80 out · 4 model calls · 3 tools
"""
    )
    assert list_files(folder) == {"a": "2\n"}


# Holds: approval-30
def test_shift_tab_counts_from_the_next_call_of_a_turn_that_runs(
    begin: Begin, model: Any, folder: Path
) -> None:
    wait = "touch begun; until [ -e go ]; do sleep 0.01; done"
    talk = begin(bash(wait, sandbox="direct"), write("a", "1\n"), "Done.")
    talk.say("Go.")
    wait_for_file(talk, folder / "begun")
    for mode in ("ask", "review", "read-only"):
        talk.type(SHIFT_TAB)
        talk.see_match(f"^{mode} >$")
    (folder / "go").touch()
    talk.see_match("^Done.$")
    talk.see_match("^read-only >$")
    assert (
        talk.close("Done.")
        == """\
> Go.

● 1 bash $ touch begun; until [ -e go ]; do sleep 0.01; done
    sandbox="direct"
  ✓ 1 bash: no output

● 2 write_file(path="a")
  ✗ 2 write_file: the mode is `read-only`, and `write_file` may change
    something

Done.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
"""
    )
    assert list_files(folder) == {"begun": "", "go": ""}
    assert "the mode is `read-only`" in list_results(model)[-1]


# Holds: approval-30
def test_mode_counts_from_the_next_call_of_a_turn_that_runs(begin: Begin, folder: Path) -> None:
    wait = "touch begun; until [ -e go ]; do sleep 0.01; done"
    talk = begin(bash(wait, sandbox="direct"), write("a", "1\n"), "Done.")
    talk.say("Go.")
    wait_for_file(talk, folder / "begun")
    talk.say("/mode ask")
    talk.see("the mode is ask from now on")
    (folder / "go").touch()
    talk.reply_to("| `path`: `a`", "y")
    talk.see_match("^Done.$")
    talk.see_match("^ask >$")
    assert (
        talk.close("Done.")
        == """\
> Go.

● 1 bash $ touch begun; until [ -e go ]; do sleep 0.01; done
    sandbox="direct"
> /mode ask
the mode is ask from now on
  ✓ 1 bash: no output

● 2 write_file(path="a")
bcdf| approval needed
bcdf| run `write_file`? (it writes files)
bcdf| | `path`: `a`
bcdf| | `content`: "1\\n"
bcdf| y once, or a for `write_file` in this session, or p for a rule such as \\
bcdf: `Edit(/a)`
bcdf| answer with a word: allow once, deny (other words deny)
bcdf> y
bcdf| allowed
  ✓ 2 write_file: created, 1 line
    1

Done.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
"""
    )
    assert list_files(folder) == {"a": "1\n", "begun": "", "go": ""}


# Holds: approval-39, approval-41
def test_after_a_kill_a_sub_agent_asks_again_and_says_whose_question_it_is(
    begin: Begin, keyed: Any, folder: Path
) -> None:
    task = ("task", {"prompt": "Write a.", "description": "write it"})
    arguments = (*ASK, "--module", "tool-task")
    talk = begin(task, write("a", "1\n"), "I wrote it.", "Done.", arguments=arguments)
    talk.say("Have it written.")
    talk.see("| `path`: `a`")
    os.kill(talk.pid, signal.SIGKILL)
    assert talk.wait() == -signal.SIGKILL
    talk = Talk(keyed, *arguments, "--continue")
    talk.say("/continue")
    talk.reply_to("| `path`: `a`", "y")
    shown = talk.close("Done.")
    assert (
        """\
bcdf| approval needed
bcdf| the sub-agent `write it` asks:
bcdf| run `write_file`? (it writes files)
bcdf| | `path`: `a`
"""
        in shown
    )
    assert list_files(folder) == {"a": "1\n"}
