"""Whatever happens to notes, folders and processes, changes are taken back or the reason is named.

Holds: changes-75
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from kept_session import Place, fork, kill, list_undone, redo, run_in_fork, undo, wait_for

from amplifier_modules.changes.change import Change, ChangeError, ChangeOutcome
from amplifier_modules.changes.open_change import Call, CommittedError
from amplifier_modules.changes.recorded_change import RecordedChange
from amplifier_modules.changes.session_lock import ChangesInUseError
from amplifier_modules.sandbox.command import Command, Ending, LaunchError, RunningCommand
from amplifier_modules.sandbox.unconfined import UnconfinedRunner
from amplifier_modules.tools.bash.layered_runner import LayeredRunner

KILLED = -9
GONE = "not kept any more: the notes about them are damaged or gone"
DAMAGED = f"the changes of 1 earlier turn are {GONE}"


def make_truncated(note: Path) -> None:
    note.write_bytes(note.read_bytes()[:40])


def make_foreign(note: Path) -> None:
    note.write_text('{"name": "somebody else\'s"}')


def make_misleading(note: Path) -> None:
    note.write_text(json.dumps(json.loads(note.read_text()) | {"folder": str(note.parents[2])}))


def make_folder(note: Path) -> None:
    note.unlink()
    (note / "full").mkdir(parents=True)


def make_pipe(note: Path) -> None:
    note.unlink()
    os.mkfifo(note)


@pytest.mark.parametrize(
    "damage", [make_truncated, make_foreign, make_misleading, make_folder, make_pipe]
)
def test_a_damaged_note_costs_its_change_alone(
    place: Place, damage: Callable[[Path], None]
) -> None:
    changes = place.open()
    for number in range(3):
        place.run(changes, {f"file-{number}": "1"})
    first, _, third = changes.list_changes()
    notes = place.state / "one"
    damage(notes / "000002.json")
    for name in ("12.json", "notes.json", "000009.txt", "0000x1.json"):
        (notes / name).write_text("{}")

    changes = place.open()
    listed = changes.list_changes()

    lost = RecordedChange(
        2, 1, "", None, "one", "", str(notes / "000002"), is_done=True, removed="damaged"
    )
    assert listed == (first, lost, third)
    assert os.path.lexists(notes / "000002.damaged")
    undone = [list_undone(undo(changes)) for _ in range(4)]
    assert undone == [
        (["file-2"], [], ()),
        (["file-0"], [], (f"1 change of the same turn is {GONE}",)),
        ([], [], ()),
        ([], [], ()),
    ]
    assert place.read() == {"file-1": "1"}


# Holds: changes-76
def test_notes_that_vanished_are_named_and_the_next_turn_is_kept_again(place: Place) -> None:
    changes = place.open()
    place.run(changes, {"a": "1"})
    listed = changes.list_changes()
    shutil.rmtree(place.state)
    assert changes.list_changes() == ()
    assert list_undone(changes.undo(listed)) == ([], [], (DAMAGED,))
    place.run(changes, {"b": "1"})
    assert list_undone(changes.undo(listed))[0] == ["b"]
    assert place.read() == {"a": "1"}


def test_notes_that_vanish_while_a_command_runs_are_named(place: Place) -> None:
    changes = place.open()
    changes.begin_turn()
    change = place.begin(changes)
    shutil.rmtree(place.state)
    with pytest.raises(ChangeError) as error:
        change.commit()
    assert "\n" not in str(error.value)
    place.run(changes, {"b": "1"})
    assert list_undone(undo(changes)) == (["b"], [], ())


def test_a_project_that_is_elsewhere_is_named_and_nothing_is_lost(place: Place) -> None:
    changes = place.open()
    place.run(changes, {"a": "1"})
    place.project.rename(place.project.with_name("moved"))
    undone = undo(changes)
    reason = f"cannot open `{place.project}`: No such file or directory (os error 2)"
    assert list_undone(undone) == ([], [], (reason,))
    place.project.with_name("moved").rename(place.project)
    assert list_undone(undo(changes)) == (["a"], [], ())
    assert place.read() == {}


def test_what_was_interrupted_waits_for_its_project(place: Place) -> None:
    def work() -> None:
        changes = place.open()
        place.begin(changes).record_before({"a": b"1"})
        (place.project / "a").write_text("1")
        kill()

    assert run_in_fork(work) == KILLED
    place.project.rename(place.project.with_name("moved"))
    changes = place.open()
    assert changes.list_changes() == ()
    place.project.with_name("moved").rename(place.project)
    assert [each.is_done for each in changes.list_changes()] == [True]
    assert list_undone(undo(changes)) == (["a"], [], ())
    assert place.read() == {}


# Holds: changes-77
def test_a_change_is_kept_if_its_process_is_killed_before_it_is_noted(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = RecordedChange.save_note

    def save_or_die(recorded: RecordedChange, notes: Path) -> None:
        if recorded.is_done:
            kill()
        save(recorded, notes)

    monkeypatch.setattr(RecordedChange, "save_note", save_or_die)
    assert run_in_fork(lambda: place.run(place.open(), {"a": "1"})) == KILLED
    monkeypatch.undo()
    changes = place.open()
    assert place.read() == {"a": "1"}
    assert [(each.number, each.is_done) for each in changes.list_changes()] == [(1, True)]
    assert list_undone(undo(changes)) == (["a"], [], ())
    assert place.read() == {}


def test_an_undo_is_told_if_its_process_was_killed_before_it_was_noted(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = place.open()
    place.run(changes, {"a": "1"})
    place.run(changes, {"b": "1"})
    save = RecordedChange.save_note

    def save_or_die(recorded: RecordedChange, notes: Path) -> None:
        if recorded.is_undone:
            kill()
        save(recorded, notes)

    monkeypatch.setattr(RecordedChange, "save_note", save_or_die)
    assert run_in_fork(lambda: undo(place.open())) == KILLED
    monkeypatch.undo()
    assert place.read() == {"a": "1"}
    assert list_undone(undo(changes)) == (["b"], [], ())
    assert list_undone(undo(changes)) == (["a"], [], ())
    assert list_undone(redo(changes)) == (["a"], [], ())
    assert place.read() == {"a": "1"}


def test_a_change_that_was_not_even_begun_is_forgotten(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin_half(project: str, folder: str) -> Change:
        Path(folder, "layer").mkdir(parents=True)
        kill()

    monkeypatch.setattr(Change, "begin", begin_half)
    assert run_in_fork(lambda: place.begin(place.open())) == KILLED
    monkeypatch.undo()
    changes = place.open()
    assert place.list_state() == ["one/000001", "one/000001.json"]
    assert changes.list_changes() == ()
    assert place.list_state() == []


# Holds: changes-78
def test_a_fork_has_nothing_of_what_its_process_makes(place: Place) -> None:
    changes = place.open()
    changes.begin_turn()
    change = place.begin(changes)

    def use() -> None:
        with pytest.raises(ChangesInUseError):
            changes.list_changes()
        with pytest.raises(ChangesInUseError):
            changes.begin(str(place.project), Call("bash"))
        changes.close(keep=False)

    assert run_in_fork(use) == 0
    Path(change.layer[0], "a").write_text("1")
    change.commit()
    assert run_in_fork(use) == 0
    changes.end_turn()

    def take_back() -> None:
        assert list_undone(undo(changes)) == (["a"], [], ())
        assert len(place.open().list_changes()) == 1

    assert run_in_fork(take_back) == 0
    assert list_undone(redo(changes)) == (["a"], [], ())


def test_a_fork_does_not_keep_the_lock_of_a_process_that_was_killed(place: Place) -> None:
    reading, writing = os.pipe()

    def work() -> None:
        changes = place.open()
        place.run(changes, {"a": "1"})
        changes.begin_turn()
        place.begin(changes)
        ready, begun = os.pipe()
        if os.fork() == 0:
            os.close(writing)
            os.write(begun, b"1")
            os.read(reading, 1)
            os._exit(0)
        os.read(ready, 1)
        kill()

    assert run_in_fork(work) == KILLED
    try:
        assert list_undone(undo(place.open())) == (["a"], [], ())
    finally:
        os.close(writing)
        os.close(reading)


def test_each_process_sees_what_the_others_have_noted(place: Place) -> None:
    one, other = place.open(), place.open()
    place.run(one, {"a": "1"})
    assert len(other.list_changes()) == 1
    place.run(one, {"b": "1"})
    assert list_undone(undo(other)) == (["b"], [], ())
    assert [each.is_undone for each in one.list_changes()] == [False, True]


def test_a_fork_sees_what_its_process_has_noted_since(place: Place) -> None:
    changes = place.open()
    changes.begin_turn()
    change = place.begin(changes)
    reading, writing = os.pipe()

    def take_back() -> None:
        os.read(reading, 1)
        assert list_undone(undo(changes)) == (["a"], [], ())

    process = fork(take_back)
    Path(change.layer[0], "a").write_text("1")
    change.commit()
    changes.end_turn()
    os.write(writing, b"x")
    assert wait_for(process) == 0
    assert [each.is_undone for each in changes.list_changes()] == [True]
    os.close(reading)
    os.close(writing)


def test_of_two_sessions_the_first_cannot_take_back_what_the_second_has_changed(
    place: Place,
) -> None:
    first, second = place.open("first"), place.open("second")
    place.run(first, {"file": "1", "mine": "1"})
    place.run(second, {"file": "2"})
    undone = undo(first)
    assert list_undone(undone) == (["mine"], ["file"], ())
    assert [(each.reason, each.kept) for each in undone.conflicts] == [
        ("somebody else changed it", None)
    ]
    assert place.read() == {"file": "2"}
    assert list_undone(undo(second)) == (["file"], [], ())
    assert place.read() == {"file": "1"}


class WritingRunner(UnconfinedRunner):
    """Has a command that writes `a` into its layer."""

    def start(self, command: Command, output: int) -> RunningCommand:
        assert command.layer is not None
        Path(command.layer.changes, "a").write_text("1")
        return super().start(replace(command, text="true", layer=None), output)


@pytest.fixture
def runner(place: Place) -> LayeredRunner:
    changes = place.open()
    changes.begin_turn()
    return LayeredRunner(WritingRunner(), str(place.project), changes, Call("bash"))


def start(runner: LayeredRunner) -> None:
    with open(os.devnull, "wb") as nowhere:
        command = Command("echo 1 > a", runner.project, {"PATH": os.defpath})
        runner.start(command, nowhere.fileno()).wait()


# Holds: changes-79
def test_a_commit_that_fails_changes_nothing_and_the_model_reads_why(
    place: Place, runner: LayeredRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Change, chosen: object = None) -> ChangeOutcome:
        raise ChangeError("cannot write `manifest`: no space left")

    start(runner)
    monkeypatch.setattr(Change, "commit", refuse)
    [said] = runner.settle(Ending(0), "")
    assert said == (
        "nothing that the command changed in the project was kept: cannot write `manifest`: no"
        " space left"
    )
    assert (place.read(), place.list_state()) == ({}, [])
    runner.changes.end_turn()
    assert place.open().list_changes() == ()


def test_a_commit_that_fails_at_its_end_can_be_taken_back(
    place: Place, runner: LayeredRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Change.commit

    def fail(change: Change, chosen: object = None) -> ChangeOutcome:
        commit(change)
        raise ChangeError("cannot write `manifest`: no space left")

    start(runner)
    monkeypatch.setattr(Change, "commit", fail)
    [said] = runner.settle(Ending(0), "")
    assert said == (
        "what the command changed is in the project, at least in part: it was interrupted: cannot"
        " write `manifest`: no space left"
    )
    assert place.read() == {"a": "1"}
    runner.changes.end_turn()
    assert list_undone(undo(place.open())) == (["a"], [], ())
    assert place.read() == {}


def test_a_command_whose_changes_others_make_is_not_started(
    place: Place, runner: LayeredRunner
) -> None:
    other = place.open()
    other.begin_turn()
    place.begin(other)
    with pytest.raises(LaunchError) as error:
        start(runner)
    assert str(error.value) == (
        "the changes of the command cannot be kept: the changes of session `one` are in use: a"
        " turn of it runs in another process"
    )


def test_a_note_that_the_disk_refuses_does_not_cost_the_change(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: RecordedChange, notes: Path) -> None:
        raise OSError(28, "No space left on device", str(notes))

    changes = place.open()
    changes.begin_turn()
    change = place.begin(changes)
    Path(change.layer[0], "a").write_text("1")
    with monkeypatch.context() as patched:
        patched.setattr(RecordedChange, "save_note", refuse)
        change.commit()
        with pytest.raises(OSError, match="No space left"):
            place.begin(changes)
        changes.end_turn()
    again = place.open()
    with monkeypatch.context() as patched:
        patched.setattr(RecordedChange, "save_note", refuse)
        assert list_undone(undo(changes)) == (["a"], [], ())
    assert list_undone(undo(again)) == (["a"], [], ())
    assert place.read() == {}
    assert not list(place.state.glob("one/*.new"))


def test_a_change_whose_note_is_gone_is_said_to_be_committed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = place.open()
    changes.begin_turn()
    change = place.begin(changes)
    Path(change.layer[0], "a").write_text("1")
    commit = Change.commit

    def commit_and_remove(change: Change, chosen: object = None) -> ChangeOutcome:
        outcome = commit(change)
        shutil.rmtree(place.state)
        return outcome

    monkeypatch.setattr(Change, "commit", commit_and_remove)
    with pytest.raises(CommittedError) as error:
        change.commit()
    assert str(error.value) == f"it cannot be taken back: `{place.state / 'one'}` is gone"
    assert place.read() == {"a": "1"}
