"""`Change` on real overlays: commands are committed, undone and redone.

Holds: changes-10
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from overlay import look, run_on_overlay

from amplifier_modules.changes import change as changes
from amplifier_modules.changes.change import (
    Change,
    ChangedPath,
    ChangeError,
    ChangeOutcome,
    find_changes_support,
)

COMMAND = """
echo more >> modified; rm deleted; rm -r old; rm merged/gone; echo new > merged/new
mkdir -p fresh/deep; echo 1 > fresh/deep/file; ln fresh/deep/file fresh/other
ln -s nowhere link; chmod 711 merged; mv kept renamed; printf x > "$(printf 'a\\377b')"
"""


def begin(project: Path) -> Change:
    """A change of a project, in a store beside it."""
    store = project.parent / "store"
    store.mkdir(exist_ok=True)
    return Change.begin(str(project), str(store / str(len(os.listdir(store)))))


# Holds: changes-1, changes-2, changes-3
def test_a_command_is_committed_undone_and_redone_exactly(project: Path) -> None:
    before = look(project)
    change = begin(project)
    run_on_overlay(change, project, COMMAND)
    assert look(project) == before
    listed = change.list_paths()

    outcome = change.commit()

    assert (outcome.conflicts, outcome.dropped) == ([], [])
    assert [(each.path, each.kind) for each in outcome.done] == [
        ("a\udcffb", "created"),
        ("deleted", "deleted"),
        ("fresh", "created"),
        ("fresh/deep", "created"),
        ("fresh/deep/file", "created"),
        ("fresh/other", "created"),
        ("kept", "deleted"),
        ("link", "created"),
        ("merged", "modified"),
        ("merged/gone", "deleted"),
        ("merged/new", "created"),
        ("modified", "modified"),
        ("old", "deleted"),
        ("old/a", "deleted"),
        ("old/a/b", "deleted"),
        ("renamed", "created"),
    ]
    assert [each.path for each in listed] == [each.path for each in outcome.done]
    after = look(project)
    assert change.state == "committed"
    assert change.undo(preview=True) == change.undo()
    assert look(project) == before
    assert change.redo() == outcome
    assert look(project) == after
    change.remove()
    assert not os.path.exists(change.layer)


def test_both_versions_of_a_path_can_be_read(project: Path) -> None:
    change = begin(project)
    run_on_overlay(change, project, "echo new > modified")
    versions = [("modified", "new\n")]

    def read() -> list[tuple[str, str]]:
        [path] = change.list_paths()
        assert path.before is not None
        assert path.after is not None
        return [(Path(path.before).read_text(), Path(path.after).read_text())]

    assert read() == versions
    [path] = change.commit().done
    layer, there = f"{change.layer}/modified", str(project / "modified")
    assert path == ChangedPath("modified", "modified", "file", layer, there, 4)
    assert read() == versions
    change.undo()
    assert read() == versions


# Holds: changes-4
def test_an_edit_of_a_person_while_a_command_runs_stays(project: Path) -> None:
    change = begin(project)
    run_on_overlay(change, project, "echo command > modified; echo command > kept")
    (project / "modified").write_text("mine")

    outcome = change.commit()

    assert [each.path for each in outcome.done] == ["kept"]
    [conflict] = outcome.conflicts
    assert conflict.kept is not None
    assert Path(conflict.kept).read_text() == "command\n"
    assert (project / "modified").read_text() == "mine"


# Holds: changes-5
def test_chosen_paths_alone_are_committed(project: Path) -> None:
    before = look(project)
    change = begin(project)
    run_on_overlay(change, project, COMMAND)

    outcome = change.commit(["fresh/other", "a\udcffb"])

    assert [each.path for each in outcome.done] == ["a\udcffb", "fresh", "fresh/other"]
    assert (project / "fresh/other").read_text() == "1\n"
    change.undo()
    assert look(project) == before


# Holds: changes-1
def test_a_folder_that_replaces_one_of_the_project_has_nothing_of_it(project: Path) -> None:
    before = look(project)
    change = begin(project)
    run_on_overlay(
        change, project, "rm -r old; mkdir old; echo 1 > old/new; rm -r merged; echo 1 > merged"
    )
    change.commit()
    assert os.listdir(project / "old") == ["new"]
    assert (project / "merged").read_text() == "1\n"
    change.undo()
    assert look(project) == before


def test_changes_are_undone_one_after_the_other(project: Path) -> None:
    looks = [look(project)]
    done: list[Change] = []
    for command in (
        COMMAND,
        "rm -r fresh merged; echo 2 >> modified",
        "mkdir -p old/a; echo 3 > old/a/b",
    ):
        change = begin(project)
        run_on_overlay(change, project, command)
        assert change.commit().conflicts == []
        done.append(change)
        looks.append(look(project))
    for change in reversed(done):
        assert look(project) == looks.pop()
        assert change.undo().conflicts == []
    assert look(project) == looks.pop()
    for change in done:
        assert change.redo().conflicts == []


def test_several_threads_use_one_change(project: Path) -> None:
    change = begin(project)
    run_on_overlay(change, project, COMMAND)

    def try_commit(_: int) -> ChangeOutcome | None:
        try:
            return change.commit()
        except ChangeError:
            return None

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(try_commit, range(4)))
    assert sum(outcome is not None for outcome in outcomes) == 1
    assert change.state == "committed"


# Holds: changes-9
def test_a_write_of_a_file_tool_is_undone(tmp_path: Path) -> None:
    if not find_changes_support():
        pytest.skip("changes can be kept only on Linux, with the extension")
    project = tmp_path / "project"
    project.mkdir()
    (project / "file").write_text("old")
    before = look(project)
    change = begin(project)
    change.record_before(["file", "new/file"], [b"new", b"fresh"])
    assert change.state == "half"
    (project / "file").write_text("new")
    (project / "new").mkdir()
    (project / "new/file").write_text("fresh")
    outcome = change.record_after()
    assert [each.path for each in outcome.done] == ["file", "new", "new/file"]
    change.undo()
    assert look(project) == before
    with pytest.raises(ChangeError, match="cannot undo a change that is undone"):
        change.undo()


PROGRAM = """
import os, sys
from amplifier_modules.changes.change import Change
os.setgroups([]); os.setgid(65534); os.setuid(65534)
os.chdir(sys.argv[1])
os.makedirs("project/closed/inner"); os.makedirs("project/gone/inner")
open("project/closed/file", "w").write("old")
for each in ("closed", "gone/inner"):
    os.chmod(f"project/{each}", 0)
