"""Ten conversations in a terminal, each with what is then on the screen and on the disk."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "app")]

from scripted_command import command, keyed, model
from talk import BEGUN, Begin, Talk, bash, begin, folder, list_files, wait_for_command
from terminal import CTRL_C

__all__ = ["begin", "command", "folder", "keyed", "model"]


@pytest.fixture
def outside(keyed: Any) -> Iterator[Path]:
    """The folder around the project: none of those for temporary files, which commands have for themselves."""
    with TemporaryDirectory(dir=Path.home()) as place:
        keyed.folder = Path(place) / "folder"
        keyed.folder.mkdir()
        yield Path(place)


def test_a_file_is_edited_and_tested(begin: Begin, folder: Path) -> None:
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    check = "from calc import add\n\nassert add(1, 2) == 3\nprint('passed')\n"
    talk = begin(
        ("read_file", {"path": "calc.py"}),
        ("edit_file", {"path": "calc.py", "edits": [{"old": "a - b", "new": "a + b"}]}),
        ("write_file", {"path": "test_calc.py", "content": check}),
        bash("PYTHONDONTWRITEBYTECODE=1 python3 test_calc.py"),
        "It works.",
    )
    talk.say("Fix add.")
    assert (
        talk.close("It works.")
        == """\
> Fix add.

● 1 read_file(path="calc.py")
  ✓ 1 read_file: 2 lines

● 2 edit_file(path="calc.py")
  ✓ 2 edit_file: modified +1 -1 lines
    @@ -1,2 +1,2 @@
     def add(a, b):
    -    return a - b
    +    return a + b

● 3 write_file(path="test_calc.py")
  ✓ 3 write_file: created, 4 lines
    from calc import add

    assert add(1, 2) == 3
    print('passed')

● 4 bash $ PYTHONDONTWRITEBYTECODE=1 python3 test_calc.py
  ✓ 4 bash
    passed

It works.

200 tokens in (75% cached) · 100 out · 5 model calls · 4 tools
"""
    )
    calc = "def add(a, b):\n    return a + b\n"
    assert list_files(folder) == {"calc.py": calc, "test_calc.py": check}


STOPPED = """\
> Write it.

● 1 bash $ echo x > ../outside
  ✗ 1 bash
    bash: line 1: ../outside: Read-only file system
    exit code 1
    the sandbox has probably stopped the command: it does not write there
      (`bash: line 1: ../outside: Read-only file system`); repeat the call with
      `sandbox: "none"` and a `reason`, which asks a person, if it is needed

● 2 bash $ echo x > ../outside
    outside of the sandbox: it is next to the project
bcdf| approval needed
bcdf| run `bash`?
bcdf| | `command`: `echo x > ../outside`
bcdf| | `sandbox`: `none`
bcdf| | `reason`: `it is next to the project`
bcdf| answer with a word: allow, deny (other words deny)
"""
ENDED = "\nDone.\n\n120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools\n"


@pytest.mark.parametrize(
    ("answer", "shown", "written"),
    [
        ("allow", "allow\nbcdf| allowed\n  ✓ 2 bash: no output, without a sandbox\n", {"outside": "x\n"}),
        ("not there", "not there\nbcdf| denied\n  ✗ 2 bash: User denied, and says: not there\n", {}),
    ],
    ids=["allowed", "denied"],
)  # fmt: skip
def test_a_command_stopped_at_the_edge_is_asked_about(
    begin: Begin, outside: Path, answer: str, shown: str, written: dict[str, str]
) -> None:
    why = {"sandbox": "none", "reason": "it is next to the project"}
    talk = begin(bash("echo x > ../outside"), bash("echo x > ../outside", **why), "Done.")
    talk.say("Write it.")
    talk.reply(answer)
    assert talk.close("Done.") == f"{STOPPED}bcdf> {shown}{ENDED}"
    assert list_files(outside) == written


def test_a_job_is_listed_and_killed(begin: Begin, folder: Path) -> None:
    wait = "until [ -e over ]; do sleep 0.01; done; echo x > never"
    talk = begin(
        bash(f"echo $$ > begun; {wait}", run_in_background=True),
        bash("until [ -e begun ]; do sleep 0.01; done"),
        ("bash_job", {"action": "list"}),
        ("bash_job", {"action": "kill", "id": "job-1"}),
        bash("touch over"),
        "Done.",
    )
    talk.say("Begin and end it.")
    lines = talk.close("Done.").splitlines()
    assert "  ✓ 1 bash: runs in the background as `job-1`" in lines
    assert lines[-5:-4] == ["  ✓ 5 bash: no output"]
    assert list_files(folder).keys() == {"begun", "over"}


def test_ctrl_c_twice_ends_a_command(begin: Begin, keyed: Any, folder: Path) -> None:
    talk = begin(bash(f"echo begun > mark; {BEGUN}; sleep 300; echo over > mark"), "Never said.")
    talk.say("Wait.")
    wait_for_command(talk, keyed)
    talk.type(CTRL_C)
    talk.see("press Ctrl+C again to stop now")
    talk.type(CTRL_C)
    assert (
        talk.close("40 tokens")
        == """\
> Wait.

● 1 bash $ echo begun > mark; touch $PIP_CACHE_DIR; sleep 300; echo over > mark
stopping after the running tool; press Ctrl+C again to stop now
stopping now
  ✗ 1 bash: no output, killed

