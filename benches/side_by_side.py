"""Two installations of `amplifier_core`, measured in turns: CPU time, ratios, medians.

A script gives `run` a function that measures and the figures to reach. `run` starts the script
once more under the Python of each side, round after round in alternating order, and compares
what they print. All times are CPU seconds of the whole process, threads included.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

IMPORTS = 7
"""Times that a program is started to see what its imports cost."""
SHORTEST_TIMING = 0.25
"""CPU seconds: what is shorter says more about the clock than about the code."""

Times = dict[str, float]
"""CPU seconds of one operation, or another quantity of it, by the name of the case."""


def duration(seconds: float) -> str:
    """A time in the unit that suits it: `4.31 µs`."""
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if abs(seconds) * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


@dataclass(frozen=True)
class Figure:
    """A ratio to reach: how many times faster, or at most which share of the other."""

    what: str
    case: str
    """The case measured on our side."""
    times_faster: float | None = None
    share: float | None = None
    against: str | None = None
    """The case of our own side to compare with; without it, one of the reference."""
    peer: str | None = None
    """Which case of the reference that is; without it, the same."""
    shown: Callable[[float], str] = duration
    """How a measured value is written."""

    def is_measured(self, reference: Times, ours: Times) -> bool:
        """Whether both sides have what it takes; a library may not be installed there."""
        if self.case not in ours:
            return False
        if self.against is not None:
            return self.against in ours
        return (self.peer or self.case) in reference

    def other(self, reference: Times, ours: Times) -> float:
        """What our case is compared with."""
        if self.against is not None:
            return ours[self.against]
        return reference[self.peer or self.case]

    def ratio(self, reference: Times, ours: Times) -> float:
        """What one round says: a multiple for `times_faster`, else a share."""
        other = self.other(reference, ours)
        own = ours[self.case]
        return other / own if self.times_faster is not None else own / other

    def is_reached(self, ratio: float) -> bool:
        """Whether the ratio is on the right side of the target."""
        if self.times_faster is not None:
            return ratio >= self.times_faster
        return self.share is None or ratio <= self.share

    def row(self, reference: Sequence[Times], ours: Sequence[Times]) -> list[str]:
        """The medians of all rounds, as one line of the table."""
        ratio = statistics.median(map(self.ratio, reference, ours))
        others = list(map(self.other, reference, ours))
        if self.times_faster is not None:
            target, reached = f">= {self.times_faster:g}x", f"{ratio:.1f}x"
        else:
            target = "" if self.share is None else f"<= {self.share:g}"
            reached = f"{ratio:.3f}"
        return [
            self.what,
            self.shown(statistics.median(others)),
            self.shown(statistics.median(times[self.case] for times in ours)),
            target,
            reached,
            "" if not target else "reached" if self.is_reached(ratio) else "MISSED",
        ]


async def time_each(repeat: Callable[[int], Awaitable[object]]) -> float:
    """CPU seconds of one operation.

    Args:
        repeat: Runs the operation the given number of times. The first calls, which find out
            how many make a timing long enough, are the warm-up.
    """
    count = 1
    while True:
        gc.collect()
        start = time.process_time()
        await repeat(count)
        elapsed = time.process_time() - start
        if elapsed >= SHORTEST_TIMING:
            return elapsed / count
        count = max(2 * count, int(1.2 * count * SHORTEST_TIMING / max(elapsed, 1e-6)))
        count = min(count, 10_000_000)


def import_time(program: str) -> float:
    """CPU seconds of a fresh interpreter that runs the program, without its own start."""

    def once(text: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-I", "-c", text], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    once(program)
    return statistics.median(once(program) - once("pass") for _ in range(IMPORTS))


def run(
    script: str,
    measure: Callable[[], Times],
    title: str,
    figures: Sequence[Figure],
    rounds_by_default: int = 5,
) -> None:
    """Measure both sides in turns and print the table, or be one side of it.

    Args:
        script: The path of the calling script, which is started again for each measurement.
        measure: Measures all cases in the interpreter that it runs in.
        title: What the table is about.
        figures: The rows of the table.
        rounds_by_default: How often both sides are measured if `--rounds` does not say it.
    """
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--reference", help="the Python of the reference")
    parser.add_argument("--rounds", type=int, default=rounds_by_default)
    parser.add_argument("--measure", action="store_true", help="print this side's times as JSON")
    options = parser.parse_args()
    if options.measure:
        json.dump(measure(), sys.stdout)
        return

    ours: list[Times] = []
    reference: list[Times] = []
    sides = [(sys.executable, ours), (options.reference or sys.executable, reference)]
    for number in range(options.rounds):
        for python, rounds in sides if number % 2 else reversed(sides):
            command = [python, script, "--measure"]
            rounds.append(
                json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            )

    measured = [each for each in figures if all(map(each.is_measured, reference, ours))]
    header = [title, "reference", "ours", "target", "median", ""]
    table = [header, *(figure.row(reference, ours) for figure in measured)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for name, *cells in table:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        print(name.ljust(widths[0]), *padded, sep="  ")
    print()
