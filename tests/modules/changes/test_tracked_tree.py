"""What a state of a project holds where no overlay can be mounted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tracked_project import TrackedProject, open_project, run_git

from amplifier_modules.changes.change import ChangedPath, ChangeError, Conflict, Dropped
from amplifier_modules.changes.tracked import TrackedTree, find_git
from amplifier_modules.changes.tracked import entry as entry_module
from amplifier_modules.changes.tracked import left_out as left_out_module
from amplifier_modules.changes.tracked.left_out import LARGE, SECRET, UNREADABLE

pytestmark = pytest.mark.skipif(find_git() is None, reason="git is not installed")


@pytest.fixture
def project(tmp_path: Path) -> TrackedProject:
    return open_project(tmp_path)


def change_everything(project: TrackedProject) -> tuple[str, str]:
    """Return the states before and after a file of each kind has changed."""
    project.write(kept="k", changed="old", gone__in__it="g", program="p", swapped="s")
    (project.root / "link").symlink_to("kept")
    before = project.tree.take()
    project.write(changed="newer", made="m")
    (project.root / "gone/in/it").unlink()
    (project.root / "program").chmod(0o755)
    for name in ("link", "swapped"):
        (project.root / name).unlink()
        (project.root / name).symlink_to("changed")
    return before, project.tree.take()


# Holds: changes-30
def test_states_are_compared_by_paths_with_both_versions(project: TrackedProject) -> None:
    before, after = change_everything(project)
    paths = project.tree.compare(before, after)
    shown = [(each.path, each.kind, each.type, each.size) for each in paths]
    assert shown == [
        ("changed", "modified", "file", 5),
        ("gone/in/it", "deleted", "file", 1),
        ("link", "modified", "link", 7),
        ("made", "created", "file", 1),
        ("program", "modified", "file", 1),
        ("swapped", "modified", "link", 7),
    ]
    changed, gone, link, made, *_ = paths
    assert [Path(str(each)).read_text() for each in (changed.before, changed.after)] == [
        "old",
        "newer",
    ]
    assert (Path(str(gone.before)).read_text(), gone.after, made.before) == ("g", None, None)
    assert [os.readlink(str(each)) for each in (link.before, link.after)] == ["kept", "changed"]
    assert changed.after == str(project.root / "changed")


# Holds: changes-30
def test_a_version_of_an_earlier_state_is_read_from_the_store(project: TrackedProject) -> None:
    before, after = change_everything(project)
    project.write(changed="newest")
    project.tree.take()
    [changed, *_] = project.tree.compare(before, after)
    assert Path(str(changed.after)).read_text() == "newer"
    assert project.tree.compare(after, after) == []


# Holds: changes-30
def test_a_state_has_the_same_id_when_it_comes_back(project: TrackedProject) -> None:
    before, after = change_everything(project)
    project.tree.restore(before, after)
    again = TrackedTree(str(project.root), str(project.store))
    assert (again.take(), before != after) == (before, True)


# Holds: changes-31
def test_what_git_ignores_is_not_kept_unless_the_repository_tracks_it(
    project: TrackedProject,
) -> None:
    run_git(project.root, "init", "--quiet")
    project.write(node_modules__a="n", built__b="b", kept="k", forced__c="c")
    project.write_at(".gitignore", "node_modules\nforced\n")
    project.write_at(".git/info/exclude", "built/\n")
    run_git(project.root, "add", "--force", "forced/c")
    project.write(forced__d="d")
    empty = run_git(project.store / "git", "hash-object", "-w", "-t", "tree", "--stdin").decode()
    taken = project.tree.take()
    paths = [each.path for each in project.tree.compare(empty.strip(), taken)]
    assert paths == [".gitignore", "forced/c", "kept"]


# Holds: changes-31
def test_the_rules_of_the_repository_around_a_project_count(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    (tmp_path / ".gitignore").write_text("*.log\n/project/built\n")
    project = open_project(tmp_path)
    before = project.tree.take()
    project.write(a="a", b_log="b", built__c="c", in__d="d")
    (project.root / "b_log").rename(project.root / "b.log")
    after = project.tree.take()
    assert [each.path for each in project.tree.compare(before, after)] == ["a", "in/d"]
    project.tree.restore(before, after)
    assert sorted(project.read()) == ["b.log", "built/c"]


# Holds: changes-31
def test_a_project_that_the_repository_around_it_ignores_is_kept(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    (tmp_path / ".gitignore").write_text("*\n")
    project = open_project(tmp_path)
    before = project.tree.take()
    project.write(a="a")
    assert [each.path for each in project.tree.compare(before, project.tree.take())] == ["a"]


# Holds: changes-31
def test_nested_repositories_and_submodules_are_kept_without_their_git_folders(
    project: TrackedProject,
) -> None:
    project.write(inner__a="a", inner__deep__b="b", inner__built="i")
    project.write_at("inner/.gitignore", "built\n")
    for name in ("inner", "inner/deep"):
        run_git(project.root / name, "init", "--quiet")
    run_git(project.root, "init", "--quiet")
    (project.root / ".git/modules").mkdir()
    run_git(project.root, "init", "--quiet", "--separate-git-dir", ".git/modules/sub", "sub")
    project.write(sub__c="c")
    before = project.tree.take()
    project.write(inner__deep__b="changed", sub__d="d")
    (project.root / "inner/a").unlink()
    after = project.tree.take()
    outcome = project.tree.restore(before, after)
    assert [each.path for each in outcome.done] == ["inner/a", "inner/deep/b", "sub/d"]
    assert (project.root / "inner/deep/b").read_text() == "b"
    assert b"repositoryformatversion" not in project.list_stored()


# Holds: changes-32
def test_what_may_be_secret_is_never_in_the_store_and_its_change_is_named(
    project: TrackedProject,
) -> None:
    project.write_at(".env", "placed-1")
    project.write_at(".aws/credentials", "placed-2")
    project.write_at("gone/.npmrc", "placed-3")
    project.write_at(".gitignore", ".env\n")
    before = project.tree.take()
    project.write_at(".env", "placed-four")
    (project.root / "gone/.npmrc").unlink()
    project.write_at("made/.netrc", "placed-5")
    after = project.tree.take()
    env = str(project.root / ".env")
    netrc = str(project.root / "made/.netrc")
    assert project.tree.compare(before, after) == [
        ChangedPath(".env", "modified", "file", None, env, 11),
        ChangedPath("gone/.npmrc", "deleted", "file", None, None, 8),
        ChangedPath("made/.netrc", "created", "file", None, netrc, 8),
    ]
    outcome = project.tree.restore(before, after)
    assert (outcome.done, outcome.conflicts) == ([], [])
    assert outcome.dropped == [
        Dropped(path, SECRET) for path in (".env", "gone/.npmrc", "made/.netrc")
    ]
    assert (project.root / ".env").read_text() == "placed-four"
    assert b"placed" not in project.list_stored()


# Holds: changes-32
def test_a_file_that_grows_beyond_the_limit_stays_and_its_version_is_kept_aside(
    project: TrackedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_module, "MAX_FILE_BYTES", 10)
    monkeypatch.setattr(left_out_module, "MAX_FILE_BYTES", 10)
    project.write(grows="small", shrinks="too large now")
    before = project.tree.take()
    project.write(grows="too large now", shrinks="small")
    after = project.tree.take()
    shown = [(each.path, each.kind) for each in project.tree.compare(before, after)]
    assert shown == [("grows", "modified"), ("shrinks", "modified")]
    outcome = project.tree.restore(before, after)
    [conflict] = outcome.conflicts
    assert conflict == Conflict("grows", conflict.kept, LARGE)
    assert Path(str(conflict.kept)).read_text() == "small"
    assert (outcome.done, outcome.dropped) == ([], [Dropped("shrinks", LARGE)])
    assert project.read() == {"grows": ("644", b"too large now"), "shrinks": ("644", b"small")}


# Holds: changes-32
@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_what_cannot_be_read_is_left_out(project: TrackedProject) -> None:
    project.write(in__a="a", b="b")
    before = project.tree.take()
    (project.root / "in").chmod(0)
    (project.root / "b").chmod(0)
    after = project.tree.take()
    outcome = project.tree.restore(before, after)
    (project.root / "in").chmod(0o755)
    (project.root / "b").chmod(0o644)
    assert [(each.path, each.reason) for each in outcome.conflicts] == [
        ("b", UNREADABLE),
        ("in/a", UNREADABLE),
    ]
    assert project.tree.take() == before


# Holds: changes-30
def test_pipes_and_sockets_do_not_hinder(project: TrackedProject) -> None:
    project.write(a="a", b="b")
    before = project.tree.take()
    (project.root / "a").unlink()
    os.mkfifo(project.root / "a")
    os.mkfifo(project.root / ".gitignore")
    (project.root / ".gitignore").unlink()
    after = project.tree.take()
    outcome = project.tree.restore(before, after)
    assert [(each.path, each.reason) for each in outcome.conflicts] == [
        ("a", "something else has been made there since")
    ]


# Holds: changes-30
def test_a_folder_that_becomes_a_link_and_a_file_that_becomes_a_folder_come_back(
    project: TrackedProject,
) -> None:
    project.write(folder__a="a", folder__b="b", file="f")
    before = project.tree.take()
    (project.root / "folder").rename(project.root / "moved")
    (project.root / "folder").symlink_to("moved")
    (project.root / "file").unlink()
    project.write(file__inside="i")
    state, after = project.read(), project.tree.take()
    for wanted, current in ((before, after), (after, before)):
        outcome = project.tree.restore(wanted, current)
        assert (outcome.conflicts, project.tree.take()) == ([], wanted)
    assert project.read() == state


# Holds: changes-33
def test_without_git_nothing_is_tracked(
    project: TrackedProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = project.root / "bin/git"
    project.write(bin__git=f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(program)
    monkeypatch.chdir(project.root / "bin")
    folders = (".", "", str(project.root / "bin"), str(tmp_path / "bin"))
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    assert find_git(str(project.root)) is None
    with pytest.raises(ChangeError, match="only where git is installed"):
        TrackedTree(str(project.root), str(tmp_path / "other"))
    assert not (tmp_path / "ran").exists()


# Holds: changes-33
def test_a_store_in_the_project_and_an_unknown_state_are_refused(project: TrackedProject) -> None:
    with pytest.raises(ChangeError, match="must not lie in the project"):
        TrackedTree(str(project.root), str(project.root / "store"))
    state = project.tree.take()
    for unknown in ("--output=x", "0" * 40, f"{state}.{'0' * 40}"):
        with pytest.raises(ChangeError):
            project.tree.compare(state, unknown)


# Holds: changes-33
def test_a_store_of_another_project_is_refused(project: TrackedProject, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(ChangeError, match="is of another project"):
        TrackedTree(str(tmp_path / "other"), str(project.store))


# Holds: changes-31
def test_states_stay_comparable_when_a_repository_begins_around_a_project(
    project: TrackedProject, tmp_path: Path
) -> None:
    project.write(a="a")
    before = project.tree.take()
    run_git(tmp_path, "init", "--quiet")
    again = TrackedTree(str(project.root), str(project.store))
    assert again.take() == before


# Holds: changes-33
def test_what_a_killed_git_has_left_does_not_hinder(project: TrackedProject) -> None:
    project.write(a="a")
    project.tree.take()
    (project.store / "git/index.lock").touch()
    project.write(a="b")
    project.tree.take()
    assert not (project.store / "git/index.lock").exists()