40 tokens in (75% cached) · 20 out · 1 model call · 1 tool
"""
    )
    assert list_files(folder) == {"mark": "begun\n"}


def test_a_patch_changes_several_files(begin: Begin, folder: Path) -> None:
    (folder / "a.py").write_text("A = 1\nB = 2\n")
    (folder / "old.py").write_text("gone\n")
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n@@\n A = 1\n-B = 2\n+B = 3\n*** Add File: new.py\n"
        "+def f():\n+    pass\n*** Delete File: old.py\n*** End Patch"
    )
    talk = begin(
        ("read_file", {"path": "a.py"}),
        ("read_file", {"path": "old.py"}),
        ("apply_patch", {"patch": patch}),
        "Done.",
    )
    talk.say("Patch it.")
    assert (
        talk.close("Done.")
        == """\
> Patch it.

● 1 read_file(path="a.py")
  ✓ 1 read_file: 2 lines

● 2 read_file(path="old.py")
  ✓ 2 read_file: 1 line

● 3 apply_patch("a.py", "new.py", "old.py")
  ✓ 3 apply_patch: 3 files, +3 -2 lines
    a.py: modified +1 -1 lines
      -B = 2
      +B = 3
    new.py: created, 2 lines
      def f():
          pass
    old.py: deleted, 1 line
      -gone

Done.

160 tokens in (75% cached) · 80 out · 4 model calls · 3 tools
"""
    )
    assert list_files(folder) == {"a.py": "A = 1\nB = 3\n", "new.py": "def f():\n    pass\n"}


def test_a_secret_file_is_read_by_commands_once_a_person_agreed(begin: Begin, folder: Path) -> None:
    (folder / ".env").write_text("PORT=8080\n")
    talk = begin(bash("cat .env"), ("read_file", {"path": ".env"}), bash("cat .env"), "Done.")
    talk.say("Which port?")
    talk.reply("allow")
    assert (
        talk.close("Done.")
        == """\
> Which port?

● 1 bash $ cat .env
  ✗ 1 bash
    cat: .env: Permission denied
    exit code 1

● 2 read_file(path=".env")
bcdf| approval needed
bcdf| run `read_file`?
bcdf| | `path`: `.env`
bcdf| answer with a word: allow, deny (other words deny)
bcdf> allow
bcdf| allowed
  ✓ 2 read_file: 1 line

● 3 bash $ cat .env
  ✓ 3 bash
    PORT=8080

Done.

160 tokens in (75% cached) · 80 out · 4 model calls · 3 tools
"""
    )
    assert list_files(folder) == {".env": "PORT=8080\n"}


def test_a_command_has_a_time(begin: Begin, folder: Path) -> None:
    talk = begin(bash("echo begun; sleep 300; touch over", timeout=1.5), "Done.")
    talk.say("Wait.")
    assert (
        talk.close("Done.")
        == """\
> Wait.

● 1 bash $ echo begun; sleep 300; touch over
    at most 1.5 s
  ✗ 1 bash
    begun
    timed out

Done.

80 tokens in (75% cached) · 40 out · 2 model calls · 1 tool
"""
    )
    assert list_files(folder) == {}


def test_a_long_output_is_shown_by_both_its_ends(begin: Begin, folder: Path) -> None:
    talk = begin(bash("mkdir sub; cd sub; seq 100000"), bash("seq 20 > n; cat n"), "Done.")
    talk.say("Count.")
    assert (
        talk.close("Done.")
        == """\
> Count.

● 1 bash $ mkdir sub; cd sub; seq 100000
  ✓ 1 bash
    1
    2
    3
    4
    5
    … more than 6,219 more lines
    99994
    99995
    99996
    99997
    99998
    99999
    100000
    now in `sub`
    all of it is in `FOLDER/output-1.txt`

● 2 bash $ seq 20 > n; cat n
  ✓ 2 bash
    1
    2
    3
    4
    5
    … 8 more lines
    14
    15
    16
    17
    18
    19
    20

Done.

120 tokens in (75% cached) · 60 out · 3 model calls · 2 tools
"""
    )
    assert list_files(folder / "sub") == {"n": "".join(f"{each}\n" for each in range(1, 21))}


def test_a_command_that_a_kill_has_cut_off_is_not_run_again_unasked(
    begin: Begin, keyed: Any, folder: Path
) -> None:
    talk = begin(bash(f"echo begun >> mark; {BEGUN}; sleep 300; echo over >> mark"), "Done.")
    talk.say("Go.")
    wait_for_command(talk, keyed)
    os.kill(talk.pid, signal.SIGKILL)
    assert talk.wait() == -signal.SIGKILL
    talk = Talk(keyed, "--continue")
    talk.say("/continue")
    talk.reply("deny")
    assert (
        talk.close("Done.")
        == """\
goes on with `Go.`
you: Go.
its last turn was not finished: `/continue` goes on with it
> /continue

● 1 bash $ echo begun >> mark; touch $PIP_CACHE_DIR; sleep 300; echo over >>
    mark
bcdf| approval needed
bcdf| it may have had its effect already: the process ended while it ran. Run \\
bcdf: it again?
bcdf| run `bash`?
bcdf| | `command`: `echo begun >> mark; touch $PIP_CACHE_DIR; sleep 300; echo \\
bcdf: over >> mark`
bcdf| y once, or a for `bash` in this session
bcdf| answer with a word: allow, deny (other words deny)
bcdf> deny
bcdf| denied
  ✗ 1 bash: User denied: it may have had its effect already: the process ended
    while it ran. Run it again? run `bash`? | `command`: `echo begun >> mark;
    touch $PIP_CACHE_DIR; sleep 300; echo over >> mark`

Done.

40 tokens in (75% cached) · 20 out · 1 model call · 1 tool
"""
    )
    assert list_files(folder) == {}
