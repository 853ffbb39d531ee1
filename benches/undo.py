"""What it costs that the changes of a session can be taken back: commands in layers, writes, undo.

Times on the clock are medians of turns in which the ways alternate; those of a processor are ratios of
the same run, of this process and of the commands that it has waited for.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from side_by_side import Figure, Times, run

from amplifier_core import ModuleCoordinator
from amplifier_core.session_capabilities import PROJECT_CHANGES
from amplifier_modules.changes.open_change import Call
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.sandbox.command import Command, CommandRunner, Tier
from amplifier_modules.sandbox.sandbox import Sandbox
from amplifier_modules.tool.context import CURRENT, ToolContext
from amplifier_modules.tools import filesystem
from amplifier_modules.tools.bash.layered_runner import LayeredRunner

LAUNCHES = 60
WRITES = 60
COMMITS = 30
LARGE_COMMITS = 5
STATUSES = 7
FILES = 20_000
ALLOWED = {
    "launch": 0.030,
    "layer": 0.010,
    "commit of 1": 0.003,
    "commit of 10,000": 1.0,
    "git status": 0.200,
    "undo of 100": 0.030,
}
"""Seconds that each may take."""


class Clock:
    """Times of several ways that take turns."""

    def __init__(self) -> None:
        self._taken: dict[str, list[tuple[float, float]]] = {}

    def measure(self, name: str, work: Callable[[], object]) -> None:
        """Measure one way once."""
        begun, spent = time.perf_counter(), read_processor()
        work()
        self.note(name, time.perf_counter() - begun, read_processor() - spent)

    def note(self, name: str, wall: float, processor: float) -> None:
        """Note what one way took once, on the clock and of a processor."""
        self._taken.setdefault(name, []).append((wall, processor))

    def find_wall(self, name: str) -> float:
        """The median of the seconds on the clock."""
        return statistics.median(wall for wall, _ in self._taken[name])

    def find_processor(self, name: str) -> float:
        """The mean of the seconds of a processor."""
        return statistics.fmean(spent for _, spent in self._taken[name])


def read_processor() -> float:
    """Seconds of a processor that this process and its children have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Place:
    """A project, its sandbox, and the changes of a session."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        temporary = folder / "temporary"
        self.project.mkdir(parents=True)
        temporary.mkdir()
        self.changes = SessionChanges(folder / "state", "session", lambda: 1)
        self.sandbox = Sandbox(str(self.project), str(temporary), Tier.NAMESPACES)

    def run_in_layer(self, text: str) -> None:
        """Run a command in a layer, and put what it changed into the project."""
        runner = LayeredRunner(self.sandbox, str(self.project), self.changes, Call("bash"))
        self.run(runner, text)

    def run(self, runner: CommandRunner, text: str) -> None:
        """Run a command, and wait for its end."""
        command = Command(text, str(self.project), {"PATH": os.environ["PATH"], "HOME": "/"})
        with open(os.devnull, "wb") as nowhere:
            ending = runner.start(command, nowhere.fileno()).wait()
        assert ending.exit_code == 0, ending
        if isinstance(runner, LayeredRunner):
            assert runner.settle(ending, "") == ()

    def commit(self, files: int, content: str, clock: Clock, name: str) -> None:
        """Measure the commit of a layer that has so many files."""
        change = self.changes.begin(str(self.project), Call("bash"))
        assert change is not None
        write_files(Path(change.layer[0]), files, content)
        clock.measure(name, change.commit)

    def undo(self) -> None:
        """Take back the last turn."""
        undone = self.changes.undo(self.changes.list_last_turn())
        assert (undone.conflicts, undone.missing) == ((), ())


class Session:
    """What a tool asks its session for."""

    session_id = "session"

    def __init__(self, changes: SessionChanges | None) -> None:
        self._changes = changes

    def get_capability(self, name: str) -> Any:
        """The changes, if they are kept."""
        return self._changes if name == PROJECT_CHANGES else None


def write_files(folder: Path, files: int, content: str) -> None:
    """Write so many small files, a hundred to a folder."""
    for number in range(files):
        if number % 100 == 0:
            (folder / f"folder-{number // 100}").mkdir(exist_ok=True)
        (folder / f"folder-{number // 100}" / f"{number}.txt").write_text(content)


def measure_launches(place: Place, clock: Clock) -> Times:
    """A command that does nothing, without a sandbox, in one, and in a layer."""

    def start_shell() -> None:
        subprocess.run(["bash", "--norc", "-c", "true"], stdin=subprocess.DEVNULL, check=True)

    place.changes.begin_turn()
    for _ in range(LAUNCHES):
        clock.measure("subprocess", start_shell)
        clock.measure("sandbox", lambda: place.run(place.sandbox, "true"))
        clock.measure("launch", lambda: place.run_in_layer("true"))
    place.changes.end_turn()
    plain, sandbox, layer = map(clock.find_wall, ("subprocess", "sandbox", "launch"))
    return {
        "launch": layer - plain,
        "layer": layer - sandbox,
        "launch, processor": clock.find_processor("launch"),
        "sandbox, processor": clock.find_processor("sandbox"),
    }


def measure_commits(folder: Path, clock: Clock) -> Times:
    """Commits of one file and of many, and the undo of a turn with 100 files."""
    times: Times = {}
    for files, rounds in ((1, COMMITS), (10_000, LARGE_COMMITS)):
        place = Place(folder / f"commits-{files}")
        write_files(place.project, files, "before")
        name = f"commit of {files:,}"
        with closing(place.sandbox):
            for number in range(rounds):
                place.changes.begin_turn()
                place.commit(files, str(number), clock, name)
                place.changes.end_turn()
        times[name] = clock.find_wall(name)
    place = Place(folder / "undo")
    write_files(place.project, 100, "before")
    with closing(place.sandbox):
        for number in range(COMMITS):
            place.changes.begin_turn()
            place.commit(100, str(number), clock, "commit of 100")
            place.changes.end_turn()
        for _ in range(COMMITS):
            clock.measure("undo of 100", place.undo)
    times["undo of 100"] = clock.find_wall("undo of 100")
    return times


def measure_status(folder: Path, clock: Clock) -> Times:
    """`git status` in a layer, and in the sandbox alone."""
    place = Place(folder / "status")
    write_files(place.project, FILES, "text")
    settings = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for words in (["init", "-q"], ["add", "."], [*settings, "commit", "-qm", "All"]):
        subprocess.run(["git", "-C", str(place.project), *words], check=True)
    status = "GIT_OPTIONAL_LOCKS=0 git status --porcelain"
    with closing(place.sandbox):
        place.changes.begin_turn()
        for _ in range(STATUSES):
            clock.measure("git status", lambda: place.run_in_layer(status))
            clock.measure("git status, sandbox", lambda: place.run(place.sandbox, status))
        place.changes.end_turn()
    return {name: clock.find_wall(name) for name in ("git status", "git status, sandbox")}


async def measure_writes(folder: Path, clock: Clock) -> Times:
    """`write_file` with and without kept changes."""
    place = Place(folder / "writes")
    coordinator = ModuleCoordinator()
    await filesystem.mount(coordinator, {"root": str(place.project)})
    write = coordinator.get("tools")["write_file"]

    sessions = {"write, not kept": Session(None), "write, kept": Session(place.changes)}

    with closing(place.sandbox):
        place.changes.begin_turn()
        for number in range(WRITES):
            for name, session in sessions.items():
                CURRENT.set(ToolContext("call", "key", session, None, lambda _: None))
                arguments = {"path": f"{name}.txt", "content": f"{number}\n" * 200}
                begun, spent = time.perf_counter(), read_processor()
                assert (await write.execute(arguments)).success
                clock.note(name, time.perf_counter() - begun, read_processor() - spent)
        place.changes.end_turn()
    walls = {name: clock.find_wall(name) for name in sessions}
    return walls | {f"{name}, processor": clock.find_processor(name) for name in sessions}


def measure() -> Times:
    """All of it."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "launches")
        with closing(place.sandbox):
            times = measure_launches(place, clock)
        times |= measure_commits(Path(folder), clock)
        times |= measure_status(Path(folder), clock)
        times |= asyncio.run(measure_writes(Path(folder), clock))
    return times | {f"{name}, allowed": seconds for name, seconds in ALLOWED.items()}


FIGURES = [
    Figure("a launch in a layer, above subprocess", "launch", share=1.0, against="launch, allowed"),
    Figure("the same, above the sandbox", "layer", share=1.0, against="layer, allowed"),
    Figure("CPU, against the sandbox", "launch, processor", against="sandbox, processor"),
    Figure("a commit of 1 file", "commit of 1", share=1.0, against="commit of 1, allowed"),
    Figure(
        "a commit of 10,000 files",
        "commit of 10,000",
        share=1.0,
        against="commit of 10,000, allowed",
    ),
    Figure("`git status` of 20,000 files", "git status", share=1.0, against="git status, allowed"),
    Figure("against the sandbox", "git status", against="git status, sandbox"),
    Figure("undo of 100 files", "undo of 100", share=1.0, against="undo of 100, allowed"),
    Figure("`write_file`, against one not kept", "write, kept", against="write, not kept"),
    Figure("the same, CPU", "write, kept, processor", against="write, not kept, processor"),
]

if __name__ == "__main__":
    run(__file__, measure, "changes that can be taken back", FIGURES, rounds_by_default=1)
