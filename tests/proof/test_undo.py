"""Random commands on real overlays are undone exactly, whoever edits and whatever is killed meanwhile."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "modules/changes")]

from overlay import find_obstacle, run_on_overlay
from random_commands import RandomCommand, look

from amplifier_modules.changes.change import Change

CHUNKS = 10
RUNS = int(os.environ.get("UNDO_RUNS", "3000"))
KILLS = RUNS // 10

COMMANDS = Path(__file__).with_name("random_commands.py")
KILLED = Path(__file__).with_name("killed_changes.py")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    if (obstacle := find_obstacle()) is not None:
        pytest.skip(obstacle)
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


def begin(folder: Path, seed: int) -> tuple[Path, Change]:
    """A random project, and a change of it that begins."""
    project = folder / f"project-{seed}"
    project.mkdir()
    RandomCommand(project, -seed - 1, names=["user.one"]).run(30)
    return project, Change.begin(str(project), str(folder / f"change-{seed}"))


def run_command(project: Path, change: Change, seed: int) -> list[str]:
    """Run a random command on the overlay, and return what it saw at its end."""
    seen = project.parent / f"seen-{seed}"
    command = f"'{sys.executable}' -I -S '{COMMANDS}' '{project}' {seed} '{seen}'"
    run_on_overlay(change, project, command)
    return seen.read_text().split("\n")


# Holds: changes-2, changes-3
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_commands_are_undone_and_redone_exactly(folder: Path, chunk: int) -> None:
    for seed in range(chunk, RUNS, CHUNKS):
        project, change = begin(folder, seed)
        before = look(project)
        after = run_command(project, change, seed)
        assert look(project) == before, seed
        assert change.commit().conflicts == [], seed
        assert look(project) == after, seed
        assert change.undo().conflicts == [], seed
        assert look(project) == before, seed
        assert change.redo().conflicts == [], seed
        assert look(project) == after, seed
        change.remove()
        shutil.rmtree(project)


class Person:
    """Writes files, each with a text that is nowhere else."""

    def __init__(self, project: Path, seed: int) -> None:
        self._project = project
        self._random = random.Random(seed)
        self._edits: dict[Path, str] = {}

    def edit(self) -> None:
        """Write over or create two files."""
        for _ in range(2):
            names = [self._random.choice("abcde") for _ in range(self._random.choice([1, 2, 3]))]
            path = self._project.joinpath(*names)
            text = f"edit {self._random.random()}"
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                path.write_text(text)
                self._edits[path.resolve()] = text

    def find_lost(self) -> list[Path]:
        """Return the edits that are not in the project."""
        return [
            path
            for path, text in self._edits.items()
            if path.is_symlink() or not path.is_file() or path.read_text() != text
        ]


# Holds: changes-4
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_edit_of_a_person_is_lost(folder: Path, chunk: int) -> None:
    edits = 0
    for seed in range(chunk, RUNS // 2, CHUNKS):
        project, change = begin(folder, seed)
        person = Person(project, seed)
        when = seed // CHUNKS % 3
        run_command(project, change, seed)
        steps = (change.commit, change.undo, change.redo)
        for number, step in enumerate(steps):
            if number == when:
                person.edit()
            edits += bool(step().conflicts)
            assert person.find_lost() == [], seed
        change.remove()
        shutil.rmtree(project)
    assert edits > 0


# Holds: changes-8
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_change_that_is_killed_is_recovered(folder: Path, chunk: int) -> None:
    halves = 0
    for seed in range(chunk, KILLS, CHUNKS):
        project, change = begin(folder, seed)
        looks = {"open": look(project)}
        looks["undone"] = looks["open"]
        looks["committed"] = run_command(project, change, seed)
        pause = random.Random(seed).random() * 0.02
        for _ in range(3):
            arguments = [sys.executable, str(KILLED), str(project), str(folder / f"change-{seed}")]
            with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
                assert process.stdout is not None
                process.stdout.readline()
                sleep(pause)
                process.kill()
            halves += change.state == "half"
            change.recover()
            assert look(project) == looks[change.state], seed
            if change.state == "undone":
                change.redo()
        change.remove()
        shutil.rmtree(project)
    assert halves > 0
