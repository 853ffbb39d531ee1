"""Random commands on real overlays are undone exactly, whoever edits and whatever is killed meanwhile."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from time import sleep

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "modules/changes")]

from file_systems import FILE_SYSTEMS, mount_file_system
from overlay import find_obstacle, run_on_overlay
from random_commands import ATTRIBUTES, RandomCommand, look

from amplifier_modules.changes.change import Change

CHUNKS = 10
RUNS = int(os.environ.get("UNDO_RUNS", "3000"))
KILLS = RUNS // 10

ON_EACH = [
    (kind, chunk)
    for kind in FILE_SYSTEMS
    for chunk in range(CHUNKS if kind == "here" else CHUNKS // 3)
]
"""A file system, and which of the runs: all here, a third on each other."""

COMMANDS = Path(__file__).with_name("random_commands.py")
KILLED = Path(__file__).with_name("killed_changes.py")


@pytest.fixture
def folder(tmp_path: Path, kind: str) -> Iterator[Path]:
    if (obstacle := find_obstacle()) is not None:
        pytest.skip(obstacle)
    with mount_file_system(kind, tmp_path) as folder:
        yield folder
    shutil.rmtree(tmp_path, ignore_errors=True)


def make_project(folder: Path, seed: int) -> Path:
    """A random project."""
    project = folder / f"project-{seed}"
    project.mkdir()
    RandomCommand(project, -seed - 1, names=ATTRIBUTES[:1]).run(30)
    return project


def begin(folder: Path, seed: int) -> tuple[Path, Change]:
    """A random project, and a change of it that begins."""
    project = make_project(folder, seed)
    return project, Change.begin(str(project), str(folder / f"change-{seed}"))


def run_command(
    project: Path, change: Change, seed: int, names: Sequence[str] = ATTRIBUTES
) -> list[str]:
    """Run a random command on the overlay, and return what it saw at its end."""
    seen = project.parent / f"seen-{seed}"
    command = f"'{sys.executable}' -I -S '{COMMANDS}' '{project}' {seed} '{seen}' {' '.join(names)}"
    run_on_overlay(change, project, command)
    return seen.read_text().split("\n")


# Holds: changes-2, changes-3
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("kind", "chunk"), ON_EACH)
def test_random_commands_are_undone_and_redone_exactly(folder: Path, chunk: int) -> None:
    for seed in range(chunk, RUNS, CHUNKS):
        project = make_project(folder, seed)
        looks = [look(project)]
        changes: list[Change] = []
        for number in range(1 + seed % 3):
            change = Change.begin(str(project), str(folder / f"change-{seed}-{number}"))
            # No later command sees an attribute that is of the kernel.
            names = ATTRIBUTES if number == seed % 3 else ATTRIBUTES[:2]
            after = run_command(project, change, seed + number * RUNS, names)
            assert look(project) == looks[-1], seed
            assert change.commit().conflicts == [], seed
            assert look(project) == after, seed
            looks.append(after)
            changes.append(change)
        for number in reversed(range(len(changes))):
            assert changes[number].undo().conflicts == [], seed
            assert look(project) == looks[number], seed
        for number, change in enumerate(changes):
            assert change.redo().conflicts == [], seed
            assert look(project) == looks[number + 1], seed
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
@pytest.mark.parametrize(("kind", "chunk"), ON_EACH)
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
@pytest.mark.parametrize(("kind", "chunk"), ON_EACH)
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
