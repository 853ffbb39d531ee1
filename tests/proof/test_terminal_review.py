"""Conversations in which changes are reviewed, and taken back: the screen, the disk, and what the model reads."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "app")]

from scripted_command import command, keyed, model
from talk import PROMPT, Begin, bash, begin, folder, list_files, list_results, write

__all__ = ["begin", "command", "folder", "keyed", "model"]

REVIEW = ("--mode", "review")


# Holds: changes-95
def test_some_changes_of_a_command_are_agreed_to(begin: Begin, model: Any, folder: Path) -> None:
    (folder / "plan.txt").write_text("one\n")
    talk = begin(
        bash("echo two >> plan.txt; mkdir src; echo 1 > src/a; echo b > b"), "Done.",
        arguments=REVIEW,
    )  # fmt: skip
    talk.say("Change.")
    talk.reply_to("or e to be asked about each", "e")
    talk.reply_to("1 of 3: `b`?", "n")
    talk.reply_to("2 of 3: `plan.txt`?", "y")
    talk.reply_to("3 of 3: `src`?", "y")
    assert (
        talk.close("Done.")
        == """\
> Change.

● 1 bash $ echo two >> plan.txt; mkdir src; echo 1 > src/a; echo b > b
bcdf| approval needed
bcdf| put these changes into the project?
bcdf| | created `b`
bcdf| |   @@ -0,0 +1 @@
bcdf| |   +b
bcdf| | modified `plan.txt`
bcdf| |   @@ -1 +1,2 @@
bcdf| |    one
bcdf| |   +two
bcdf| | created `src`, 2 paths
bcdf| |   created `src/a`
bcdf| |     @@ -0,0 +1 @@
bcdf| |     +1
bcdf| y for all 3, or e to be asked about each
bcdf| answer with a word: allow, deny (other words deny)
bcdf> e
bcdf| 1 of 3: `b`? y or n; other words deny all that are left
bcdf> n
bcdf| 2 of 3: `plan.txt`? y or n; other words deny all that are left
bcdf> y
bcdf| 3 of 3: `src`? y or n; other words deny all that are left
bcdf> y
bcdf| allowed for 2 of 3
  ✓ 1 bash: no output
    `b` was not changed

Done.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
"""
    )
    assert list_files(folder) == {"plan.txt": "one\ntwo\n"}
    assert (folder / "src/a").read_text() == "1\n"
    assert "`b` was not changed" in list_results(model)[-1]


PATCH = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-A = 1\n+A = 2\n*** Add File: new.py\n+B = 1\n"
    "*** Delete File: old.py\n*** End Patch"
)


# Holds: changes-95
def test_some_files_of_a_patch_are_agreed_to(begin: Begin, model: Any, folder: Path) -> None:
    (folder / "a.py").write_text("A = 1\n")
    (folder / "old.py").write_text("gone\n")
    talk = begin(
        ("read_file", {"path": "a.py"}),
        ("read_file", {"path": "old.py"}),
        ("apply_patch", {"patch": PATCH}),
        "Done.",
        arguments=REVIEW,
    )
    talk.say("Patch.")
    talk.reply_to("or e to be asked about each", "e")
    talk.reply_to("1 of 3: `a.py`?", "y")
    talk.reply_to("2 of 3: `new.py`?", "n")
    talk.reply_to("3 of 3: `old.py`?", "y")
    assert (
        talk.close("Done.")
        == """\
> Patch.

● 1 read_file(path="a.py")
  ✓ 1 read_file: 1 line

● 2 read_file(path="old.py")
  ✓ 2 read_file: 1 line

● 3 apply_patch("a.py", "new.py", "old.py")
bcdf| approval needed
bcdf| put these changes into the project?
bcdf| | modified `a.py`
bcdf| |   @@ -1 +1 @@
bcdf| |   -A = 1
bcdf| |   +A = 2
bcdf| | created `new.py`
bcdf| |   @@ -0,0 +1 @@
bcdf| |   +B = 1
bcdf| | deleted `old.py`
bcdf| |   @@ -1 +0,0 @@
bcdf| |   -gone
bcdf| y for all 3, or e to be asked about each
bcdf| answer with a word: allow, deny (other words deny)
bcdf> e
bcdf| 1 of 3: `a.py`? y or n; other words deny all that are left
bcdf> y
bcdf| 2 of 3: `new.py`? y or n; other words deny all that are left
bcdf> n
bcdf| 3 of 3: `old.py`? y or n; other words deny all that are left
bcdf> y
bcdf| allowed for 2 of 3
  ✓ 3 apply_patch: 2 files, +1 -2 lines
    a.py: modified +1 -1 lines
      -A = 1
      +A = 2
    old.py: deleted, 1 line
      -gone

Done.

