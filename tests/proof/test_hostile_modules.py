"""Every public callable of every module with hostile values in each of its places."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "kernel" / "test_hostile_input.py"
SPEC = importlib.util.spec_from_file_location("hostile_input_in_short", PATH)
assert SPEC is not None
assert SPEC.loader is not None
hostile = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(hostile)


@pytest.mark.timeout(1_200)
@pytest.mark.parametrize("module", hostile.modules())
def test_hostile_values_in_every_place_never_panic_hang_or_crash(module):
    hostile.assert_harmless(module, "thorough", seconds=1_100)
