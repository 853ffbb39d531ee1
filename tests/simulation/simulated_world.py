"""What happens in one simulated session and its sub-agents, and whether it may."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from random import Random
from typing import Any

from broken import BrokenPromiseError
from budgets import SpentTurn
from event_pairs import EventPairs
from history_check import WatchedHistory
from pursued_goal import PursuedGoal
from session_plan import SessionPlan
from simulated_person import SimulatedPerson

from amplifier_modules.spending.budget import Budget

ASKING: ContextVar[str] = ContextVar("asking_session")
"""The session that asks a model here."""

TRACED = (
    "timestamp",
    "tool_call_id",
    "task_id",
    "status",
    "reason",
    "iteration",
    "index",
    "block_index",
    "kind",
)
"""What of an event goes into the trace; ids and times are those of the seed, too."""

_ADDRESS = re.compile(r"0x[0-9a-f]+")

LEFT_BEHIND_SECONDS = 20.0
"""How long what a session has left behind, as it ignored its cancellation, may go on after it."""


class SessionRecord:
    """What is known of one session, the root or a sub-agent."""

    def __init__(self, number: int) -> None:
        """Begin with nothing."""
        self.number = number
        self.pairs = EventPairs()
        self.goal = PursuedGoal()
        self.history = WatchedHistory()
        self.coordinator: Any = None
        self.last_number = 0
        """That of the last message that was told; one may be told twice."""
        self.has_begun = False
        """Whether its first turn has begun, before which its history is only being filled."""
        self.turn: SpentTurn | None = None
        """The turn that runs, or ran last."""
        self.ending_reason: str | None = None


class World:
    """Takes all that happens, and raises where a promise is broken."""

    def __init__(self, random: Random, plan: SessionPlan) -> None:
        """Begin with no sessions."""
        self.random = random
        self.plan = plan
        self.person = SimulatedPerson(random, lambda session_id: self.sessions[session_id].turn)
        self.sessions: dict[str, SessionRecord] = {}
        self.broken: BrokenPromiseError | None = None
        """The first promise that was broken; raised after the batch."""
        self.is_closed = False
        """Whether the root was closed, and no model is to be called any more."""
        self.trace: list[tuple[Any, ...]] = []
        self.raised: set[int] = set()
        """The errors that models have raised, by their identity."""
        self._kept_errors: list[BaseException] = []
        self._jobs: dict[str, tuple[SpentTurn | None, Budget | None]] = {}
        self._ran: set[int] = set()
        self._number = 0
        self.steered: Counter[str] = Counter()
        """Messages that steer, how many times each was given; minus where it came out."""

    def number(self) -> int:
        """Return the next number, which no one else gets."""
        self._number += 1
        return self._number

    def pause_length(self) -> float:
        """Draw how long something takes, in seconds."""
        return self.random.choice((0.0, 0.0, 0.0, 0.5, 0.5, 1.0, 2.5))

    async def pause(self) -> None:
        """Take some time, or at least let others go on."""
        await asyncio.sleep(self.pause_length())

    # Sessions and their turns

    def adopt(self, coordinator: Any) -> None:
        """Watch the session of a coordinator."""
        record = self.session(coordinator.session_id)
        record.coordinator, record.history = coordinator, WatchedHistory()
        record.has_begun, record.last_number = False, 0

    def session(self, id: str) -> SessionRecord:
        """Return what is known of a session."""
        if id not in self.sessions:
            self.sessions[id] = SessionRecord(len(self.sessions))
        return self.sessions[id]

    def job(self, session_id: str | None, budget: Budget | None, words: str = "") -> str:
        """Return a prompt for a turn that draws on the running turn of a session."""
        prompt = f"job {self.number()} {words}".strip()
        around = None if session_id is None else self.sessions[session_id].turn
        self._jobs[prompt] = around, budget
        return prompt

    def cancel_turn(self, session_id: str) -> None:
        """Note that the running turn of a session is to end."""
        record = self.sessions.get(session_id)
        if record is not None and record.turn is not None and record.pairs.is_in_turn:
            record.turn.is_cancelled = True

    # Events

    def hear(self, event: str, data: Mapping[str, Any]) -> None:
        """Take an event of any session."""
        with self.noting():
            self._hear(event, data)

    @contextmanager
    def noting(self) -> Generator[None]:
        """Keep a broken promise for the end of the batch, whoever would catch it before."""
        try:
            yield
        except BrokenPromiseError as broken:
            self.note_broken(broken)

    def note_broken(self, broken: BrokenPromiseError) -> None:
        """Keep the first promise that was broken, for the end of the batch."""
        self.trace.append(("broken", str(broken)))
        self.broken = self.broken or broken

    def _hear(self, event: str, data: Mapping[str, Any]) -> None:
        record = self.session(str(data.get("session_id")))
        told = tuple(
            _ADDRESS.sub("", str(data[key])) for key in TRACED if data.get(key) is not None
        )
        self.trace.append((self._now(), record.number, event, *told))
        if event == "execution:start":
            self._begin_turn(record, data)
        turn = record.turn
        if event == "llm:pre":
            ASKING.set(str(data["session_id"]))
        if turn is not None and event == "provider:request" and "purpose" not in data:
            record.goal.check_request()
            turn.note_request(is_aside=False)
        if turn is not None and event == "llm:pre" and "purpose" in data:
            turn.note_request(is_aside=True)
        if event == "tool:start" and turn is not None:
            turn.begin_tool()
            self.person.check_start(data["tool_call_id"])
        if event == "budget:warning" and turn is not None:
            turn.note_warning(data["kind"], self._now())
        if event == "orchestrator:complete":
            record.ending_reason = data.get("reason")
        if event == "execution:end" and turn is not None:
            turn.end(self._now(), record.ending_reason)
            self._check_history(record, may_wait=False)
        if event == "context:message" and data["number"] > record.last_number:
            record.last_number = data["number"]
            self.steered[str(data["message"]["content"])] -= data["source"] == "steering"
            if data["source"] == "goal":
                record.goal.note_round(self.plan.loop["config"]["goal_max_rounds"])
        for text in data["messages"] if event == "orchestrator:steering_discarded" else ():
            self.steered[text] -= 1
        record.pairs.note(event, data)

    def _begin_turn(self, record: SessionRecord, data: Mapping[str, Any]) -> None:
        try:
            around, budget = self._jobs.pop(data["prompt"])
        except KeyError:
            message = f"a turn began twice, or with a prompt of nobody: {data['prompt']!r}"
            raise BrokenPromiseError(message) from None
        record.ending_reason, record.has_begun = None, True
        record.goal.begin_turn()
        record.turn = SpentTurn(str(data["session_id"]), budget, around, self._now())

    # Models and tools

    def begin_call(self, *, is_closing: bool) -> SpentTurn:
        """Note that a model is called here; return the turn that calls it."""
        turn = self.sessions[ASKING.get()].turn
        assert turn is not None
        with self.noting():  # what a model raises is no news to a loop
            if self.is_closed:
                raise BrokenPromiseError("a model is called after the session was closed")
            turn.begin_call(is_closing=is_closing)
        return turn

    def will_raise(self, error: BaseException) -> BaseException:
        """Return an error that a model raises, and remember it."""
        self.raised.add(id(error))
        self._kept_errors.append(error)
        return error

    def run_once(self, nonce: int) -> None:
        """Note that the tool of a call runs."""
        self.trace.append((self._now(), "tool", nonce))
        if nonce in self._ran:
            self.note_broken(BrokenPromiseError(f"the call {nonce} ran twice"))
        self._ran.add(nonce)

    # Checks

    def check(self) -> None:
        """Check what must hold after every batch of callbacks.

        Raises:
            BrokenPromiseError: Something does not.
        """
        if self.broken is not None:
            raise self.broken
        for record in self.sessions.values():
            self._check_history(record, may_wait=record.pairs.is_in_turn)

    async def check_closed(self) -> None:
        """Check that nothing is left of the sessions, soon after the root was closed.

        Raises:
            BrokenPromiseError: Something is.
        """
        self.is_closed = True
        await asyncio.sleep(LEFT_BEHIND_SECONDS)
        self.check()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        if tasks:
            raise BrokenPromiseError(f"tasks are left after the session was closed: {tasks}")
        for record in self.sessions.values():
            record.pairs.check_closed("after the session was closed")
        lost = [text for text, count in self.steered.items() if count]
        if lost:
            raise BrokenPromiseError(f"neither added once nor discarded once: {lost}")

    def digest(self) -> str:
        """Return what two runs of the same seed have in common."""
        return hashlib.sha256(repr(self.trace).encode()).hexdigest()

    def _check_history(self, record: SessionRecord, *, may_wait: bool) -> None:
        if not record.has_begun or record.coordinator is None:
            return
        context = record.coordinator.get("context")
        if context is None:
            return
        try:
            context.get_messages().send(None)
        except StopIteration as stop:
            record.history.check(stop.value, may_wait=may_wait)

    def _now(self) -> float:
        return round(asyncio.get_running_loop().time(), 6)