160 tokens in (75% cached) · 80 out · 4 model calls · 3 tools
"""
    )
    assert list_files(folder) == {"a.py": "A = 2\n"}
    assert '"not_written": ["new.py"]' in list_results(model)[-1]


# Holds: changes-95
def test_what_is_refused_in_review_leaves_no_trace(begin: Begin, model: Any, folder: Path) -> None:
    (folder / "plan.txt").write_text("one\n")
    talk = begin(bash("rm plan.txt; echo x > x"), "Done.", arguments=REVIEW)
    talk.say("Change.")
    talk.reply_to("or e to be asked about each", "keep the plan, please")
    assert (
        talk.close("Done.")
        == """\
> Change.

● 1 bash $ rm plan.txt; echo x > x
bcdf| approval needed
bcdf| put these changes into the project?
bcdf| | deleted `plan.txt`
bcdf| |   @@ -1 +0,0 @@
bcdf| |   -one
bcdf| | created `x`
bcdf| |   @@ -0,0 +1 @@
bcdf| |   +x
bcdf| y for all 2, or e to be asked about each
bcdf| answer with a word: allow, deny (other words deny)
bcdf> keep the plan, please
bcdf| denied
  ✓ 1 bash: no output
    `plan.txt` was not changed; `x` was not changed; User denied, and says:
      keep the plan, please

Done.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
"""
    )
    assert list_files(folder) == {"plan.txt": "one\n"}
    assert "keep the plan, please" in list_results(model)[-1]


# Holds: changes-95
def test_what_a_person_edits_while_they_are_asked_stays_and_so_does_the_other(
    begin: Begin, model: Any, folder: Path
) -> None:
    (folder / "plan.txt").write_text("one\n")
    talk = begin(bash("echo two > plan.txt; echo b > b"), "Done.", arguments=REVIEW)
    talk.say("Change.")
    talk.see("or e to be asked about each")
    (folder / "plan.txt").write_text("mine\n")
    talk.reply("y")
    talk.see_match("^Done.$")
    talk.close("Done.")
    assert list_files(folder) == {"plan.txt": "mine\n", "b": "b\n"}
    result = list_results(model)[-1]
    assert "`plan.txt` was not changed" in result
    kept = re.search(r"`(/[^`]*plan\.txt[^`]*)`", result)
    assert kept is not None, result
    assert Path(kept[1]).read_text() == "two\n"


# Holds: changes-94
def test_a_conversation_goes_back_to_a_change(begin: Begin, folder: Path) -> None:
    talk = begin(
        write("a", "1\n"), bash("echo b > b"), "One.", bash("echo 2 > a; rm b"), "Two."
    )  # fmt: skip
    for prompt, last in (("First.", "One."), ("Second.", "Two.")):
        talk.say(prompt)
        talk.see_match(f"^{last}$")
        talk.see_match(PROMPT)
    talk.say("/diff")
    talk.see_match(r"^change-3 turn-2 event-\d+ bash: a and 1 more$")
    talk.say("/undo change-2")
    talk.see("2 paths undone (1 change):")
    assert list_files(folder) == {"a": "1\n", "b": "b\n"}
    talk.say("/undo change-1")
    talk.see("1 path undone (1 change):")
    assert list_files(folder) == {"a": "1\n"}
    talk.say("/undo change-3")
    talk.see("`change-3` is taken back")
    talk.say("/undo turn-7")
    talk.see("there is no `turn-7` (must be `turn-1` to `turn-2`)")
    for count in (1, 2):
        talk.say("/redo")
        talk.see_match(r"^\d paths? made again", count)
    assert list_files(folder) == {"a": "2\n"}
    screen = talk.close("2 paths made again")
    assert (
        re.sub(r"event-\d+", "event-N", screen)
        == """\
> First.

● 1 write_file(path="a")
  ✓ 1 write_file: created, 1 line
    1

● 2 bash $ echo b > b
  ✓ 2 bash: no output

One.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
> Second.

● 1 bash $ echo 2 > a; rm b
  ✓ 1 bash: no output

Two.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
> /diff
--- /dev/null
+++ b/a
@@ -0,0 +1 @@
+2
change-1 turn-1 event-N write_file: a
change-2 turn-1 event-N bash: b
change-3 turn-2 event-N bash: a and 1 more
> /undo change-2
2 paths undone (1 change):
  modified  a
  deleted   b
> /undo change-1
1 path undone (1 change):
  created   b
> /undo change-3
error: `change-3` is taken back (`redo` makes it again); `amplifier-core diff --
list`, or `/diff`, shows what there is
> /undo turn-7
error: there is no `turn-7` (must be `turn-1` to `turn-2`); `amplifier-core diff
 --list`, or `/diff`, shows what there is
> /redo
1 path made again (1 change):
  created   b
> /redo
2 paths made again (1 change):
  modified  a
  deleted   b
"""
    )