change = Change.begin(os.path.abspath("project"), os.path.abspath("change"))
os.mkdir(f"{change.layer}/closed")
open(f"{change.layer}/closed/file", "w").write("new")
os.setxattr(f"{change.layer}/closed/file", "user.overlay.origin", b"")
os.chmod(f"{change.layer}/closed/file", 0o444)
os.makedirs(f"{change.layer}/fresh/inner")
for each in ("closed", "fresh/inner"):
    os.chmod(f"{change.layer}/{each}", 0)
os.chmod(f"{change.layer}/fresh", 0o555)
os.mknod(f"{change.layer}/gone", 0o020000, 0)

def look(path):
    return [oct(os.lstat(f"project/{each}").st_mode) for each in os.listdir("project")]

before = look("project")
assert change.commit().conflicts == [], change.list_paths()
assert os.lstat("project/closed").st_mode & 0o777 == 0
assert os.lstat("project/fresh").st_mode & 0o777 == 0o555
assert not os.path.exists("project/gone")
assert change.undo().conflicts == []
assert look("project") == before, (before, look("project"))
os.chmod("project/closed", 0o700)
assert open("project/closed/file").read() == "old"
os.chmod("project/closed", 0)
assert change.redo().conflicts == []
os.chmod("project/closed", 0o700)
assert open("project/closed/file").read() == "new"
change.remove()
assert not os.path.exists("change")
"""


def test_an_ordinary_user_commits_what_is_closed_to_its_owner() -> None:
    if not find_changes_support() or os.geteuid() != 0:
        pytest.skip("needs root, to become an ordinary user")
    # Not below the folder of pytest, which is closed to others.
    with TemporaryDirectory() as folder:
        os.chown(folder, 65534, 65534)
        arguments = [sys.executable, "-c", PROGRAM, folder]
        ran = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_where_changes_cannot_be_kept_they_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "find_change_class", lambda: None)
    assert not find_changes_support()
    with pytest.raises(ChangeError, match="only on Linux, with the extension"):
        Change.begin("/project", "/change")
