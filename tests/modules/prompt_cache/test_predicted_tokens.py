"""The tokens that a published rule serves from a cache are predicted from the counts before.

Holds: prefix-5
"""

from __future__ import annotations

import pytest
from cached_session import CachedSession

SESSIONS = 24
"""`tests/proof/test_many_prompts.py` runs a thousand."""


@pytest.mark.parametrize("first", range(0, SESSIONS, 6))
async def test_what_is_predicted_is_what_comes(first: int) -> None:
    seen = [await CachedSession(seed, turns=4).run() for seed in range(first, first + 6)]

    calls = [call for session in seen for call in session.calls]
    assert [(a, b) for a, b in calls if a is not None and a != b] == []
    assert sum(read > 0 for _, read in calls) > len(calls) / 4
