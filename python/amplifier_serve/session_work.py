"""What a worker does with one session that it has taken: the open turn, then the prompts that wait."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio

from amplifier_core import world
from amplifier_core.events import ORCHESTRATOR_COMPLETE
from amplifier_core.session_capabilities import SESSION_JOURNAL, SESSION_STORED_HISTORY
from amplifier_modules.stores import Claim, SessionInfo, Store, StoreError
from amplifier_modules.stores.inbox import CONTINUE, STOP
from amplifier_modules.stores.mail import SessionMail
from amplifier_modules.stores.waiting import wait_for_entries

from .failures import write_failure
from .leased_store import LeasedStore
from .views import TURN_FAILED

if TYPE_CHECKING:
    from amplifier_agent import Agent, Result, Session

LOOK_SECONDS = 0.25
"""How often the inbox of a session is looked at while a turn runs, and its events are stored."""
MAX_FRUITLESS = 5
"""A turn is cancelled that so many have gone on with without any result, as it may end them."""
_AWAITING = "awaiting_approval"
_CANCEL_SECONDS = 5.0
"""How long a turn may take to end that was cancelled as others have the session."""


class SessionWork:
    """The turns of one session, until none waits, it is lost, or the worker stops.

    Args:
        store: The store.
        claim: The claim of the worker.
        info: What is known of the session.
        agent: The agent that its `meta` names.
        say: Takes a line for each thing that is done.
    """

    def __init__(
        self,
        store: Store,
        claim: Claim,
        info: SessionInfo,
        agent: Agent[Any],
        say: Callable[[str], object],
    ) -> None:
        self._claim = claim
        self._agent = agent.replace(store=LeasedStore(store, claim), **_choose_folder(info))
        self._say = say
        self._session: Session[Any] | None = None
        self._journal: Any = None
        self._scope = anyio.CancelScope()
        self._has_ended = anyio.Event()
        self._is_stopping = False
        self.loss: StoreError | None = None
        """Why nothing more is stored; None while the session is held."""
        self.due: float | None = None
        """When the session has to be taken again, as far as that is known."""
        self.turns = 0
        """How many turns have run."""

    @property
    def id(self) -> str:
        """The id of the session."""
        return self._claim.session_id

    def stop(self) -> None:
        """Begin no further turn."""
        self._is_stopping = True

    def lose(self, reason: StoreError) -> None:
        """Store nothing more, and cancel the turn that runs; from any thread."""
        # Whoever has it now does not mind; if nobody has it, its turn is not to be forgotten.
        self.due = world.time()
        self.loss = reason
        if self._journal is not None:
            self._journal.abandon(reason)
        if self._session is not None:
            self._session.cancel()

    async def hand_over(self) -> None:
        """Leave the turn that runs to another worker, as it is stored; wait until it has ended."""
        if self._journal is not None:
            with suppress(StoreError):
                await self._journal.flush()
        self.lose(StoreError(f"session `{self.id}` is given back, as its worker stops"))
        with anyio.move_on_after(_CANCEL_SECONDS):
            await self._has_ended.wait()
        self._scope.cancel()

    async def run(self) -> None:
        """Run the turns.

        Raises:
            Exception: What keeps the session from going on: its modules, its store, the model.
        """
        try:
            with self._scope:
                await self._run_session()
        finally:
            self._has_ended.set()

    async def _run_session(self) -> None:
        async with self._agent.session(session_id=self.id, waits=False) as session:
            self._session = session
            journal = session.session.coordinator.get_capability(SESSION_JOURNAL)
            self._journal = journal
            if self.loss is not None:
                journal.abandon(self.loss)
                return
            async with anyio.create_task_group() as tasks:
                mail = SessionMail(lambda: journal, self._cancel_turn)
                tasks.start_soon(self._watch, mail)
                try:
                    await self._run_turns(session, journal)
                    if self.loss is None:
                        await mail.look()
                        await journal.settle_inbox()
                finally:
                    tasks.cancel_scope.cancel()

    async def _watch(self, mail: SessionMail) -> None:
        """Store what happens as it happens, and take what is sent meanwhile."""
        journal = self._journal
        while True:
            try:
                await wait_for_entries(journal.store, self.id, LOOK_SECONDS)
                await journal.flush()
                await mail.look()
                self._steer()
            except StoreError:  # the turn ends with it
                await world.sleep(LOOK_SECONDS)

    def _steer(self) -> None:
        assert self._session is not None
        coordinator: Any = self._session.session.coordinator
        steering = getattr(coordinator.get("orchestrator"), "steering", None)
        if callable(take := getattr(steering, "take_sent", None)):
            take(self._journal)

    async def _run_turns(self, session: Session[Any], journal: Any) -> None:
        await journal.inbox.look()
        continuing = _take_all(journal, CONTINUE)
        stopping = _take_all(journal, STOP)
        if session.has_open_turn and self._wants_open_turn(session, journal, bool(continuing)):
            history = session.session.coordinator.get_capability(SESSION_STORED_HISTORY)
            is_fatal = history.fruitless >= MAX_FRUITLESS
            if is_fatal:
                self._note_fatal_turn(journal, history.fruitless)
            if is_fatal or any(each.body["turn"] >= journal.turn_began for each in stopping):
                session.session.coordinator.cancellation.request_immediate()
            await self._run_turn(journal, session.resume_turn)
        for each in (*continuing, *stopping):
            await journal.store_arrival(each)
        while self._may_begin() and await self._run_turn(journal, session.run_queued):
            pass

    def _wants_open_turn(
        self, session: Session[Any], journal: Any, is_sub_agent_answered: bool
    ) -> bool:
        """Whether to go on with the open turn: a prompt ends a question that nobody has answered."""
        history = session.session.coordinator.get_capability(SESSION_STORED_HISTORY)
        is_answered = is_sub_agent_answered or journal.questions.has_sent()
        return not history.is_put_off or is_answered or not journal.inbox.count_prompts()

    async def _run_turn(self, journal: Any, run: Callable[[], Any]) -> bool:
        """Run a turn; return whether there was one."""
        from amplifier_agent.answering import list_stored_questions

        began = world.monotonic()
        turn = journal.turn
        try:
            result: Result[Any] | None = await run()
        except Exception as error:
            if self.loss is not None or isinstance(error, StoreError) or journal.turn == turn:
                raise
            await self._note_failure(journal, error)
            return True
        if result is None:
            return False
        if self.loss is not None:
            raise self.loss
        self.turns += 1
        self.due = None
        reason = f": {result.reason}" if result.reason else ""
        self._say(f"turn {result.status} in {world.monotonic() - began:.1f} s{reason}")
        if result.status == _AWAITING:
            questions = await list_stored_questions(journal.store, self.id)
            waits = [each.timeout for each in questions if each.timeout is not None]
            self.due = world.time() + min(waits) if waits else None
        return True

    async def _note_failure(self, journal: Any, error: Exception) -> None:
        """Say why a turn has failed that is over, to those who follow, too.

        Raises:
            Exception: The error, of a turn that is not over.
        """
        await journal.flush()
        rows = await journal.store.read(self.id, after=journal.turn)
        if not any(each.kind == ORCHESTRATOR_COMPLETE for each in rows):
            raise error
        self.turns += 1
        self.due = None
        line = write_failure(error)
        journal.note(TURN_FAILED, {"error": line})
        await journal.flush()
        self._say(f"turn failed: {line}")

    def _note_fatal_turn(self, journal: Any, count: int) -> None:
        """Say that a turn is cancelled which seems to end its workers."""
        line = f"{count} workers have ended, one after the other, while they ran it"
        journal.note(TURN_FAILED, {"error": line})
        self._say(f"turn is cancelled: {line}")

    def _may_begin(self) -> bool:
        return not self._is_stopping and self.loss is None

    def _cancel_turn(self, is_now: bool) -> None:
        if self._session is not None:
            self._session.cancel(graceful=not is_now)


def _take_all(journal: Any, kind: str) -> list[Any]:
    found: list[Any] = []
    while (entry := journal.inbox.take_waiting(kind)) is not None:
        found.append(entry)
    return found


def _choose_folder(info: SessionInfo) -> dict[str, Any]:
    folder = info.meta.get("folder")
    return {"directory": folder} if isinstance(folder, str) else {}
