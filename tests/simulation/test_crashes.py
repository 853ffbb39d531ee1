"""A stored session goes on after a crash at any point as it would have without one; `tests/proof` tries thousands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from crashes import CrashError, simulate_crashes

from amplifier_core.models import HookResult
from amplifier_modules.spawn.tasks import Tasks
from amplifier_modules.stores import Claim, StoredEvent, mounting
from amplifier_modules.stores.recording import Recording
from amplifier_modules.stores.sqlite.session_file import SessionFile
from amplifier_modules.stores.sqlite.session_rows import require_session

SESSIONS = 30


def a_start_is_stored_after_the_effect(patch: pytest.MonkeyPatch) -> None:
    hold = Recording._hold_tool

    async def hold_nothing(self: Any, event: str, data: dict[str, Any]) -> HookResult | None:
        async def flush() -> None:
            return None

        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(self, "_flush", flush)
            return await hold(self, event, data)

    patch.setattr(Recording, "_hold_tool", hold_nothing)


def a_resume_reads_messages_alone(patch: pytest.MonkeyPatch) -> None:
    read = mounting.read_history

    def read_messages(events: Iterable[StoredEvent]) -> Any:
        return read([each for each in events if each.kind != "tool:start"])

    patch.setattr(mounting, "read_history", read_messages)


def whoever_had_a_session_may_write_to_it(patch: pytest.MonkeyPatch) -> None:
    append = SessionFile.append

    def append_anyway(self: Any, claim: Claim, *more: Any) -> Claim:
        info = require_session(self._connection, claim.session_id)
        return append(self, replace(claim, epoch=info.epoch, head=info.head), *more)

    patch.setattr(SessionFile, "append", append_anyway)


def a_sub_agent_begins_anew(patch: pytest.MonkeyPatch) -> None:
    def take_nothing(_tasks: Tasks) -> None:
        return None

    patch.setattr(Tasks, "take_kept", take_nothing)


Plant = Callable[[pytest.MonkeyPatch], None]
FAULTS: dict[Plant, int] = {
    a_start_is_stored_after_the_effect: 60,
    a_resume_reads_messages_alone: 60,
    whoever_had_a_session_may_write_to_it: 100,
    a_sub_agent_begins_anew: 60,
}
"""Each fault, and in how many sessions it must be found."""


# Holds: approval-41, store-5, store-32
def test_a_session_goes_on_as_without_a_crash() -> None:
    outcomes: Counter[str] = Counter()
    stops = 0
    for seed in range(SESSIONS):
        crashed = simulate_crashes(seed)
        stops += crashed.stops
        outcomes += crashed.outcomes
    assert stops >= SESSIONS
    assert {*outcomes} == {"unknown", "not_started"}


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_of_a_store_is_found(plant: Plant) -> None:
    found: CrashError | None = None
    seed = -1
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        for seed in range(FAULTS[plant]):
            try:
                simulate_crashes(seed)
            except CrashError as error:
                found = error
                break
    assert found is not None, f"not found in {FAULTS[plant]} sessions"
    simulate_crashes(seed)
