"""Ten conversations in which changes are taken back: what is then on the screen and on the disk."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "app")]

from scripted_command import command, keyed, model
from talk import (
    BEGUN,
    Begin,
    Talk,
    bash,
    begin,
    folder,
    list_files,
    wait_for_command,
    wait_for_file,
    write,
)
from terminal import CTRL_C

__all__ = ["begin", "command", "folder", "keyed", "model"]


def run(talk: Talk, prompt: str, last: str) -> None:
    """Run a turn until the prompt is there again, after the last words of the model."""
    talk.say(prompt)
    talk.see_match(f"^{last}$")
    talk.see_match("^>$")


def answer(talk: Talk, typed: str, first: str) -> None:
    """Type a command, and wait for the first line of its answer and the prompt after it."""
    before = talk.screen.count("\n> ")
    talk.say(typed)
    talk.see_match(f"^> {re.escape(typed)}\n{first}[^>]*^>$")
    assert talk.screen.count("\n> ") == before + 1


def below(screen: str, line: str) -> str:
    """What is on the screen from the last line that is this one."""
    return screen[screen.rindex(f"\n{line}\n") + 1 :]


def said_by_user(request: dict[str, Any]) -> list[str]:
    """The texts of the user in a request."""
    users = [each for each in request["messages"] if each["role"] == "user"]
    blocks = [block for each in users for block in each["content"]]
    return [block["text"] for block in blocks if block["type"] == "text"]


# Holds: changes-67
def test_a_turn_is_shown_undone_and_made_again(begin: Begin, folder: Path) -> None:
    (folder / "plan.txt").write_text("one\ntwo\n")
    before = list_files(folder)
    talk = begin(write("notes.txt", "a\n"), bash("rm plan.txt; mkdir src; echo 1 > src/x"), "Tidy.")
    run(talk, "Tidy up.", "Tidy.")
    answer(talk, "/diff", "--- /dev/null")
    answer(talk, "/undo", "4 paths undone")
    assert list_files(folder) == before
    assert not (folder / "src").exists()
    answer(talk, "/redo", "4 paths made again")
    assert list_files(folder) == {"notes.txt": "a\n"}
    assert (folder / "src/x").read_text() == "1\n"
    answer(talk, "/undo", "4 paths undone")
    screen = talk.close("4 paths undone")
    assert (
        re.sub(r"event-\d+", "event-N", below(screen, "> /diff"))
        == """\
> /diff
--- /dev/null
+++ b/notes.txt
@@ -0,0 +1 @@
+a
--- a/plan.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-one
-two
created folder src
--- /dev/null
+++ b/src/x
@@ -0,0 +1 @@
+1
change-1 turn-1 event-N write_file: notes.txt
change-2 turn-1 event-N bash: plan.txt and 2 more
> /undo
4 paths undone (2 changes):
  created   notes.txt
  deleted   plan.txt
  created   src
  created   src/x
> /redo
4 paths made again (2 changes):
  created   notes.txt
  deleted   plan.txt
  created   src
  created   src/x
> /undo
4 paths undone (2 changes):
  created   notes.txt
  deleted   plan.txt
  created   src
  created   src/x
