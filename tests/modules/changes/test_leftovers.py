"""What killed processes leave of sessions without a store is removed by a later session.

Holds: changes-73
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from kept_session import Place, kill, list_undone, run_in_fork, undo

from amplifier_modules.changes import session_changes
from amplifier_modules.changes.session_changes import SessionChanges

KILLED = -9


def leave(place: Place, name: str, *, is_stored: bool = False) -> None:
    """Have a process killed after a turn, and in the next one."""

    def work() -> None:
        changes = place.open(name, is_stored=is_stored)
        place.run(changes, {name: "1"})
        changes.begin_turn()
        place.begin(changes)
        kill()

    assert run_in_fork(work) == KILLED


def test_what_is_not_stored_is_removed_when_its_process_was_killed(place: Place) -> None:
    living = place.open("living", is_stored=False)
    place.run(living, {"living": "1"})
    leave(place, "stored", is_stored=True)
    leave(place, "unstored")
    assert "unstored/unstored" in place.list_state()
    assert "stored/unstored" not in place.list_state()

    later = place.open("later")
    place.run(later, {"later": "1"})

    assert not (place.state / "unstored").exists()
    assert place.list_state() == [
        "later/000001",
        "later/000001.json",
        "living/000001",
        "living/000001.json",
        "living/unstored",
        "stored/000001",
        "stored/000001.json",
        "stored/000002",
        "stored/000002.json",
    ]
    assert list_undone(undo(living)) == (["living"], [], ())
    assert list_undone(undo(place.open("stored"))) == (["stored"], [], ())
    living.close(keep=False)
    assert not (place.state / "living").exists()


def test_a_session_that_is_stored_later_stays(place: Place) -> None:
    events: list[int | None] = [None]

    def work() -> None:
        changes = SessionChanges(place.state, "chat", lambda: events[0])
        place.run(changes, {"a": "1"})
        assert "chat/unstored" in place.list_state()
        events[0] = 7
        place.run(changes, {"b": "1"})
        kill()

    assert run_in_fork(work) == KILLED
    place.run(place.open("later"), {"later": "1"})
    kept = place.open("chat").list_changes()
    assert [(each.number, each.event) for each in kept] == [(1, None), (2, 7)]


def test_a_session_that_is_closed_as_stored_stays(place: Place) -> None:
    changes = place.open("chat", is_stored=False)
    place.run(changes, {"a": "1"})
    changes.close(keep=True)
    place.run(place.open("later"), {"later": "1"})
    assert len(place.open("chat").list_changes()) == 1


def test_sessions_that_look_at_once_remove_each_of_them(place: Place) -> None:
    for number in range(5):
        leave(place, f"left-{number}")
    sessions = [place.open(f"later-{number}") for number in range(4)]
    barrier = Barrier(len(sessions))

    def work(changes: SessionChanges) -> None:
        barrier.wait()
        place.run(changes, {f"file-{sessions.index(changes)}": "1"})

    with ThreadPoolExecutor(len(sessions)) as threads:
        assert list(threads.map(work, sessions)) == [None] * len(sessions)
    # Who saw another one at work has left it alone: the next one is alone.
    place.run(place.open("last"), {"last": "1"})
    assert sorted(path.name for path in place.state.iterdir()) == [
        "last",
        *(f"later-{number}" for number in range(4)),
    ]


# Holds: changes-74
def test_changes_beside_a_project_go_when_nothing_is_noted_of_them(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = place.project.parent / ".amplifier-changes"
    beside.mkdir()

    def choose_beside(_project: Path, _usual: Path) -> Path:
        return beside

    monkeypatch.setattr(session_changes, "choose_folder", choose_beside)
    elsewhere = Place.__new__(Place)
    elsewhere.project, elsewhere.state = place.project, place.state.with_name("other-state")
    gone, kept, other = place.open("gone"), place.open("kept"), elsewhere.open("other")
    for number, changes in enumerate((gone, kept, other)):
        place.run(changes, {f"file-{number}": "1"})
    running = place.begin(kept)
    for folder in (place.state / "gone", elsewhere.state / "other"):
        for note in folder.iterdir():
            note.unlink()
    (beside / "foreign").mkdir()
    (beside / "foreign-000001").mkdir()

    place.run(place.open("later"), {"later": "1"})

    assert sorted(path.name for path in beside.iterdir()) == [
        "foreign",
        "foreign-000001",
        "kept-000001",
        "kept-000002",
        "later-000001",
        "other-000001",
    ]
    running.drop()
    assert list_undone(undo(kept)) == (["file-1"], [], ())
    kept.close(keep=False)
    assert not (beside / "kept-000001").exists()


def test_a_removal_that_was_interrupted_is_finished(place: Place) -> None:
    changes = place.open("chat", is_stored=False)
    place.run(changes, {"file": "1"})
    (Path(place.state, "chat", "000001.json")).unlink()
    changes.close(keep=True)
    (place.state / "chat" / "unstored").touch()
    place.run(place.open("later"), {"later": "1"})
    assert not (place.state / "chat").exists()
