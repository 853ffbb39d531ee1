"""The journal of a session: what happened, on its way to the store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

import anyio

from amplifier_core.events import LLM_REQUEST
from amplifier_core.message_models import ChatRequest

from ..contexts.timestamp import write_now
from ..loops.boundary.call_context import TOOL_START, TOOL_STEP
from ..loops.boundary.kept_questions import KeptQuestions
from ..spawn.kept_tasks import KeptTasks
from .digests import RequestDigests, digest_request
from .errors import SessionExistsError, StaleOwnerError, StoreError, UnknownSessionError
from .inbox import Inbox
from .store import Claim, Event, InboxEntry, NewSession, Store
from .stored_history import StoredHistory

logger = logging.getLogger(__name__)

Describe: TypeAlias = Callable[[], Iterable[tuple[str, Any]]]
"""Returns states: their kinds, and what they are now."""

ASKED = "session:asked"
"""The kind of the row that says what another process has asked of the session."""
ORIGIN_NUMBER = 1
"""The number of the event that a new session begins with."""


class Journal:
    """Collects the events of one session, and stores them when somebody waits for that.

    A new session begins with the first of them. After a failure nothing more is stored: what the
    session did since would not be known.
    """

    def __init__(
        self,
        store: Store,
        session_id: str,
        owner: str,
        start: Claim | NewSession,
        *,
        parent: Journal | None = None,
        history: StoredHistory | None = None,
        entries: Iterable[InboxEntry] = (),
    ) -> None:
        """Write to a session.

        Args:
            store: The store.
            session_id: The id of the session.
            owner: Who claims it.
            start: The claim of a session that is stored, or what a new one begins with.
            parent: The journal of the session that started it, as a sub-agent.
            history: What is stored of it; None for a new one.
            entries: What it was sent and has not used yet.
        """
        history = history or StoredHistory()
        self.store = store
        self.session_id = session_id
        self._owner = owner
        self._start = start
        self._claim = start if isinstance(start, Claim) else None
        self._parent = parent
        self._states = dict(history.states)
        """The states that were noted last, by their kinds."""
        self._watched: list[Describe] = []
        self._waiting: list[Event] = []
        self._done: list[int] = []
        """The entries of the inbox that what waits has used."""
        self._keys: dict[str, str] = {}
        self._repeated: dict[str, str] = {}
        self._unsure = 0, 0
        """How many of those that wait may be stored: their caller was cancelled meanwhile."""
        self._has_tried_to_begin = False
        self._was_begun_by_entry = False
        """Whether the store has the session because it was sent something."""
        self._late_meta: Mapping[str, Any] | None = None
        """What lists show of the session, where it was not known when the store got it."""
        self._failure: StoreError | None = None
        self.turn = 0
        """The number of the event that the turn began with; 0 before the first."""
        self.turn_began = history.turn_began
        """The same, also where the turn was begun by another process and goes on here."""
        self._is_abandoned = False
        self.awaits_requests = False
        """Whether the loop stores its requests itself before it asks a model."""
        self._digests = RequestDigests()
        self._lock = anyio.Lock(fast_acquire=True)
        self.questions = KeptQuestions(self, history.questions, history.answers)
        """The questions about its tool calls that have no end yet."""
        self._steps = dict(history.steps)
        """How far its open calls are, by their ids."""
        self.tasks = KeptTasks(history.tasks)
        """The sub-agents of its open calls, as another process has begun them."""
        self.inbox = Inbox(store, session_id, self.questions, self._begin_for_entry, entries)
        """What it was sent and has not used yet."""

    @property
    def epoch(self) -> int:
        """How often the session was claimed, this time included."""
        return 1 if self._claim is None else self._claim.epoch

    @property
    def last_number(self) -> int:
        """The number of the last event that was noted."""
        head = ORIGIN_NUMBER if self._claim is None else self._claim.head
        return head + len(self._waiting)

    @property
    def is_stored(self) -> bool:
        """Whether the store has the session: a new one begins with its first event."""
        return self._claim is not None

    def set_title(self, title: str) -> None:
        """Set what lists show of a new session; nothing if it has begun."""
        if self._claim is None and isinstance(self._start, NewSession):
            self._start = replace(self._start, meta={**self._start.meta, "title": title})
            if self._was_begun_by_entry:
                self._late_meta = self._start.meta

    async def rename(self, name: str) -> None:
        """Give the session a name, which lists show and by which it is found.

        Raises:
            StoreError: It is not stored.
        """
        if self._claim is None and isinstance(self._start, NewSession):
            self._start = replace(self._start, meta={**self._start.meta, "name": name})
            return
        await self.flush()
        async with self._lock:
            infos = await self.store.sessions()
            info = next((each for each in infos if each.id == self.session_id), None)
            if info is not None and self._claim is not None:
                named = {**info.meta, "name": name}
                self._claim = await self.store.append(self._claim, [], meta=named)

    @property
    def _has_begun(self) -> bool:
        """Whether anything has happened: a session of which only states are known leaves nothing."""
        return self._claim is not None or bool(self._waiting)

    def note(self, kind: str, body: Any, done: Iterable[int] = ()) -> int:
        """Take note of what happened; return the number that the event will have.

        Args:
            kind: Its kind.
            body: What it says, as JSON.
            done: The entries of the inbox that it has used.
        """
        self._waiting.append((kind, body))
        self._done += done
        return self.last_number

    def note_done(self, entries: Iterable[int]) -> None:
        """Take note that entries of the inbox have no use any more; stored with the next event."""
        self._done += entries

    async def store_arrival(self, entry: InboxEntry) -> None:
        """Store that a request of another process has arrived, for which it waits.

        Raises:
            StoreError: It is not stored.
        """
        self.note(ASKED, {"request": entry.kind}, [entry.id])
        await self.flush()

    async def store_request(self, about: Mapping[str, Any], request: ChatRequest) -> None:
        """Store what a model is about to be asked, as digests, and all that was noted before.

        Raises:
            StoreError: It is not stored.
        """
        self.awaits_requests = True
        # What is asked beside the conversation begins otherwise than the next request of it.
        make_digests = digest_request if "purpose" in about else self._digests.digest
        self.note(LLM_REQUEST, {**about, **make_digests(request), "timestamp": write_now()})
        await self.flush()

    def watch(self, describe: Describe) -> Callable[[], None]:
        """Take note of states from now on: at each `flush`, of those that have changed.

        Returns:
            What takes note of them for the last time.
        """
        self._watched.append(describe)

        def stop() -> None:
            if self._has_begun:
                self._note_states(describe)
            self._watched.remove(describe)

        return stop

    def note_changes(self) -> None:
        """Take note of the states that have changed."""
        for describe in self._watched:
            self._note_states(describe)

    def _note_states(self, describe: Describe) -> None:
        for kind, state in describe():
            if state != self._states.get(kind):
                self._states[kind] = state
                self.note(kind, state)

    def begin_turn(self) -> None:
        """Forget the keys of the calls of earlier turns."""
        self._keys.clear()
        self._repeated.clear()

    def keep_key(self, call_id: str, key: str) -> None:
        """Let a call that is about to be repeated have the key of its first start."""
        self._repeated[call_id] = key

    def note_start(self, call_id: str, body: dict[str, Any]) -> None:
        """Take note of a tool that starts; the number of its first start makes its key.

        Args:
            call_id: The id of the call.
            body: What the event says; the key is added.
        """
        number = self.note(TOOL_START, body)
        key = self._repeated.pop(call_id, None)
        self._keys[call_id] = body["key"] = key or f"{self.session_id}/{number}"

    def find_step(self, call_id: str) -> Any:
        """Return how far a call was when it was kept last; None for its beginning."""
        return self._steps.get(call_id)

    async def keep_step(self, call_id: str, step: Mapping[str, Any]) -> None:
        """Store how far a call is; what it has asked before is settled.

        Raises:
            StoreError: It is not stored.
        """
        self._steps[call_id] = dict(step)
        self.questions.forget(call_id)
        self.note(TOOL_STEP, {"tool_call_id": call_id, "step": dict(step)})
        await self.flush()

    def forget_steps(self, call_id: str | None = None) -> None:
        """Forget how far a call is that has ended; without one, all of them."""
        for each in [*self._steps] if call_id is None else [call_id]:
            self._steps.pop(each, None)

    def find_key(self, call_id: str) -> str | None:
        """Return the key of a call of this turn; None if it has not started."""
        return self._keys.get(call_id)

    async def flush(self) -> None:
        """Store all that was noted, in the journal of the parent first, and the states as they are.

        The parent has used of its budget what a sub-agent has used.

        Raises:
            StoreError: It is not stored, or something before it was not.
        """
        if self._parent is not None:
            await self._parent.flush()
        self.note_changes()
        if not self._waiting and self._failure is None and not self._lock.locked():
            return
        async with self._lock:
            if self._failure is not None:
                raise self._failure
            if not self._waiting:
                return
            try:
                await self._store_waiting()
            except StoreError as error:
                self._failure = error
                raise
            except Exception as error:
                text = f"session `{self.session_id}` could not be stored: {error}"
                self._failure = StoreError(text)
                raise self._failure from error

    async def settle_inbox(self) -> None:
        """Store that entries of the inbox are done which nothing of this session can use any more.

        Raises:
            StoreError: It is not stored.
        """
        self.questions.drop_unusable()
        if self._done:
            self.note(ASKED, {"request": "none"})
            await self.flush()

    def abandon(self, reason: StoreError) -> None:
        """Store nothing more, and do not give the session back, as others see to it; from any thread.

        Args:
            reason: What whoever waits for something to be stored gets.
        """
        self._is_abandoned, self._failure = True, reason

    async def end(self) -> None:
        """Store what is left, and give the session back; a failure is logged."""
        if self._is_abandoned:
            return
        failure: StoreError | None = None
        try:
            if self._has_begun:
                await self.flush()
        except StoreError as error:
            failure = error
        if self._claim is not None:
            try:
                await self.store.end(self._claim)
            except StoreError as error:
                failure = failure or error
        if failure is not None:
            logger.error("%s", failure)

    async def _store_waiting(self) -> None:
        if self._claim is None:
            self._claim = await self._begin()
        if any(self._unsure):
            await self._look_what_is_stored(self._claim)
        events, done = list(self._waiting), list(self._done)
        self._unsure = len(events), len(done)
        self._claim = await self.store.append(self._claim, events, done=done, meta=self._late_meta)
        self._forget_stored()

    async def _begin_for_entry(self) -> None:
        """Let the store have a new session that is sent something before its first event.

        It is called in an event loop of its own.
        """
        if self._claim is None:
            self._was_begun_by_entry = True
            with suppress(SessionExistsError, StaleOwnerError):
                # Its first event claims it again.
                await self.store.end(await self._claim_new())

    async def _begin(self) -> Claim:
        is_again, self._has_tried_to_begin = self._has_tried_to_begin, True
        try:
            return await self._claim_new()
        except SessionExistsError:
            if not (is_again or self._was_begun_by_entry):
                raise
            # An attempt whose caller was cancelled has begun it, or an entry of its inbox.
            return await self.store.claim(self.session_id, self._owner)

    async def _claim_new(self) -> Claim:
        assert isinstance(self._start, NewSession)
        try:
            return await self.store.claim(self.session_id, self._owner, new=self._start)
        except UnknownSessionError:
            # Its parent is not stored here.
            alone = replace(self._start, parent=None, call=None)
            return await self.store.claim(self.session_id, self._owner, new=alone)

    async def _look_what_is_stored(self, claim: Claim) -> None:
        """Find out whether an append was whole whose caller was cancelled."""
        behind = await self.store.read(self.session_id, after=claim.head)
        if behind:
            self._claim = replace(claim, head=behind[-1].number)
            self._forget_stored()
        self._unsure = 0, 0

    def _forget_stored(self) -> None:
        events, done = self._unsure
        del self._waiting[:events]
        del self._done[:done]
        self._unsure = 0, 0
        self._late_meta = None
