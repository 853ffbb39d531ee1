"""The simulation finds what it is there for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from broken import BrokenPromiseError
from planted_faults import FAULTS
from seeded_loop import StuckError
from simulation import SimulationError, simulate

FINDINGS = (BrokenPromiseError, StuckError)


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(plant: Callable[[pytest.MonkeyPatch], None]) -> None:
    found: SimulationError | None = None
    seed = -1
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        for seed in range(FAULTS[plant]):
            try:
                simulate(seed)
            except SimulationError as error:
                found = error
                break

    assert found is not None, f"not found in {FAULTS[plant]} sessions"
    assert isinstance(found.__cause__, FINDINGS), found
    simulate(seed)
