"""A thousand interpreters that end with live coroutines, handlers, loops and threads."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

COUNT = 1_000
SCRIPT = Path(__file__).parents[1] / "kernel" / "interpreter_endings.py"
KINDS = 20
"""How many kinds of endings the script has."""
COMPLAINTS = ("panicked", "Fatal Python error", "Exception ignored", "Traceback")


def programs() -> list[tuple[int, ...]]:
    """Each ending alone, each two of them, and threes and fours by chance: a thousand in all."""
    numbers = range(KINDS)
    given = [*((number,) for number in numbers), *itertools.combinations(numbers, 2)]
    chance = random.Random(0)
    drawn: set[tuple[int, ...]] = set()
    while len(given) + len(drawn) < COUNT:
        drawn.add(tuple(sorted(chance.sample(numbers, chance.choice((3, 4))))))
    return [*given, *sorted(drawn)]


def leave(endings: tuple[int, ...]) -> tuple[tuple[int, ...], int, str]:
    """Run a program with these endings: its exit code, and what it wrote as its last words."""
    command = [sys.executable, str(SCRIPT), *map(str, endings)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return endings, done.returncode, done.stderr


@pytest.mark.timeout(3_000)
def test_a_thousand_interpreters_exit_cleanly(capsys):
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        exits = list(threads.map(leave, programs()))

    bad = [each for each in exits if each[1] != 0 or any(word in each[2] for word in COMPLAINTS)]
    with capsys.disabled():
        print(f"\n{len(exits)} interpreters with {KINDS} kinds of endings: {len(bad)} went wrong")
    assert len(exits) == COUNT
    assert bad == []
