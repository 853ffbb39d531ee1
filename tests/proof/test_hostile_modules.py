"""Every public callable of every package with hostile values in each of its places, and in two."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PARTS = 8


@pytest.fixture(scope="module")
def hostile() -> ModuleType:
    """The tests of which this is the long form."""
    path = Path(__file__).parents[1] / "kernel" / "test_hostile_input.py"
    spec = importlib.util.spec_from_file_location("hostile_input_in_short", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.timeout(3_000)
@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_values_in_every_place_never_panic_hang_or_crash(hostile, part, capsys):
    count, *findings = hostile.run("walk.py", "thorough", f"{part}/{PARTS}")

    with capsys.disabled():
        print(f"\npart {part + 1} of {PARTS}: {count}")
    assert findings == []


@pytest.mark.timeout(3_000)
@pytest.mark.parametrize("part", range(3))
def test_hostile_values_never_hang_or_crash_plain_python(hostile, part, capsys):
    count, *findings = hostile.run("walk.py", "short", f"{part}/3", AMPLIFIER_ENGINE="python")

    with capsys.disabled():
        print(f"\npart {part + 1} of 3 in plain Python: {count}")
    assert findings == []
