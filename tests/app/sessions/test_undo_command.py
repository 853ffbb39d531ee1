"""`amplifier-core undo`, `redo` and `diff`: what a stored session has changed, taken back by another process."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider
from amplifier_app.command_line import run_command
from amplifier_app.commands.changes.diff import list_diff
from amplifier_app.commands.changes.undone_lines import UNDONE, list_undone
from amplifier_modules.changes.change import ChangedPath
from amplifier_modules.changes.open_change import Call
from amplifier_modules.changes.place import find_changes_folder
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.changes.session_lock import SessionLock
from amplifier_modules.changes.tracked import find_git
from amplifier_modules.changes.undone import Undone
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.tiers import find_tier
from amplifier_modules.stores.sqlite import SqliteStore

UNDO = ["undone (2 changes):", "  created   new", "  created   new/a", "  modified  old"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, and no sessions of anybody else."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("AMPLIFIER_DEBUG", raising=False)
    project = tmp_path / "project"
    project.mkdir()
    (project / "old").write_text("one\ntwo\n")
    monkeypatch.chdir(project)
    return project


def write(path: str, content: str) -> dict[str, Any]:
    return {"tool": "write_file", "arguments": {"path": path, "content": content}}


LOOK = {"tool": "read_file", "arguments": {"path": "old"}}
CHANGE = (LOOK, write("new/a", "a\n"), write("old", "one\n2\n"))


def run_turn(project: Path, prompt: str, *script: Any, id: str = "chat") -> ScriptedProvider:
    """Run a turn of a stored session, as another process does it."""
    model = ScriptedProvider([*script, "Done."])
    agent = Agent(model, tools=["tool-filesystem"], directory=project, store="sqlite")

    async def main() -> None:
        async with agent.session(session_id=id) as session:
            await session.run(prompt)

    asyncio.run(main())
    return model


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[str], str]]:
    """Runs the command; returns its exit code, the lines that it wrote, and its notice."""

    def run(*arguments: str) -> tuple[int, list[str], str]:
        capsys.readouterr()
        code = run_command(arguments)
        written = capsys.readouterr()
        assert "Traceback" not in written.err
        return code, written.out.splitlines(), written.err.rstrip("\n")

    return run


def read_files(project: Path) -> dict[str, str]:
    files = (each for each in project.rglob("*") if each.is_file())
    return {str(each.relative_to(project)): each.read_text() for each in files}


BEFORE = {"old": "one\ntwo\n"}
AFTER = {"old": "one\n2\n", "new/a": "a\n"}


# Holds: changes-60
def test_a_turn_is_shown_taken_back_and_made_again(call: Any, project: Path) -> None:
    run_turn(project, "Tidy up", *CHANGE)
    name = "`chat` (Tidy up)"
    diff = (
        "created folder new\n--- /dev/null\n+++ b/new/a\n@@ -0,0 +1 @@\n+a\n"
        "--- a/old\n+++ b/old\n@@ -1,2 +1,2 @@\n one\n-two\n+2"
    )
    assert call("diff") == (0, diff.splitlines(), "")

    would = [f"{name}: 3 paths would be {UNDO[0]}", *UNDO[1:]]
    assert call("undo", "--preview") == (0, would, "")
    assert read_files(project) == AFTER

    assert call("undo") == (0, [f"{name}: 3 paths {UNDO[0]}", *UNDO[1:]], "")
    assert read_files(project) == BEFORE
    assert not (project / "new").exists()
    assert call("undo") == (0, [f"{name}: there is nothing that can be undone"], "")
    assert call("diff") == (0, [], "")

    again = [f"{name}: 3 paths made again (2 changes):", *UNDO[1:]]
    assert call("redo") == (0, again, "")
    assert read_files(project) == AFTER
    assert call("redo") == (0, [f"{name}: there is nothing that can be made again"], "")


# Holds: changes-60
def test_a_program_reads_what_was_done(call: Any, project: Path) -> None:
    run_turn(project, "Tidy up", *CHANGE)
    code, (line,), notice = call("undo", "--json")
    done = json.loads(line)
    kept = done.pop("paths")
    assert (code, notice) == (0, "")
    assert done == {
        "session_id": "chat", "conflicts": [], "missing": [], "changes": 2, "is_preview": False,
        "error": None,
    }  # fmt: skip
    kinds = [(each["path"], each["kind"], each["type"]) for each in kept]
    assert kinds == [
        ("new", "created", "folder"),
        ("new/a", "created", "file"),
        ("old", "modified", "file"),
    ]
    code, (line,), notice = call("diff", "chat", "--json")
    assert json.loads(line) == {"session_id": "chat", "changes": [], "paths": [], "error": None}


# Holds: changes-93
def test_what_came_after_a_change_or_a_turn_is_taken_back(call: Any, project: Path) -> None:
    run_turn(project, "Tidy up", *CHANGE)
    first = read_files(project)
    run_turn(project, "Write b", write("b", "b\n"))
    code, lines, notice = call("diff", "--list")
    events = [int(line.split()[2].removeprefix("event-")) for line in lines]
    assert (code, notice, lines) == (
        0,
        "",
        [
            f"change-1 turn-1 event-{events[0]} write_file: new and 1 more",
            f"change-2 turn-1 event-{events[1]} write_file: old",
            f"change-3 turn-2 event-{events[2]} write_file: b",
        ],
    )
    (line,) = call("diff", "--list", "--json")[1]
    assert [each["id"] for each in json.loads(line)["changes"]] == [
        "change-1", "change-2", "change-3"
    ]  # fmt: skip

    would = call("undo", "--to", "change-1", "--preview")[1]
    assert would[0] == "`chat` (Tidy up): 2 paths would be undone (2 changes):"
    code, lines, notice = call("undo", "--to", "turn-1")
    assert (code, read_files(project)) == (0, first)
    assert lines == ["`chat` (Tidy up): 1 path undone (1 change):", "  created   b"]
    (line,) = call("undo", "--to", "turn-1", "--preview", "--json")[1]
    (forked,) = call("session", "fork", "chat", "--at", str(json.loads(line)["event"]))[1]
    shown = "\n".join(call("session", "show", forked)[1])
    assert "Tidy up" in shown
    assert "Write b" not in shown

    call("undo", "chat", "--to", str(events[0]))
    assert read_files(project) == {"old": "one\ntwo\n", "new/a": "a\n"}
    hint = "`amplifier-core diff --list`, or `/diff`, shows what there is"
    error = "error: there is no `change-9` (must be `change-1` to `change-3`)"
    assert call("undo", "chat", "--to", "change-9") == (2, [], f"{error}; {hint}")
    call("redo", "chat")
    call("redo", "chat")
    assert read_files(project) == first | {"b": "b\n"}


# Holds: changes-61
def test_the_model_is_told_once_and_asked_nothing(call: Any, project: Path) -> None:
    run_turn(project, "Tidy up", *CHANGE)
    call("undo")
    for _ in range(2):
        model = run_turn(project, "And now?")
    (request,) = model.requests
    said = [str(each.content) for each in request.messages if each.role == "user"]
    told = "[The user took back changes of yours: `new`, `new/a`, `old`; each is as before. Read a"
    assert [said[0], said[1], said[3]] == ["Tidy up", "And now?", "And now?"]
    assert said[2] == f"{told} file again before you edit it.]"
    assert len(said) == 4


# Holds: changes-62
def test_what_somebody_has_changed_stays_and_the_exit_code_says_so(
    call: Any, project: Path
) -> None:
    run_turn(project, "Tidy up", *CHANGE)
    (project / "old").write_text("mine\n")
    code, lines, notice = call("undo")
    assert (code, notice) == (1, "error: not everything was undone; what stays as it is was named")
    assert lines[:3] == ["`chat` (Tidy up): 2 paths undone (2 changes):", *UNDO[1:3]]
    kept = lines[3].removeprefix(
        "  left as it is: old: somebody else changed it; the other version is `"
    )
    assert Path(kept.removesuffix("`")).read_text() == "one\ntwo\n"
    assert read_files(project) == {"old": "mine\n"}


def test_the_last_session_of_the_folder_is_meant_or_the_one_that_is_named(
    call: Any, project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    run_turn(project, "Tidy up", *CHANGE, id="one")
    run_turn(other, "Write b", write("b", "b\n"), id="two")
    nothing = (0, ["`two` (Write b): there is nothing that can be made again"], "")
    assert call("redo", "-C", str(other)) == nothing
    assert call("undo")[1][0] == f"`one` (Tidy up): 3 paths {UNDO[0]}"
    call("session", "rename", "two", "letters")
    assert call("undo", "letters")[1] == [
        "`two` (letters): 1 path undone (1 change):", "  created   b"
    ]  # fmt: skip
    assert read_files(other) == {}


# Holds: changes-63
def test_what_is_wrong_is_one_line(call: Any, project: Path, tmp_path: Path) -> None:
    hint = "`amplifier-core session list --all` shows"
    none = f"error: no session is stored for the folder `{project}`; {hint} those of other folders"
    assert call("undo") == (2, [], none)
    run_turn(project, "Look", LOOK)
    assert call("undo") == (0, ["`chat` (Look): there is nothing that can be undone"], "")
    unknown = "error: no stored session has the id, the name or the title `green`"
    for command in ("undo", "redo", "diff"):
        assert call(command, "green") == (2, [], f"{unknown}; {hint} them")
        gone = f"error: the folder `{tmp_path / 'gone'}` does not exist"
        found = call(command, "-C", str(tmp_path / "gone"))
        assert found == (2, [], f"{gone}; check the path given to `--directory`")


# Holds: changes-63
def test_a_project_that_is_gone_is_named(
    call: Any, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_turn(project, "Tidy up", *CHANGE)
    monkeypatch.chdir(tmp_path)
    project.rename(tmp_path / "moved")
    code, lines, notice = call("undo", "chat")
    assert (code, notice) == (1, "error: not everything was undone; what stays as it is was named")
    assert lines == [
        "`chat` (Tidy up): nothing undone:",
        f"  not possible: cannot open `{project}`: No such file or directory",
    ]
    (tmp_path / "moved").rename(project)
    assert call("undo", "chat")[0] == 0
    assert read_files(project) == BEFORE


# Holds: changes-63
def test_while_somebody_else_uses_them_nothing_is_taken_back(call: Any, project: Path) -> None:
    run_turn(project, "Tidy up", *CHANGE)
    lock = SessionLock(find_changes_folder() / "chat")
    lock.take()
    used = "the changes of session `chat` are in use: a turn of it runs in another process"
    for command in ("undo", "redo", "diff"):
        assert call(command) == (1, [], f"error: {used}; try again when it has ended")
    lock.release()
    asyncio.run(claim(f"{socket.gethostname()}:{os.getppid()}"))
    is_open = f"error: `chat` (Tidy up) is open in process {os.getppid()}; type `/undo` there, or"
    assert call("undo") == (1, [], f"{is_open} try again when it has ended")
    assert read_files(project) == AFTER
    assert call("undo", "--preview")[0] == call("diff")[0] == 0


async def claim(owner: str) -> None:
    store = SqliteStore()
    await store.claim("chat", owner)
    await store.close()


# Holds: changes-63
def test_a_damaged_note_costs_its_change_and_goes_with_its_session(
    call: Any, project: Path
) -> None:
    run_turn(project, "Tidy up", *CHANGE)
    notes = find_changes_folder() / "chat"
    (notes / "000001.json").write_text("{")
    assert call("diff")[0] == 0
    code, lines, _ = call("undo")
    assert code == 1
    assert lines[:2] == ["`chat` (Tidy up): 1 path undone (1 change):", "  modified  old"]
    assert lines[2].startswith("  not possible: 1 change of the same turn is not kept any more: ")
    assert call("session", "delete", "chat", "--yes")[0] == 0
    assert not notes.exists()


# Holds: changes-62
@pytest.mark.skipif(find_git() is None, reason="states need git")
def test_what_no_state_has_is_named(call: Any, project: Path) -> None:
    (project / ".env").write_text("A=1\n")
    changes = SessionChanges(find_changes_folder(), "chat")
    run_turn(project, "Look", LOOK)
    change = changes.begin_tracked(str(project), Call("bash"))
    (project / ".env").write_text("A=2\n")
    (project / "old").unlink()
    change.commit()
    changes.close(keep=True)
    code, lines, _ = call("undo")
    secret = "not possible: .env: it may hold secrets, so that no copy of it is kept"
    assert code == 1
    assert lines == [
        "`chat` (Look): 1 path undone (1 change):", "  deleted   old", f"  {secret}"
    ]  # fmt: skip
    assert read_files(project) == {".env": "A=2\n", **BEFORE}
    assert call("redo")[1][1:] == ["  deleted   old", f"  {secret}"]


def test_changes_that_somebody_has_removed_are_missing(call: Any, project: Path) -> None:
    run_turn(project, "Tidy up", *CHANGE)
    folder = find_changes_folder() / "chat" / "000001"
    shutil.rmtree(folder)
    assert call("diff")[0] == 1
    code, lines, _ = call("undo")
    assert code == 1
    assert lines[:2] == ["`chat` (Tidy up): 1 path undone (1 change):", "  modified  old"]
    assert lines[2].startswith("  not possible: ")
    assert read_files(project) == {**BEFORE, "new/a": "a\n"}


# Holds: changes-64
def test_no_name_and_no_content_controls_the_terminal(tmp_path: Path) -> None:
    after = tmp_path / "after"
    after.write_bytes(b"\x1b[31mred\r\n\xe2\x80\xae\n")
    path = ChangedPath("a\x1b[2J\nb", "created", "file", None, str(after), 3)
    undone = Undone(paths=(path,), changes=1, missing=("x\x1by",))
    lines = [*list_undone(undone, UNDONE), *list_diff([path], shows=True)]
    assert all(each.isprintable() for each in lines), lines
    exact = list(list_diff([path], shows=False))
    assert exact[-2:] == ["+\x1b[31mred\r", "+\u202e"]


def test_many_paths_are_counted_on_a_screen_and_named_in_a_pipe() -> None:
    paths = [ChangedPath(f"{number}", "created", "file", None, None, 0) for number in range(1234)]
    undone = Undone(paths=tuple(paths), changes=1)
    lines = list(list_undone(undone, UNDONE))
    assert [lines[0], *lines[-2:]] == [
        "1,234 paths undone (1 change):",
        "  created   99",
        "  and 1,134 more",
    ]
    assert len(list(list_undone(undone, UNDONE, names_all=True))) == 1235


# Holds: changes-65
@pytest.mark.skipif(
    find_tier().tier is not Tier.NAMESPACES,
    reason="without a sandbox a run in a pipe writes nothing",
)
def test_a_run_without_a_key_is_undone_by_default(command: Any) -> None:
    done = command("--quiet", "Add a function add to calc.py and test it")
    assert done.returncode == 0
    assert {"calc.py", "test_calc.py"} <= {each.name for each in command.folder.iterdir()}
    undone = command("undo")
    assert (undone.returncode, undone.stderr) == (0, "")
    assert "  created   calc.py\n  created   test_calc.py\n" in undone.stdout
    assert list(command.folder.iterdir()) == []
