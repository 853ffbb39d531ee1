"""Thousands of lines of builtins: those that pass act in no shell."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "guard"))

from shell_builtins import SHELLS, builtins_of, find_acting_lines, make_lines, passing

LINES = 10_000


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(2, 5))
@pytest.mark.parametrize("shell", SHELLS)
def test_no_builtin_that_passes_acts_in_a_shell(shell: str, seed: int, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    lines = make_lines(builtins_of(shell), LINES, mark, seed)
    allowed = passing(lines, tmp_path)
    assert len(allowed) > LINES // 20
    assert find_acting_lines(shell, allowed, tmp_path, mark) == []
