"""Ends or freezes the process of a stored session at any point, and goes on in another.

`crashes.py SEED [COUNT]` repeats seeds.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from broken import BrokenPromiseError
from seeded_loop import LoopWorld
from stored_work import ID, REPEATABLE, Effects, Life, StoppedError, WorkPlan, draw_work

from amplifier_core.world import use
from amplifier_modules.stores import StoredEvent, StoreError, UnknownSessionError
from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_modules.stores.stored_history import read_history

MEMORY = Path("/dev/shm")


class CrashError(AssertionError):
    """A session has not gone on as it must; its seed repeats it."""


@dataclass
class Crashed:
    """A session that has gone on as it must."""

    stops: int = 0
    """How often its process ended or froze."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """What is known of the calls that were under way."""


def simulate_crashes(seed: int) -> Crashed:
    """Run the session of a seed without a crash, and again with some.

    Raises:
        CrashError: It has not gone on as it must.
    """
    try:
        with (
            _quiet(),
            tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place,
        ):
            simulation = _Simulation(seed, Path(place))
            try:
                return simulation.run()
            finally:
                simulation.end()
    except Exception as error:
        again = f"repeat it with: python tests/simulation/crashes.py {seed}"
        raise CrashError(f"seed {seed}: {error!r}\n{again}") from error


class _Simulation:
    def __init__(self, seed: int, place: Path) -> None:
        self._random = Random(f"crashes {seed}")
        self._place = place
        self._plan: WorkPlan = draw_work(self._random)
        self._effects = Effects()
        self._outcomes: dict[str, str] = {}
        """What must be said of the calls that were under way, by their ids."""
        self._unsure: set[str] = set()
        """The calls of sub-agents that were under way, which go on and say so to those alone."""
        self._crashed = Crashed()
        self._lives: list[Life] = []

    def end(self) -> None:
        """End all processes."""
        for life in self._lives:
            life.end()

    def run(self) -> Crashed:
        whole = Effects()
        life = self._begin_life(None, whole, self._place / "whole")
        self._run_life(life)
        folder = self._place / "crashed"
        frozen: list[tuple[Life, list[StoredEvent]]] = []
        for _ in range(self._random.choice((1, 1, 2, 3))):
            stop_at = self._random.randint(1, life.points)
            stopping = self._begin_life(stop_at, self._effects, folder)
            if not self._run_life(stopping):
                break
            self._crashed.stops += 1
            events = _read(folder, ID)
            self._note_open_calls(events, folder)
            if self._random.random() < 0.3:
                frozen.append((stopping, events))
            else:
                stopping.end()
        self._run_life(self._begin_life(None, self._effects, folder))
        for thawed, events in frozen:
            self._thaw(thawed, events)
        self._check(_read(self._place / "whole", ID), _read(folder, ID), whole)
        self._crashed.outcomes.update(self._outcomes.values())
        return self._crashed

    def _begin_life(self, stop_at: int | None, effects: Effects, folder: Path) -> Life:
        random = Random(self._random.random())
        life = Life(self._plan, effects, folder, random, stop_at)
        self._lives.append(life)
        return life

    def _run_life(self, life: Life) -> bool:
        """Run a process; return whether it has stopped before its end."""
        with use(LoopWorld(life.loop, Random(self._random.random()))):
            try:
                life.run()
            except StoppedError:
                return True
        if {*life.statuses} - {"completed"}:
            raise BrokenPromiseError(f"turns ended as {life.statuses}")
        return False

    def _thaw(self, life: Life, stored: list[StoredEvent]) -> None:
        """Let a process go on whose session another has taken over.

        Args:
            life: The process.
            stored: What was stored when it froze.
        """
        before = len(self._effects.acknowledged)
        try:
            self._run_life(life)
        except StoreError:
            new = self._effects.acknowledged[before:]
            if any(answer not in _list_answers(stored) for answer in new):
                raise BrokenPromiseError(f"a stale process has acknowledged {new}") from None

    def _note_open_calls(self, events: list[StoredEvent], folder: Path) -> None:
        history = read_history(events)
        started, tasks = {*history.started}, {**history.tasks}
        calls = history.take_open_calls()
        for call in (*calls.written, *calls.unwritten):
            if call.result is not None:
                continue
            if call.id not in started:
                self._outcomes[call.id] = "not_started"
            elif call.id in tasks:
                for child in tasks[call.id]:
                    self._unsure |= read_history(_read(folder, child)).started.keys()
            elif call.name not in REPEATABLE:
                self._outcomes[call.id] = "unknown"

    def _check(self, whole: list[StoredEvent], events: list[StoredEvent], effects: Effects) -> None:
        expected, found = read_history(whole).messages, read_history(events).messages
        for message in (*expected, *found):
            message.get("metadata", {}).pop("timestamp", None)
        for message in expected:
            if message["role"] == "tool":
                outcome = self._outcomes.get(message["tool_call_id"])
                if outcome is not None:
                    message |= {"content": None, "is_error": True}
                    message["metadata"] = {"outcome": outcome}
        for message in found:
            if message.get("metadata", {}).get("outcome"):
                message["content"] = None
        if found != expected:
            pairs = zip([*found, *[None] * len(expected)], expected, strict=False)
            first = next((pair for pair in pairs if pair[0] != pair[1]), "more messages")
            raise BrokenPromiseError(f"the history is not that without a crash: {first}")
        answers = _list_answers(events)
        if lost := [each for each in self._effects.acknowledged if each not in answers]:
            raise BrokenPromiseError(f"{lost} was acknowledged and is lost")
        if any(a.epoch > b.epoch for a, b in pairwise(events)):
            raise BrokenPromiseError("a stale process has stored something")
        self._check_effects(events, {number for number, _ in effects.runs})

    def _check_effects(self, events: list[StoredEvent], expected: set[str]) -> None:
        runs = Counter(number for number, _ in self._effects.runs)
        started = {e.body["tool_call_id"] for e in events if e.kind == "tool:start"}
        for number, count in runs.items():
            own = number.partition("-")[0]
            if count > 1 and own not in REPEATABLE:
                raise BrokenPromiseError(f"{number} ran {count} times")
            is_of_expert = "expert" in number
            if not is_of_expert and number not in started:
                raise BrokenPromiseError(f"the journal does not know of {number}")
        if len({*self._effects.runs}) != len(runs):
            raise BrokenPromiseError("a call that ran again had another key")
        unsure = self._unsure | {*self._outcomes} | {f"add-{id}" for id in self._outcomes}
        if missing := expected - runs.keys() - unsure:
            raise BrokenPromiseError(f"{missing} did not run")


def _list_answers(events: list[StoredEvent]) -> list[str]:
    """Return the texts that ended turns."""
    messages = read_history(events).messages
    blocks = [
        block for each in messages if each["role"] == "assistant" for block in each["content"]
    ]
    return [block["text"] for block in blocks if block["type"] == "text"]


def _read(folder: Path, id: str) -> list[StoredEvent]:
    async def read() -> list[StoredEvent]:
        # Another one, as another process would have: it writes nothing.
        store = SqliteStore(folder=str(folder), journal_mode="persist")
        store._writer = _Direct()
        try:
            return await store.read(id)
        except UnknownSessionError:
            return []
        finally:
            store._files.close()

    return asyncio.run(read())


class _Direct:
    async def run(self, work: Callable[[], Any]) -> Any:
        return work()


@contextmanager
def _quiet() -> Any:
    """Say nothing of what ends with its process."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def main(first: int, count: int = 1) -> int:
    """Run the sessions of so many seeds; return 1 if one has not gone on as it must."""
    stops, broken = 0, 0
    outcomes: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            crashed = simulate_crashes(seed)
        except CrashError as error:
            broken += 1
            print(error, flush=True)
            continue
        stops += crashed.stops
        outcomes += crashed.outcomes
    print(f"{count} sessions, {stops} stops, {broken} broken; {dict(outcomes)}")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
