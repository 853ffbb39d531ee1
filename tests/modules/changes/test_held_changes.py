"""Changes that a person is asked about wait for the answer, whatever happens to their process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from kept_session import Place, kill, list_undone, run_in_fork, undo

from amplifier_modules.changes import kept_space
from amplifier_modules.changes.finishing import Finishing
from amplifier_modules.changes.open_change import Call, HeldChangeError, OpenChange
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.changes.shown_hash import hash_layer, hash_shown

KILLED = -9


def hold(place: Place, changes: SessionChanges) -> tuple[OpenChange, str]:
    """Have a command write two files, and hold what it changed."""
    changes.begin_turn()
    change = place.begin(changes)
    for name in ("a", "b"):
        Path(change.layer[0], name).write_text(name)
    return change, change.hold()


def kill_after(place: Place, work: Callable[[OpenChange], object]) -> str:
    """Have a process killed that has held changes; return the hash of the layer."""
    told = place.state.with_name("hash")

    def run() -> None:
        change, layer = hold(place, place.open())
        told.write_text(layer)
        work(change)
        kill()

    assert run_in_fork(run) == KILLED
    return told.read_text()


def open_held(place: Place, layer: str) -> OpenChange | None:
    return place.open().open_held(str(place.project), Call("bash"), layer)


# Holds: changes-80
def test_what_is_held_is_committed_by_another_process(place: Place) -> None:
    layer = kill_after(place, lambda _: None)
    assert place.read() == {}
    change = open_held(place, layer)
    assert change is not None
    assert [each.path for each in change.list_paths()] == ["a", "b"]
    change.commit(["b"])
    assert place.read() == {"b": "b"}
    assert list_undone(undo(place.open())) == (["b"], [], ())


# Holds: changes-84
@pytest.mark.parametrize("is_half", [False, True])
def test_a_commit_that_was_interrupted_is_finished(
    place: Place, monkeypatch: pytest.MonkeyPatch, is_half: bool
) -> None:
    monkeypatch.setattr(Finishing, "keep", lambda *_given, **_options: kill())
    layer = kill_after(place, OpenChange.commit)
    monkeypatch.undo()
    if is_half:
        (manifest,) = place.state.glob("one/000001/manifest")
        lines = manifest.read_bytes().splitlines(keepends=True)
        manifest.write_bytes(b"".join(lines[:-1]))
    assert open_held(place, layer) is None
    assert place.read() == {"a": "a", "b": "b"}
    assert list_undone(undo(place.open())) == (["a", "b"], [], ())


# Holds: changes-83
def test_what_is_held_is_not_removed_for_space_nor_by_other_sessions(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = kill_after(place, lambda _: None)
    monkeypatch.setattr(kept_space, "find_limit", lambda _folder: 0)
    for name in ("one", "another"):
        changes = place.open(name)
        changes.begin_turn([layer])
        change = place.begin(changes)
        Path(change.layer[0], name).write_text("1")
        change.commit()
        changes.end_turn()
    assert open_held(place, layer) is not None


# Holds: changes-83
def test_what_nobody_is_asked_about_any_more_is_removed(place: Place) -> None:
    layer = kill_after(place, lambda _: None)
    changes = place.open()
    changes.begin_turn()
    changes.end_turn()
    assert place.list_state() == []
    with pytest.raises(HeldChangeError, match="not there any more"):
        open_held(place, layer)


# Holds: changes-82
def test_held_changes_are_of_one_call_of_one_project(place: Place, tmp_path: Path) -> None:
    layer = kill_after(place, lambda _: None)
    for project, call, hash in (
        (str(tmp_path), Call("bash"), layer),
        (str(place.project), Call("bash", "another"), layer),
        (str(place.project), Call("bash"), layer[::-1]),
    ):
        with pytest.raises(HeldChangeError):
            place.open().open_held(project, call, hash)
    assert open_held(place, layer) is not None


# Holds: changes-82
def test_a_hash_has_all_that_a_commit_makes(place: Place) -> None:
    change, layer = hold(place, place.open())
    folder = Path(change.layer[0])
    paths = change.list_paths()
    hashes = [layer, hash_shown(layer, paths)]
    (folder / "a").chmod(0o711)
    hashes.append(hash_layer(str(folder)))
    os.utime(folder / "b", ns=(1, 1))
    hashes.append(hash_layer(str(folder)))
    (folder / "c").symlink_to("a")
    hashes.append(hash_layer(str(folder)))
    (folder / "c").unlink()
    (folder / "c").symlink_to("b")
    hashes.append(hash_layer(str(folder)))
    os.mkfifo(folder / "d")
    hashes.append(hash_layer(str(folder)))
    assert len(set(hashes)) == len(hashes)
    assert hash_layer(str(folder)) == hashes[-1]
    change.drop()
