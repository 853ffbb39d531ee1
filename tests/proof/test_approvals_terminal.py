"""Whoever is asked in a terminal when the process is killed is asked the same when it goes on."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "app")]

from scripted_command import command, keyed, model
from talk import Begin, Talk, bash, begin, folder, list_files

__all__ = ["begin", "command", "folder", "keyed", "model"]

COMMAND = "echo it ran; od -An -N8 -tx1 /dev/urandom > random; echo two >> plan.txt"
ASKED = r"^[a-z]{4}> ?$"


def see_question(talk: Talk) -> str:
    """Return the rows of the question that is on the screen, without their marks."""
    talk.see_match(ASKED)
    rows = re.findall(r"^[a-z]{4}\| (.*)$", talk.screen, re.MULTILINE)
    start = rows.index("put these changes into the project?")
    return "\n".join(each for each in rows[start:] if each.startswith("|"))


def kill(talk: Talk) -> None:
    os.kill(talk.pid, signal.SIGKILL)
    assert talk.wait() == -signal.SIGKILL


# Holds: changes-86
def test_the_same_question_is_asked_again_and_a_yes_commits(
    begin: Begin, keyed: Any, model: Any, folder: Path
) -> None:
    (folder / "plan.txt").write_text("one\n")
    talk = begin(bash(COMMAND), "Over.")
    talk.say("/mode review")
    talk.say("Go.")
    shown = see_question(talk)
    kill(talk)
    assert list_files(folder) == {"plan.txt": "one\n"}
    talk = Talk(keyed, "--continue")
    talk.see_match("^>$")
    talk.say("/continue")
    assert see_question(talk) == shown
    talk.reply("yes")
    talk.close("Over.")
    files = list_files(folder)
    assert files == {"plan.txt": "one\ntwo\n", "random": files["random"]}
    assert f"+{files['random'].rstrip()}" in shown
    (result,) = model.requests[-1]["messages"][-1]["content"]
    assert result["content"].count("it ran") == 1


# Holds: changes-86
def test_keys_that_were_pressed_before_the_question_do_not_answer_it(
    begin: Begin, keyed: Any, folder: Path
) -> None:
    (folder / "plan.txt").write_text("one\n")
    talk = begin(bash(f"sleep 1; {COMMAND}"), "Over.")
    talk.say("/mode review")
    talk.say("Go.")
    for _ in range(3):
        talk.type(b"yes\r")
    see_question(talk)
    assert list_files(folder) == {"plan.txt": "one\n"}
    kill(talk)
    talk = Talk(keyed, "--continue")
    talk.see_match("^>$")
    talk.type(b"/continue\ryes\ryes\r")
    see_question(talk)
    assert list_files(folder) == {"plan.txt": "one\n"}
    talk.reply("deny")
    talk.see_match("Over.")
    assert list_files(folder) == {"plan.txt": "one\n"}
