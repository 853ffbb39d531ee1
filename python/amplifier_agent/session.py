"""A conversation with an agent: its turns, one at a time."""

from __future__ import annotations

import weakref
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Generic, Self

import anyio

from amplifier_core import AmplifierSession, world
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.plain_data import native_copy_of
from amplifier_core.session_capabilities import (
    SESSION_JOURNAL,
    SESSION_ONE_TURN,
    SESSION_PAUSE,
    SESSION_RESUME,
    SESSION_STATE,
    SESSION_STEER,
    SESSION_STORED_HISTORY,
    TURN_GOES_ON,
)
from amplifier_core.turns import Turns
from amplifier_modules.loops.goal.rules import goal_of, set_goal
from amplifier_modules.spending.budget import Budget
from amplifier_modules.spending.kept_spending import SPENDING, limits_of
from amplifier_providers.running.run_sync import LoopThread

from .approvals import NO_QUESTIONS, WAIT, WaitingQuestions, approval_system
from .arguments import check_goal, check_messages, check_session_id, check_turn
from .plan import Parts
from .record import TurnRecord
from .result import Message, Result
from .start import budget_problems, foreign_loop, goal_problems, start
from .turn import Turn
from .type_parameters import T_co

if TYPE_CHECKING:
    from amplifier_modules.changes.rewind_point import NamedChange
    from amplifier_modules.changes.undone import Undone
    from amplifier_modules.stores import InboxEntry

    from .approvals import Answer
    from .arguments import Prompt
    from .event import Question
    from .feed import Feed
    from .output import Output
    from .rewound import Rewound
    from .stream import Stream, TakeEvent


class _RunningTurn:
    """A turn that runs; its session is None once it is over.

    A task may outlive it, and a timer that was cancelled keeps the context in which it was set: the
    session is not to live as long.
    """

    __slots__ = ("session",)

    def __init__(self, session: Session[Any]) -> None:
        self.session: Session[Any] | None = session


_RUNNING: ContextVar[tuple[_RunningTurn, ...]] = ContextVar("running_turns", default=())
"""The turns within which the code runs, the innermost last."""


