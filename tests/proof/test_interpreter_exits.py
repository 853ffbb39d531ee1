"""A thousand interpreters that end with live coroutines and handlers."""

from __future__ import annotations

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

COUNT = 1_000


@pytest.fixture(scope="module")
def lifecycle() -> ModuleType:
    """The tests of which this is the long form."""
    path = Path(__file__).parents[1] / "kernel" / "test_lifecycle.py"
    spec = importlib.util.spec_from_file_location("lifecycle_in_short", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.timeout(1_800)
def test_a_thousand_interpreters_exit_cleanly(lifecycle):
    def leave(number: int) -> tuple[int, int, str]:
        # The digits of a number to the base of the endings: alone, in pairs and in threes.
        endings = [str(number // 6**place) for place in range(3) if number >= 6**place]
        result = lifecycle.run_python(lifecycle.EXIT_PROGRAM, *(endings or ["0"]))
        return number, result.returncode, result.stderr

    with ThreadPoolExecutor(4) as threads:
        exits = list(threads.map(leave, range(COUNT)))

    assert [each for each in exits if each[1] != 0 or "panicked" in each[2]] == []
