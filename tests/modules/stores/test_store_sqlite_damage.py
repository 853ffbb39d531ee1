"""Whatever happens to a file of sessions, nothing wrong is read from it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from damage import Damage, count_found, flip_bit, truncate


# Holds: store-8
@pytest.mark.parametrize("mode", ["persist", "wal"])
@pytest.mark.parametrize("damage", [flip_bit, truncate])
async def test_damage_is_found_or_does_no_harm(tmp_path: Path, mode: str, damage: Damage) -> None:
    counts = await count_found(tmp_path, mode, damage, 60)
    assert counts["wrong"] == 0
    assert counts["detected"] >= 20
    assert sum(counts.values()) == 60
