"""A thousand random sessions: what is predicted of the cache comes, and nearly all is predicted.

Holds: prefix-5, prefix-7
"""

from __future__ import annotations

import asyncio
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "modules" / "prompt_cache"))

from cached_session import CachedSession, Seen

SESSIONS = 1_000
LEAST_SHARE = 0.95


def run_session(seed: int) -> Seen:
    return asyncio.run(CachedSession(seed).run())


@pytest.mark.timeout(7_200)
def test_what_is_predicted_comes_and_nearly_all_is_predicted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as processes:
        seen = list(processes.map(run_session, range(SESSIONS), chunksize=10))

    calls = [call for session in seen for call in session.calls]
    predicted = [call for call in calls if call[0] is not None]
    causes = sorted({cause for session in seen for _, cause in session.changes})
    with capsys.disabled():
        print(f"\n{SESSIONS:,} sessions, {len(calls):,} calls, {len(predicted):,} predicted")
    assert [(one, other) for one, other in predicted if one != other] == []
    assert len(predicted) >= LEAST_SHARE * len(calls)
    assert causes == ["compaction", "messages", "model", "tools"]
