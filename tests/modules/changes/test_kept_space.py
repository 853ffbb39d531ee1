"""Changes are kept within their space, and an undo says what is not kept any more.

Holds: changes-70
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from kept_session import Place, list_undone, redo, undo

from amplifier_modules.changes import ignored_changes, kept_space
from amplifier_modules.changes.change import ChangedPath
from amplifier_modules.changes.kept_space import count_bytes, find_limit
from amplifier_modules.changes.session_changes import SessionChanges

BLOCK = b"x" * 50_000
SPACE = "all changes together may take 2 GiB, or 10 % of the free space"


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets what all changes may take."""

    def set_limit(size: int) -> None:
        def find(_folder: str) -> int:
            return size

        monkeypatch.setattr(kept_space, "find_limit", find)

    return set_limit


def change_often(place: Place, changes: SessionChanges, count: int) -> None:
    """Write over one file in so many turns; each change keeps the version from before."""
    for number in range(count):
        place.run(changes, {"file": BLOCK + str(number).encode()})


def list_kept(changes: SessionChanges) -> list[int]:
    return [each.number for each in changes.list_changes() if each.removed is None]


def test_the_limit_is_two_gibibytes_or_a_tenth_of_what_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(blocks: int) -> int:
        def look(_folder: str) -> SimpleNamespace:
            return SimpleNamespace(f_bavail=blocks, f_frsize=4096)

        monkeypatch.setattr(os, "statvfs", look)
        return find_limit(str(tmp_path))

    assert [find(1000), find(10**9)] == [409_600, 2 * 2**30]


def test_a_change_is_counted_by_its_files_and_if_they_are_too_many_by_its_paths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a").write_bytes(b"x" * 8192)
    (tmp_path / "link").symlink_to("/")
    listed = [ChangedPath("a", "deleted", "file", None, None, 10**9)]
    assert 8192 <= count_bytes(str(tmp_path), listed) < 30_000
    monkeypatch.setattr(kept_space, "_MAX_COUNTED", 1)
    assert count_bytes(str(tmp_path), listed) == 10**9
    assert count_bytes(str(tmp_path / "gone"), listed) == 0


def test_the_oldest_changes_of_a_session_go_first(
    place: Place, limit: Callable[[int], None]
) -> None:
    changes = place.open()
    limit(250_000)
    change_often(place, changes, 6)
    kept = list_kept(changes)
    assert kept == [4, 5, 6]
    sizes = [each.size for each in changes.list_changes()]
    assert sizes[:3] == [0, 0, 0]
    assert 150_000 < sum(sizes) <= 250_000
    state = [f"one/{each:06}.json" for each in range(1, 7)] + [f"one/{each:06}" for each in kept]
    assert place.list_state() == sorted(state)

    last = [list_undone(undo(changes)) for _ in kept]

    assert last == [(["file"], [], ())] * 3
    missing = (f"the changes of 3 earlier turns are not kept any more: {SPACE}",)
    assert list_undone(undo(changes)) == list_undone(undo(changes)) == ([], [], missing)
    assert place.read() == {"file": f"{BLOCK.decode()}2"}
    assert [list_undone(redo(changes)) for _ in kept] == [(["file"], [], ())] * 3
    assert place.read() == {"file": f"{BLOCK.decode()}5"}
    assert list_undone(redo(changes)) == ([], [], ())


def test_a_change_that_takes_too_much_alone_is_not_kept(
    place: Place, limit: Callable[[int], None]
) -> None:
    changes = place.open()
    change_often(place, changes, 2)
    limit(50_000)
    change_often(place, changes, 1)
    assert list_kept(changes) == []
    limit(100_000)
    change_often(place, changes, 1)
    assert list_kept(changes) == [4]


def test_an_undo_of_a_turn_of_which_a_part_is_kept_says_so(
    place: Place, limit: Callable[[int], None]
) -> None:
    changes = place.open()
    limit(150_000)
    place.run(changes, {"file": BLOCK})
    changes.begin_turn()
    for content in ("1", "2", "3", "4"):
        change = place.begin(changes)
        Path(change.layer[0], "file").write_bytes(BLOCK + content.encode())
        change.commit()
    changes.end_turn()

    kept = list_kept(changes)
    undone = undo(changes)

    assert kept == [4, 5]
    missing = f"2 changes of the same turn are not kept any more: {SPACE}"
    assert list_undone(undone) == (["file"], [], (missing,))
    assert place.read() == {"file": f"{BLOCK.decode()}2"}


# Holds: changes-71
def test_sessions_that_nobody_has_open_go_before_newer_changes_of_this_one(
    place: Place, limit: Callable[[int], None]
) -> None:
    old, idle, running, own = (place.open(name) for name in ("old", "idle", "running", "own"))
    for number, changes in enumerate((running, old, idle)):
        change_often(place, changes, 2)
        os.utime(place.state / ("running", "old", "idle")[number] / "sizes.json", (number, number))
    running.begin_turn()
    running_change = place.begin(running)
    limit(7 * idle.list_changes()[-1].size)
    change_often(place, own, 3)

    assert list_kept(own) == [1, 2, 3]
    assert list_kept(old) == []
    assert list_kept(idle) == [1, 2]
    running_change.drop()
    running.end_turn()
    assert list_kept(running) == [1, 2]
    assert list_undone(undo(old))[2] == (
        f"the changes of 2 earlier turns are not kept any more: {SPACE}",
    )


def test_where_all_others_are_open_only_the_last_change_of_this_session_stays(
    place: Place, limit: Callable[[int], None]
) -> None:
    other, own = place.open("other"), place.open("own")
    change_often(place, other, 4)
    other.begin_turn()
    other.list_changes()
    limit(150_000)
    change_often(place, own, 3)
    assert list_kept(own) == [3]
    assert list_kept(other) == [1, 2, 3, 4]


# Holds: changes-72
def test_what_git_ignores_is_kept_for_the_last_five_commands(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ignored_changes, "MIN_BYTES", 40_000)
    changes = place.open()
    (place.project / "target").mkdir()
    (place.project / ".gitignore").write_text("target/\n")
    for name in ("target/a", "target/b", "file"):
        (place.project / name).write_bytes(BLOCK)
    place.run(changes, {"file": "1"})
    place.run(changes, {"target/a": "1", "target/new/c": "1"})
    place.run(changes, {"target/b": "1", "other": "1"})
    before = place.read()
    for number in range(3):
        place.run(changes, {"small": str(number)})
    place.write(changes, "by-a-tool", "written")
    assert list_kept(changes) == [1, 2, 3, 4, 5, 6, 7]

    place.run(changes, {"small": "last"})

    assert list_kept(changes) == [1, 3, 4, 5, 6, 7, 8]
    assert [undo(changes).changes for _ in range(5)] == [1] * 5
    assert place.read() == before
    assert list_undone(undo(changes)) == (["other", "target/b"], [], ())
    missing = (
        "the changes of 1 earlier turn are not kept any more: what git ignores is kept for the"
        " last five commands"
    )
    assert list_undone(undo(changes)) == ([], [], (missing,))
    assert list_undone(undo(changes)) == (["file"], [], ())
    assert list_undone(undo(changes)) == ([], [], ())
    assert list_undone(redo(changes)) == (["file"], [], ())
    assert list_undone(redo(changes))[2] == (missing.replace("earlier turn", "turn"),)
    assert list_undone(redo(changes)) == (["other", "target/b"], [], ())