"""
    )
    assert list_files(folder) == before


# Holds: changes-67
def test_each_undo_takes_back_the_turn_before(begin: Begin, folder: Path) -> None:
    talk = begin(write("a", "1\n"), "First.", bash("echo 2 > a; echo b > b"), "Second.")
    run(talk, "One.", "First.")
    run(talk, "Two.", "Second.")
    answer(talk, "/undo", "2 paths undone")
    assert list_files(folder) == {"a": "1\n"}
    answer(talk, "/undo", "1 path undone")
    assert list_files(folder) == {}
    answer(talk, "/undo", "there is nothing that can be undone")
    answer(talk, "/redo", "1 path made again")
    answer(talk, "/redo", "2 paths made again")
    answer(talk, "/redo", "there is nothing that can be made again")
    assert list_files(folder) == {"a": "2\n", "b": "b\n"}
    talk.close("there is nothing")


def test_where_nothing_was_changed_a_line_says_so(begin: Begin, folder: Path) -> None:
    (folder / "a").write_text("1\n")
    talk = begin(("read_file", {"path": "a"}), "Read.")
    for _ in range(2):
        answer(talk, "/undo", "there is nothing that can be undone")
        answer(talk, "/redo", "there is nothing that can be made again")
        answer(talk, "/diff", "nothing has changed in the project")
        if "Read." not in talk.screen:
            run(talk, "Read it.", "Read.")
    talk.close("nothing has changed")
    assert list_files(folder) == {"a": "1\n"}


# Holds: changes-67
def test_while_a_turn_runs_nothing_is_taken_back(begin: Begin, folder: Path) -> None:
    wait = "touch begun; until [ -e go ]; do sleep 0.01; done"
    talk = begin(write("a", "1\n"), bash(wait, sandbox="direct"), "Done.")
    talk.say("Go.")
    wait_for_file(talk, folder / "begun")
    for name in ("undo", "redo", "diff"):
        talk.say(f"/{name}")
        talk.see(f"`/{name}` has to wait until the turn is over; Ctrl+C ends it")
    (folder / "go").touch()
    talk.see_match("^Done.$")
    talk.see_match("^>$")
    assert list_files(folder) == {"a": "1\n", "begun": "", "go": ""}
    # What others do while a command runs without a layer is not told apart from what it does.
    answer(talk, "/undo", "3 paths undone")
    talk.close("3 paths undone")
    assert list_files(folder) == {}


# Holds: changes-67
def test_what_a_person_has_edited_stays(begin: Begin, folder: Path) -> None:
    (folder / "plan.txt").write_text("one\n")
    talk = begin(bash("echo two > plan.txt; echo b > b"), "Done.")
    run(talk, "Plan.", "Done.")
    (folder / "plan.txt").write_text("mine\n")
    answer(talk, "/undo", "1 path undone")
    talk.see("left as it is: plan.txt: somebody else changed it; the other version is")
    kept = talk.screen.replace("\n", "").rpartition("version is `")[2].partition("`")[0]
    assert Path(kept).read_text() == "one\n"
    talk.close("1 path undone")
    assert list_files(folder) == {"plan.txt": "mine\n"}


# Holds: changes-61
def test_the_model_reads_of_it_once(begin: Begin, model: Any, folder: Path) -> None:
    talk = begin(write("a", "1\n"), "Done.", "I see.", "Still.")
    run(talk, "Write a.", "Done.")
    answer(talk, "/undo", "1 path undone")
    assert len(model.requests) == 2
    run(talk, "And now?", "I see.")
    run(talk, "And now?", "Still.")
    note = "[The user took back changes of yours: `a`; each is as before. Read a file again before you edit it.]"
    assert said_by_user(model.requests[-1]) == ["Write a.", note, "And now?", "And now?"]
    talk.close("Still.")
    assert list_files(folder) == {}


# Holds: changes-68
def test_another_conversation_goes_on_and_takes_back(
    begin: Begin, keyed: Any, model: Any, folder: Path
) -> None:
    talk = begin(write("a", "1\n"), "Done.", "I see.")
    run(talk, "Write a.", "Done.")
    refused = keyed("undo")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert re.fullmatch(
        r"error: `\w{8}` \(Write a\.\) is open in process \d+; type `/undo` there, or try again when it has ended\n",
        refused.stderr,
    )
    talk.close("Done.")
    talk = Talk(keyed, "--continue")
    answer(talk, "/diff", "--- /dev/null")
    answer(talk, "/undo", "1 path undone")
    assert list_files(folder) == {}
    run(talk, "And now?", "I see.")
    talk.close("I see.")
    assert [each[:20] for each in said_by_user(model.requests[-1])] == [
        "Write a.", "[The user took back ", "And now?"
    ]  # fmt: skip
    again = Talk(keyed, "--continue")
    assert "you: And now?" in again.screen
    again.close("answer: I see.")


# Holds: changes-68
def test_what_a_killed_turn_did_is_taken_back_and_the_turn_goes_on(
    begin: Begin, keyed: Any, model: Any, folder: Path
) -> None:
    (folder / "plan.txt").write_text("one\n")
    talk = begin(
        bash("rm plan.txt; echo 1 > done"),
        bash(f"echo 2 > half; {BEGUN}; sleep 300"),
        "Over.",
    )
    talk.say("Go.")
    wait_for_command(talk, keyed)
    os.kill(talk.pid, signal.SIGKILL)
    assert talk.wait() == -signal.SIGKILL
    talk = Talk(keyed, "--continue")
    answer(talk, "/undo", "2 paths undone")
    assert list_files(folder) == {"plan.txt": "one\n"}
    talk.say("/continue")
    talk.reply("deny")
    talk.close("Over.")
    messages = model.requests[-1]["messages"]
    *others, (result, note) = [each["content"] for each in messages]
    assert [each["role"] for each in messages] == ["user", "assistant"] * 2 + ["user"]
    assert len(others) == 4
    assert result["content"].startswith("The outcome of this call is unknown")
    assert note["text"].startswith("[The user took back changes of yours: `done`, `plan.txt`;")
    assert list_files(folder) == {"plan.txt": "one\n"}


def test_after_another_change_nothing_is_made_again(begin: Begin, folder: Path) -> None:
    talk = begin(write("a", "1\n"), "First.", write("b", "2\n"), "Second.")
    run(talk, "One.", "First.")
    answer(talk, "/undo", "1 path undone")
    run(talk, "Two.", "Second.")
    answer(talk, "/redo", "there is nothing that can be made again")
    answer(talk, "/diff", "--- /dev/null")
    answer(talk, "/undo", "1 path undone")
    talk.close("1 path undone")
    assert list_files(folder) == {}


def test_what_an_interrupted_turn_did_is_taken_back(begin: Begin, keyed: Any, folder: Path) -> None:
    talk = begin(write("a", "1\n"), bash(f"echo b > b; {BEGUN}; sleep 300"), "Never said.")
    talk.say("Go.")
    wait_for_command(talk, keyed)
    talk.type(CTRL_C)
    talk.see("press Ctrl+C again to stop now")
    talk.type(CTRL_C)
    talk.see_match("^>$")
    assert list_files(folder)["a"] == "1\n"
    answer(talk, "/undo", r"\d paths? undone")
    talk.close(r"\d paths? undone")
    assert list_files(folder) == {}


# Holds: changes-69
def test_a_conversation_without_writing_tools_has_no_such_commands(
    keyed: Any, begin: Begin, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text('tools = ["tool-search"]\n')
    begin("Hello.").close("")
    talk = Talk(keyed, "--plan", str(plan))
    for name in ("undo", "redo", "diff"):
        talk.say(f"/{name}")
        talk.see(f"error: there is no command `/{name}`; there are ")
    talk.say("/help")
    talk.see("/quit  ")
    assert not re.search("^/(undo|redo|diff) ", talk.screen, re.MULTILINE)
    talk.close("/quit  ")