class Session(Generic[T_co]):
    """A conversation with an agent; use it with `async with`.

    It belongs to one event loop. `steer`, `pause`, `resume`, `cancel` and `answer` work from any
    thread.
    """

    def __init__(
        self,
        parts: Parts,
        output: Output[T_co] | None = None,
        *,
        messages: Sequence[Message] = (),
        state: object = None,
        session_id: str | None = None,
        parent_id: str | None = None,
        goal: str | None = None,
        waits: bool = True,
    ) -> None:
        """Make a session; `Agent.session` does this. Nothing is loaded yet.

        Args:
            parts: What the agent consists of.
            output: The type of its answers.
            messages: The conversation so far.
            state: What its tools find.
            session_id: Its id.
            parent_id: The id of the session that it works for.
            goal: When its work is done.
            waits: Whether its turns wait for answers to questions that are kept for somebody; a
                session of a single turn does not.

        Raises:
            TypeError: An argument is of the wrong type.
            ValueError: The goal is empty.
        """
        check_messages(messages)
        check_session_id(session_id)
        self._parts = parts
        self._output = output
        self._messages = messages
        self._state = state
        self._thread = LoopThread()
        self._waiting = NO_QUESTIONS
        if parts.approvals == WAIT:
            self._waiting = WaitingQuestions(self._thread, waits_here=waits)
        self.session: AmplifierSession = AmplifierSession(
            native_copy_of(parts.plan),
            session_id=session_id,
            parent_id=parent_id,
            approval_system=approval_system(parts.approvals, self._waiting),
        )
        """The session of the kernel."""
        self._coordinator: Any = self.session.coordinator
        self._coordinator.register_capability(SESSION_STATE, state)
        if not waits:
            self._coordinator.register_capability(SESSION_ONE_TURN, True)
        self._is_open = False
        if goal is not None:
            self.goal = goal
        self._turn: Turn[T_co] | None = None
        """The turn that runs; None at rest, as a session may rest for long."""
        self._record: TurnRecord | None = None
        self._last: Result[T_co] | None = None
        self._turns = Turns()
        self._streams: weakref.WeakSet[Stream[T_co]] | None = None

    @property
    def id(self) -> str:
        """The id of the session."""
        return self.session.session_id

    @property
    def last(self) -> Result[T_co] | None:
        """The result of the last turn, also of one that raised."""
        return self._last

    @property
    def has_open_turn(self) -> bool:
        """Whether another process left a turn open, with which `resume_turn` goes on."""
        stored = self._coordinator.get_capability(SESSION_STORED_HISTORY)
        return self._is_open and stored is not None and stored.prompt is not None

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions that wait for `answer`; with `approvals="wait"`."""
        return self._waiting.questions

    @property
    def goal(self) -> str | None:
        """When the work is done; None for turns that end with the model's answer.

        A turn with a goal goes on until a judge says that it is reached, or it leads nowhere:
        `Result.goal` says which. A goal that is reached is None from then on. It can be set and
        withdrawn while a turn runs.
        """
        return goal_of(self._coordinator)

    @goal.setter
    def goal(self, goal: str | None) -> None:
        check_goal(goal)
        before = goal_of(self._coordinator)
        set_goal(self._coordinator, goal)
        if self._is_open and (problems := goal_problems(self._coordinator)):
            set_goal(self._coordinator, before)
            raise ConfigurationError("; ".join(problems))

    async def run(self, prompt: Prompt, *, budget: Budget | None = None) -> Result[T_co]:
        """Run a turn; it waits until those before it are done.

        Args:
            prompt: What the user says: text, or a list of blocks of text, images and documents.
            budget: What this turn may use, in the place of the agent's budget.

        Raises:
            TypeError, ValueError: The prompt has something that is no block of these.
            RuntimeError: The call comes from a turn of this session, or from the body of its own
                stream: it would wait for itself.
            Exception: What the provider or the context raised; `last` then has the turn.
        """
        return await self.run_turn(prompt, budget, None)

    async def resume_turn(self, *, budget: Budget | None = None) -> Result[T_co]:
        """Go on with the turn that another process has left open, without its prompt said twice.

        Calls that had begun and have no result are not run again, unless their tool is
        `idempotent`, or a person who is asked allows it: the model reads that their outcome is
        unknown. What the turn has used of its budget stays used.

        Args:
            budget: What the whole turn may use; None for the limits that it had.

        Raises:
            RuntimeError: There is no such turn, or the loop cannot go on with one.
            Exception: What the provider or the context raised; `last` then has the turn.
        """
        stored = self._coordinator.get_capability(SESSION_STORED_HISTORY)
        if not self._is_open or stored is None or stored.prompt is None:
            raise RuntimeError(f"session `{self.id}` has no turn that was left open")
        if (foreign := foreign_loop(self._coordinator)) is not None:
            raise RuntimeError(f"the loop `{foreign}` cannot go on with a turn; use one of ours")
        budget = budget or limits_of(stored.states.get(SPENDING))
        return await self.run_turn(stored.prompt, budget, None, goes_on=True)

    async def run_queued(self, *, budget: Budget | None = None) -> Result[T_co] | None:
        """Run the next prompt that `Agent.queue` has stored; None if none waits.

        Each runs in one turn, which `resume_turn` goes on with if the process ends meanwhile.

        Args:
            budget: As for `run`.

        Raises:
            RuntimeError: The session is not open or not stored; or as for `run`.
            StoreError: The store cannot be used.
            Exception: What the provider or the context raised; `last` then has the turn.
        """
        from amplifier_modules.stores.inbox import PROMPT

        journal = self._coordinator.get_capability(SESSION_JOURNAL)
        if not self._is_open or journal is None:
            raise RuntimeError(f"session `{self.id}` is not open with a store")
        await journal.inbox.look()
        entry = journal.inbox.take_waiting(PROMPT)
        if entry is None:
            return None
        is_begun = False
        try:
            result = await self.run_turn(entry.body["text"], budget, None, entry=entry)
            is_begun = True
            return result
        finally:
            if journal.inbox.take_begun() and not is_begun:
                journal.inbox.put_back(entry)

    async def fork(self, at: int | None = None) -> Session[T_co]:
        """Return a new session that has the events of this one; use it with `async with`.

        Args:
            at: The number of the last event that both have, as the store counts them; None for all
                that has happened.

        Raises:
            RuntimeError: The session is not stored.
            ValueError: There is no event of this number.
        """
        journal = self._coordinator.get_capability(SESSION_JOURNAL)
        if not self._is_open or journal is None:
            raise RuntimeError(f"session `{self.id}` is not stored, so it has no forks")
        await journal.flush()
        new_id = str(world.new_uuid())
        await journal.store.fork(self.id, new_id, at=at)
        return Session(self._parts, self._output, state=self._state, session_id=new_id)

    async def undo(self, *, preview: bool = False) -> Undone:
        """Take back what the last turn has changed in the project, and its sub-agents with it.

        Another call takes back the turn before it. The model is told at the end of the
        conversation, which stays. A file that somebody else has changed since stays as it is.

        Args:
            preview: Whether to do nothing, and say only what would be done.

        Raises:
            RuntimeError: A turn runs, or the session keeps no changes.
            ChangesInUseError: Another process has the changes of the session.
        """
        from . import undoing

        with self._at_rest("undo"):
            return await undoing.undo_last_turn(self._coordinator, preview=preview)

    async def redo(self, *, preview: bool = False) -> Undone:
        """Make again what the last `undo` took back, unless something was changed since; as there."""
        from . import undoing

        with self._at_rest("redo"):
            return await undoing.redo_turn(self._coordinator, preview=preview)

    async def rewind(
        self,
        to: int | str,
        *,
        files: bool = True,
        conversation: bool = True,
        preview: bool = False,
    ) -> Rewound[Session[T_co]]:
        """Go back to right after a change, a turn or an event of the session.

        Of the conversation there is a fork then, so that nothing is lost.

        Args:
            to: A change as `list_changes` names it, such as `change-3`; a turn, such as `turn-2`;
                or the number of an event as the store counts them.
            files: Whether what was changed in the project since is taken back.
            conversation: Whether there is a new session that goes on from there.
            preview: As for `undo`.

        Raises:
            RewindPointError: There is none of this name, or it is taken back; a ValueError.
            RuntimeError, ChangesInUseError: As for `undo`; or the session is not stored.
        """
        from . import undoing

        with self._at_rest("rewind"):
            point = await undoing.find_rewind_point(
                self._coordinator, to, files=files, conversation=conversation
            )
            fork = await self.fork(point.event) if conversation and not preview else None
            return await undoing.rewind_files(
                self._coordinator, point if files else None, fork, preview=preview
            )

    async def list_changes(self) -> list[NamedChange]:
        """Return what was changed in the project and not taken back, with what `rewind` takes.

        Raises:
            RuntimeError, ChangesInUseError: As for `undo`.
        """
        from . import undoing

        with self._at_rest("list_changes"):
            return await undoing.list_named_changes(self._coordinator)

    @contextmanager
    def _at_rest(self, verb: str) -> Generator[None]:
        """Let no turn run meanwhile.

        Raises:
            RuntimeError: One runs, or the session is not open.
        """
        if not self._is_open:
            raise RuntimeError(f"session `{self.id}` is not open; use it with `async with`")
        if self._turn is not None and not self._turn.is_over:
            raise RuntimeError(f"a turn of the session runs; `{verb}` when it has ended")
        place = self._turns.begin()
        try:
            if place.waiting is not None:
                raise RuntimeError(f"a turn of the session waits; `{verb}` when it has ended")
            yield
        finally:
            self._turns.forget(place) if place.waiting is not None else place.end()

    def stream(self, prompt: Prompt, *, budget: Budget | None = None) -> Stream[T_co]:
        """Return a turn as a stream of events; the arguments are those of `run`."""
        from .stream import Stream

        check_turn(prompt, budget)
        stream: Stream[T_co] = Stream(
            lambda take_event: self.run_turn(prompt, budget, take_event), self._check_task
        )
        if self._streams is None:
            self._streams = weakref.WeakSet()
        self._streams.add(stream)
        return stream

    def steer(self, text: str) -> None:
        """Say something to the turn that runs, before its next model call.

        With a store the message is on the disk when this returns.

        Raises:
            ValueError: The text is empty.
            SteeringQueueFull: Too many messages wait.
            RuntimeError: The loop takes none.
            StoreError: The message cannot be stored.
        """
        self._call(SESSION_STEER, "the loop takes no messages while a turn runs", text)

    def pause(self) -> None:
        """Hold the turn that runs before its next model call or tool, else the next turn.

        What runs already goes on to its end. Nothing happens if the session is paused.

        Raises:
            RuntimeError: The loop cannot be paused.
        """
        self._call(SESSION_PAUSE, "the loop cannot be paused")

    def resume(self) -> None:
        """Let a paused turn go on; nothing happens if the session is not paused.

        Raises:
            RuntimeError: The loop cannot be paused.
        """
        self._call(SESSION_RESUME, "the loop cannot be paused")

    def _call(self, capability: str, refusal: str, *arguments: str) -> None:
        """Call what the loop offers."""
        offered = self._coordinator.get_capability(capability)
        if not callable(offered):
            raise RuntimeError(refusal)  # noqa: TRY004 -- of the loop
        offered(*arguments)

    def cancel(self, *, graceful: bool = False) -> None:
        """Cancel the turn that runs, if one does; those that wait go on.

        Args:
            graceful: Whether running tools may finish.
        """
        if self._turn is not None and not self._turn.is_over:
            token = self._coordinator.cancellation
            token.request_graceful() if graceful else token.request_immediate()

    def answer(self, question_id: str, answer: Answer) -> None:
        """Answer a question of `questions`; a text denies, and the model gets to read it.

        Raises:
            TypeError: The answer is neither a bool nor a text nor an `ApprovalResponse`.
            ValueError: The answer is a text that agrees, such as `yes`.
            LookupError: No such question waits.
            StoreError: The answer cannot be stored.
        """
        self._waiting.answer(question_id, answer)

    @property
    def state(self) -> object:
        """What the session was given as `state`."""
        return self._state

    @property
    def record(self) -> TurnRecord:
        """What the last turn did; nothing before the first."""
        return self._record or TurnRecord()

    async def __aenter__(self) -> Self:
        """Load the modules.

        Raises:
            ConfigurationError: All that is wrong, in one list.
        """
        self._thread.enter()
        try:
            await start(self.session, self._parts, self._messages, self._state)
        except BaseException:
            await self._clean_up()
            raise
        if self._output is not None:
            await self._output.offer(self._coordinator)
        if self._waiting is not NO_QUESTIONS:
            self._waiting.journal = self._coordinator.get_capability(SESSION_JOURNAL)
        self._is_open = True
        return self

    async def __aexit__(self, *exception: object) -> None:
        """End the session; a turn that waits for answers ends before."""
        self._is_open = False
        if self._waiting.questions:
            await self._end_waiting_turn()
        if any(exception):
            await self._clean_up()
        else:
            await self.session.cleanup()

    async def _end_waiting_turn(self) -> None:
        """Let the turn end whose questions wait: they are answered later, or it is cancelled."""
        if not self._waiting.are_kept:
            self.cancel()
        self._waiting.stop_waiting()
        if any(turn.session is self for turn in _RUNNING.get()):
            return
        with anyio.CancelScope(shield=True):
            place = self._turns.begin()
            if place.waiting is not None:
                await place.wait()
            place.end()

    async def _clean_up(self) -> None:
        with anyio.CancelScope(shield=True):
            await self.session.cleanup()

    async def run_turn(
        self,
        prompt: Prompt,
        budget: Budget | None,
        take_event: TakeEvent | None,
        *,
        goes_on: bool = False,
        entry: InboxEntry | None = None,
    ) -> Result[T_co]:
        """Run a turn and hand over its events, if somebody takes them; for `run` and `stream`."""
        self._check_call(prompt, budget)
        place = self._turns.begin()
        if place.waiting is not None:
            await place.wait()
            if not self._is_open:
                place.end()
                raise RuntimeError("the session was closed before the turn began")
        running = _RUNNING.get()
        around = _RunningTurn(self)
        feed = None
        turn: Turn[T_co] | None = None
        try:
            if problems := budget_problems(self._coordinator, budget):
                raise ConfigurationError("; ".join(problems))
            feed = None if take_event is None else self._make_feed(take_event)
            turn = self._turn = Turn(self.session, self._output, self._waiting, feed)
            self._record = turn.record
            _RUNNING.set((*running, around))
            if feed is not None:
                await feed.start()
            if goes_on:
                self._coordinator.register_capability(TURN_GOES_ON, True)
            if entry is not None:
                self._coordinator.get_capability(SESSION_JOURNAL).inbox.begin_turn(entry)
            return await turn.run(prompt, budget or self._parts.budget)
        finally:
            if turn is not None:
                turn.is_over = True
                self._last = turn.result or self._last
                self._turn = None
            _RUNNING.set(running)
            around.session = None
            if goes_on:
                self._coordinator.register_capability(TURN_GOES_ON, False)
            self._waiting.forget()
            if feed is not None:
                feed.stop()
            place.end()

    def _check_call(self, prompt: Prompt, budget: Budget | None) -> None:
        check_turn(prompt, budget)
        if not self._is_open:
            raise RuntimeError(
                "the session is not open: use it within `async with agent.session()`"
            )
        self._thread.enter()
        running = _RUNNING.get()
        if any(turn.session is self for turn in running):
            raise RuntimeError(
                "`run` was called from a turn of the same session, which it waits for"
            )
        self._check_task()

    def _check_task(self) -> None:
        """Refuse a turn in the body of a stream, whose events nobody takes meanwhile."""
        if not self._streams:
            return
        task = anyio.get_current_task().id
        if any(stream.is_taken_by(task) for stream in self._streams):
            raise RuntimeError(
                "`run` was called in the body of a stream of the same session; take its items to"
                " the end first"
            )

    def _make_feed(self, take_event: TakeEvent) -> Feed:
        from .feed import Feed  # late: most programs have no stream

        waits = self._parts.approvals == "wait"
        return Feed(self.session, take_event, self._waiting.expect if waits else None)


def running_session() -> Session[Any] | None:
    """Return the session whose turn runs here, the innermost of several."""
    running = (turn.session for turn in reversed(_RUNNING.get()))
    return next(filter(None, running), None)
