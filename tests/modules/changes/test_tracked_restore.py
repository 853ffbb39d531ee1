"""Undo and redo where no overlay can be mounted: exact, and never over what somebody changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from tracked_project import TrackedProject, open_project, read_state

from amplifier_modules.changes.change import Conflict
from amplifier_modules.changes.tracked import entry as entry_module
from amplifier_modules.changes.tracked import find_git

pytestmark = pytest.mark.skipif(find_git() is None, reason="git is not installed")


@pytest.fixture
def project(tmp_path: Path) -> TrackedProject:
    return open_project(tmp_path)


NAMES = ["a", "b", "in", "in/c", "in/deep/d", "aux.c", "back\\slash", os.fsdecode(b"\xff"), "in/\n"]
Step = tuple[str, str, bytes]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "link", "delete", "execute"]),
        st.sampled_from(NAMES),
        st.sampled_from([b"", b"1\r\n", b"22\0", b"a"]),
    ),
    max_size=6,
)


def take_steps(root: Path, steps: list[Step]) -> None:
    """Do to a project what a person or a command does; what cannot be done is left out."""
    for kind, name, content in steps:
        path = root / name
        try:
            if kind == "delete" or path.is_symlink():
                path.unlink()
            if kind in ("write", "link"):
                path.parent.mkdir(parents=True, exist_ok=True)
            if kind == "write":
                path.write_bytes(content)
            elif kind == "link":
                path.unlink(missing_ok=True)
                path.symlink_to(os.fsdecode(content.strip(b"\0") or b"x"))
            elif kind == "execute":
                path.chmod(path.stat().st_mode ^ 0o111)
        except OSError:
            continue


# Holds: changes-34
@given(STEPS, STEPS)
@settings(deadline=None, max_examples=15)
def test_undo_and_redo_are_exact(first: list[Step], second: list[Step]) -> None:
    with TemporaryDirectory() as folder:
        project = open_project(Path(folder))
        take_steps(project.root, first)
        before, state_before = project.tree.take(), project.read()
        take_steps(project.root, second)
        after, state_after = project.tree.take(), project.read()
        undone = project.tree.restore(before, after)
        assert (undone.conflicts, project.read()) == ([], state_before)
        redone = project.tree.restore(after, before)
        assert (redone.conflicts, project.read()) == ([], state_after)


# Holds: changes-35
@given(STEPS, STEPS, STEPS)
@settings(deadline=None, max_examples=15)
def test_no_edit_of_a_person_is_lost(
    first: list[Step], second: list[Step], edits: list[Step]
) -> None:
    with TemporaryDirectory() as folder:
        project = open_project(Path(folder))
        take_steps(project.root, first)
        before, state_before = project.tree.take(), project.read()
        take_steps(project.root, second)
        after, state_after = project.tree.take(), project.read()
        take_steps(project.root, edits)
        state = project.read()
        preview = project.tree.restore(before, after, preview=True)
        assert project.read() == state
        undone = project.tree.restore(before, after)
        now = project.read()
        done = {each.path for each in undone.done}
        conflicts = {each.path: each.kept for each in undone.conflicts}
        assert done >= {each.path for each in preview.done} - conflicts.keys()
        for path in NAMES:
            versions = [each.get(path) for each in (state_before, state_after, state)]
            old, command, theirs = versions
            if theirs not in (old, command):
                assert now.get(path) == theirs
            elif old != command and path not in conflicts:
                assert now.get(path) == old
            kept = conflicts.get(path)
            if path in conflicts and old is not None:
                assert read_version(str(kept)) == old[1]


def read_version(path: str) -> bytes:
    return os.fsencode(os.readlink(path)) if os.path.islink(path) else Path(path).read_bytes()


# Holds: changes-35
def test_a_path_that_a_person_changed_since_stays_and_the_other_version_is_named(
    project: TrackedProject,
) -> None:
    project.write(a="old", b="old", c="old", gone="old")
    before = project.tree.take()
    project.write(a="new", b="new", made="new")
    for name in ("c", "gone"):
        (project.root / name).unlink()
    after = project.tree.take()
    project.write(a="mine", made="mine", c="mine")
    (project.root / "b").unlink()
    outcome = project.tree.restore(before, after)
    kept = project.store / "kept" / f"{before[:12]}-{after[:12]}"
    assert outcome.conflicts == [
        Conflict("a", str(kept / "a"), "it has changed since"),
        Conflict("b", str(kept / "b"), "it has been deleted since"),
        Conflict("c", str(kept / "c"), "something else has been made there since"),
        Conflict("made", None, "it has changed since"),
    ]
    assert [each.path for each in outcome.done] == ["gone"]
    assert read_state(kept) == dict.fromkeys(("a", "b", "c"), ("644", b"old"))
    mine = ("644", b"mine")
    assert project.read() == {"a": mine, "c": mine, "made": mine, "gone": ("644", b"old")}


# Holds: changes-34
def test_modes_stay_and_folders_come_and_go_with_their_files(project: TrackedProject) -> None:
    project.write(secretive="old", program="old", in__deep__a="a", beside__ignored="i")
    project.write_at(".gitignore", "ignored\n")
    (project.root / "secretive").chmod(0o600)
    (project.root / "program").chmod(0o750)
    before, state = project.tree.take(), project.read()
    project.write(secretive="new", program="new", made__b="b", beside__c="c")
    (project.root / "program").chmod(0o640)
    (project.root / "in/deep/a").unlink()
    (project.root / "in/deep").rmdir()
    (project.root / "in").rmdir()
    after = project.tree.take()
    outcome = project.tree.restore(before, after)
    assert (outcome.conflicts, project.read()) == ([], state)
    assert sorted(os.listdir(project.root)) == sorted(
        [".gitignore", "beside", "in", "program", "secretive"]
    )


# Holds: changes-36
def test_a_folder_that_a_link_has_replaced_is_not_followed(
    project: TrackedProject, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    project.write(in__changed="old", in__gone="old")
    before = project.tree.take()
    project.write(in__changed="new", in__made="new")
    (project.root / "in/gone").unlink()
    after = project.tree.take()
    (project.root / "in").rename(outside)
    (project.root / "in").symlink_to(outside)
    state = read_state(outside)
    outcome = project.tree.restore(before, after)
    assert [(each.path, each.reason) for each in outcome.conflicts] == [
        ("in/changed", "it has been deleted since"),
        ("in/gone", "a folder that it was in is a link or a file now"),
    ]
    assert read_state(outside) == state


# Holds: changes-36
def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed_out(
    project: TrackedProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "changed").write_text("new")
    project.write(in__changed="old")
    before = project.tree.take()
    project.write(in__changed="new")
    after = project.tree.take()
    find = entry_module.ProjectFolder.find

    def find_and_swap(folder: entry_module.ProjectFolder, path: str) -> entry_module.Found | None:
        found = find(folder, path)
        (project.root / "in").rename(project.root / "moved")
        (project.root / "in").symlink_to(outside)
        return found

    monkeypatch.setattr(entry_module.ProjectFolder, "find", find_and_swap)
    outcome = project.tree.restore(before, after)
    assert [each.path for each in outcome.conflicts] == ["in/changed"]
    assert (outside / "changed").read_text() == "new"


# Holds: changes-35
@pytest.mark.parametrize("name", ["plain", "aux.c"])
def test_an_edit_between_the_look_and_the_write_stays(
    name: str, project: TrackedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write_at(name, "old")
    before = project.tree.take()
    project.write_at(name, "new")
    after = project.tree.take()
    replace = entry_module.ProjectFolder.replace

    def edit_and_replace(*arguments: Any) -> None:
        project.write_at(name, "mine")
        replace(*arguments)

    monkeypatch.setattr(entry_module.ProjectFolder, "replace", edit_and_replace)
    outcome = project.tree.restore(before, after)
    assert [each.path for each in outcome.conflicts] == [name]
    assert project.read() == {name: ("644", b"mine")}


class Crash(BaseException):
    """The end of the process."""


@contextmanager
def crash_at(step: int, monkeypatch: pytest.MonkeyPatch) -> Generator[list[int]]:
    """Crash before one of the calls that change a project; yield how many there were."""
    count = [0]

    def guard(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            count[0] += 1
            if count[0] >= step:
                raise Crash
            return call(*arguments, **options)

        return run

    class Policy:
        def __init__(self, root: str) -> None:
            policy = real_policy(root)
            self.replace, self.remove = guard(policy.replace), guard(policy.remove)

    real_policy = entry_module.PathPolicy
    with monkeypatch.context() as patch:
        patch.setattr(entry_module, "PathPolicy", Policy)
        for name in ("fchmod", "link", "mkdir", "rename", "rmdir", "symlink", "unlink"):
            patch.setattr(os, name, guard(getattr(os, name)))
        yield count


# Holds: changes-37
def test_after_a_crash_at_any_step_the_same_call_finishes(
    project: TrackedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, tree = project.root, project.tree
    project.write(program="old", gone__it="old", folder__a="old")
    project.write_at("aux.c", "old")
    (root / "link").symlink_to("old")
    before, old_state = tree.take(), project.read()
    for name in ("gone/it", "folder/a", "link"):
        (root / name).unlink()
    (root / "folder").rmdir()
    project.write(program="new", made__it="new", folder="new")
    project.write_at("aux.c", "new")
    (root / "program").chmod(0o755)
    (root / "link").symlink_to("new")
    after, new_state = tree.take(), project.read()
    for step in range(1, 100):
        try:
            with crash_at(step, monkeypatch) as count:
                tree.restore(before, after)
        except Crash:
            outcome = tree.restore(before, after)
            assert (outcome.conflicts, project.read()) == ([], old_state)
            tree.restore(after, before)
            assert project.read() == new_state
        else:
            assert step == count[0] + 1 > 15
            return
