"""Of thousands of damaged files of sessions, none is read as something that was not written."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "modules/stores"))
from damage import Damage, count_found, flip_bit, truncate

TRIES = 3000


@pytest.mark.timeout(600)
@pytest.mark.parametrize("mode", ["persist", "wal"])
@pytest.mark.parametrize("damage", [flip_bit, truncate])
async def test_damage_is_found_or_does_no_harm(tmp_path: Path, mode: str, damage: Damage) -> None:
    counts = await count_found(tmp_path, mode, damage, TRIES)
    assert (counts["wrong"], sum(counts.values())) == (0, TRIES)
