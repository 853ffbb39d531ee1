"""`grep` and `glob` in a folder of 20,000 files, beside ripgrep's own command where it is installed.

Both sides read the same files from the cache of the disk, with as many threads as there are cores,
and both find the same lines. The command pays its start, our call the checks of its arguments and
its result.
"""

from __future__ import annotations

import asyncio
import random
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from side_by_side import Figure, Times, run

from amplifier_guard import PathPolicy
from amplifier_modules.tools.search import Glob, Grep

FOLDERS = 400
FILES = 50
"""In each folder."""
LINES = 90
IGNORED = 2_000
ROUNDS = 9
ROOM = 1 << 30
"""Bytes of a result that holds every line."""
EXPRESSIONS = {
    "rare": "needle_in_the_stack",
    "common": "import",
    "none": "nowhere_to_be_found",
    "case": "(?i)NEEDLE",
    "class": r"[a-z]+_value\(\d+\)",
}
"""What is searched for, by the name of the case."""
WORDS = [
    *("value", "result", "import", "return", "index", "count", "folder", "total", "self", "none"),
    *("class", "number", "width", "height", "first", "second", "buffer", "length", "offset"),
    *("reader", "writer", "parser", "handler", "request", "response", "session", "message"),
]


def plant(folder: Path) -> None:
    """Make files that look like source code, with `.gitignore` files among them."""
    chosen = random.Random(1)
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("*.log\n/build/\n__pycache__/\n*.py[co]\n!keep.log\n")
    for number in range(FOLDERS):
        place = folder / f"part_{number % 20:02}" / f"module_{number:03}"
        place.mkdir(parents=True)
        if number % 20 == 0:
            (place / ".gitignore").write_text("# made\n/generated_*\n*.tmp\n")
        for file in range(FILES):
            lines = [" ".join(chosen.choices(WORDS, k=6)) for _ in range(LINES)]
            if chosen.random() < 0.7:
                lines = [line.replace("import", "export") for line in lines]
            if (number * FILES + file) % 2_000 == 7:
                lines[LINES // 2] = "    needle_in_the_stack = other_value(17)"
            (place / f"file_{file:02}.py").write_text("\n".join(lines) + "\n")
    build = folder / "build"
    build.mkdir()
    for number in range(IGNORED):
        (build / f"{number}.py").write_text("import needle_in_the_stack\n" * LINES)


def time_call(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds, and CPU seconds of this process and its children."""

    def used() -> float:
        usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    begun, before = time.perf_counter(), used()
    call()
    return time.perf_counter() - begun, used() - before


def call_tool(tool: Any, **arguments: Any) -> Any:
    """The output of a call."""
    result = asyncio.run(tool.execute(arguments))
    assert result.success, result.error
    return result.output


def start_ripgrep(folder: str, *arguments: str) -> list[bytes]:
    """The lines that the command writes, in any order."""
    command = ["rg", "--hidden", "--glob", "!.git", "--color", "never", *arguments]
    ended = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert ended.returncode in {0, 1}, ended.stderr
    return ended.stdout.splitlines()


def expect_the_same(folder: str, expression: str) -> None:
    """Compare the lines that both sides find."""
    grep = Grep(PathPolicy(folder), max_bytes=ROOM)
    found = call_tool(grep, pattern=expression, limit=100_000)
    ours = [f"{match['path']}:{match['line']}:{match['text']}" for match in found["matches"]]
    theirs = [line.decode() for line in start_ripgrep(folder, "-n", "--no-heading", expression)]
    first = sorted(theirs, key=_place)[: len(ours)]
    assert found["total_matches"] == len(theirs), (expression, found["total_matches"], len(theirs))
    assert ours == first, expression


def _place(line: str) -> tuple[str, int]:
    path, number, _ = line.split(":", 2)
    return path, int(number)


def measure() -> Times:
    """Seconds of both sides, in turns."""
    has_ripgrep = shutil.which("rg") is not None
    taken: dict[str, list[float]] = {}

    def note(name: str, call: Callable[[], Any]) -> None:
        wall, cpu = time_call(call)
        taken.setdefault(name, []).append(wall)
        taken.setdefault(f"{name} cpu", []).append(cpu)

    with tempfile.TemporaryDirectory() as folder:
        plant(Path(folder))
        policy = PathPolicy(folder)
        grep, glob = Grep(policy), Glob(policy)
        assert call_tool(glob, pattern="*.py")["total"] == FOLDERS * FILES
        if has_ripgrep:
            for expression in EXPRESSIONS.values():
                expect_the_same(folder, expression)
        for _ in range(ROUNDS):
            for name, expression in EXPRESSIONS.items():
                note(name, lambda pattern=expression: call_tool(grep, pattern=pattern))
                if has_ripgrep:
                    note(f"{name} rg", lambda one=expression: start_ripgrep(folder, "-n", one))
            note("files", lambda: call_tool(glob, pattern="*.py"))
            if has_ripgrep:
                note("files rg", lambda: start_ripgrep(folder, "--files", "-g", "*.py"))
    return {name: statistics.median(each) for name, each in taken.items()}


SHOWN = {
    "rare": "lines of a rare expression",
    "common": "of a common one",
    "none": "of one that is nowhere",
    "case": "of one in any case",
    "class": "of one without a fixed beginning",
    "files": "files by name",
}
# The names alone have no goal: `glob` also reads the size of each file.
GOALS = dict.fromkeys(SHOWN, 1.5) | {"files": None}
FIGURES = [
    figure
    for name, what in SHOWN.items()
    for figure in (
        Figure(f"{what}, against ripgrep", name, share=GOALS[name], against=f"{name} rg"),
        Figure("the same in CPU time", f"{name} cpu", share=GOALS[name], against=f"{name} rg cpu"),
    )
]

if __name__ == "__main__":
    run(__file__, measure, "searches of 20,000 files", FIGURES, rounds_by_default=1)
