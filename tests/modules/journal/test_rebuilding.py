"""The history is what its events say: it is rebuilt from a journal of them, whatever happened."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest
from random_session import RandomSession

SESSIONS = int(os.environ.get("RANDOM_SESSIONS", "25"))
"""How many of each kind, on each event loop; `tests/proof` runs more."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Hooks and tools of these sessions fail all the time, and say so."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


# Holds: agent-17, agent-18, agent-19, agent-20
@pytest.mark.parametrize("foreign", [False, True], ids=["ours", "foreign"])
async def test_a_history_is_rebuilt_exactly_from_its_events(foreign: bool) -> None:
    for seed in range(SESSIONS):
        session = RandomSession(seed, foreign=foreign)
        try:
            await session.run()
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise
        assert session.checked
