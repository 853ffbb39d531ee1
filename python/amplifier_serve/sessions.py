"""The sessions of a store, for those who send prompts and look on: workers run them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from amplifier_core import world
from amplifier_core.events import EXECUTION_START
from amplifier_modules.stores import (
    NewSession,
    SessionInfo,
    Store,
    StoredEvent,
    UnknownSessionError,
)
from amplifier_modules.stores.inbox import PROMPT, STEERING, STOP
from amplifier_modules.stores.mounting import name_owner
from amplifier_modules.stores.waiting import wait_for_events

from .tenants import find_store_of
from .views import AskedQuestion, SessionEvent, SessionState, SessionSummary, Submission

if TYPE_CHECKING:
    from amplifier_agent.approvals import Answer

LOOK_SECONDS = 0.2
"""How often a follower looks for new events."""
TOLD_LOOK_SECONDS = 2.0
"""How often one looks whom the store tells about them."""
_MAX_LOOK_SECONDS = 2.0
_SHARE = 10
"""A follower waits so many times as long as the store took: long sessions are looked at less often."""
_BEGIN_SECONDS = 10.0
"""How long the beginning of a session may take."""
_TITLE_CHARS = 200


class Sessions:
    """What clients do with the sessions of a store.

    Args:
        store: The store.
        owner: Whose sessions these are: all others are unknown here; None for all of the store.
    """

    def __init__(self, store: Store, owner: str | None = None) -> None:
        self._store = find_store_of(store, owner)
        self._owner = owner
        self._look_seconds = (
            TOLD_LOOK_SECONDS if hasattr(store, "wait_for_events") else LOOK_SECONDS
        )

    async def submit(
        self,
        prompt: str,
        *,
        session_id: str | None = None,
        agent: str | None = None,
        folder: str | None = None,
    ) -> Submission:
        """Store a prompt that is a turn of its own; a worker runs it when those before are over.

        Args:
            prompt: What the user says.
            session_id: The session; None for a new one.
            agent: The agent of a new session, as workers name it.
            folder: The folder that a new session works in; None for that of the agent.

        Raises:
            ValueError: The prompt is empty, or a new session has no agent or an old one has another.
            UnknownSessionError: The session is not stored.
            StoreError: The store cannot be used.
        """
        _check_text(prompt, "prompt")
        if session_id is None:
            return await self._begin(prompt, agent, folder)
        if agent is not None or folder is not None:
            raise ValueError("a session that is stored has its `agent` and its `folder`; give none")
        await self.check(session_id)
        number = await self._find_head(session_id)
        entry = await self._store.put(session_id, PROMPT, {"text": prompt}, due=world.time())
        return Submission(session_id, entry, number)

    async def follow(self, session_id: str, since: int = 0) -> AsyncGenerator[SessionEvent]:
        """Yield the events behind a number, each once and in order, and those that follow, for ever.

        Args:
            session_id: The session.
            since: The number of the last event that is known.

        Raises:
            UnknownSessionError: The session is not stored, or was deleted.
            StoreError: The store cannot be read.
        """
        await self.check(session_id)
        while True:
            begun = world.monotonic()
            for event in await self.read_new(session_id, since):
                yield event
                since = event.number
            await self.wait_for_events(session_id, world.monotonic() - begun)

    async def read(self, session_id: str, since: int = 0) -> list[SessionEvent]:
        """Return the events behind a number.

        Raises:
            UnknownSessionError, StoreError: As for `follow`.
        """
        await self.check(session_id)
        return await self.read_new(session_id, since)

    async def steer(self, session_id: str, text: str) -> None:
        """Say something to the turn that runs, before its next model call, or else in the next one.

        Raises:
            ValueError: The text is empty.
            UnknownSessionError, StoreError: As for `submit`.
        """
        _check_text(text, "text")
        await self.check(session_id)
        await self._store.put(session_id, STEERING, {"text": text})

    async def cancel(self, session_id: str, *, now: bool = True) -> None:
        """Cancel the turn that has begun, also one that waits for an answer.

        Args:
            session_id: The session.
            now: Whether tools that run are cancelled, too; else they may finish.

        Raises:
            LookupError: No turn has begun that has not ended.
            UnknownSessionError, StoreError: As for `submit`.
        """
        await self.check(session_id)
        events = await self.read_new(session_id, 0)
        last = next((each for each in reversed(events) if _changes_turn(each)), None)
        if last is None or last.ends_turn:
            raise LookupError(f"no turn of session `{session_id}` runs")
        begun = next(each for each in reversed(events) if each.kind == EXECUTION_START)
        body = {"turn": begun.number, "now": now}
        await self._store.put(session_id, STOP, body, due=world.time())

    async def questions(self, session_id: str) -> list[AskedQuestion]:
        """Return what a session asks people, or a sub-agent of it.

        Raises:
            UnknownSessionError, StoreError: As for `submit`.
        """
        from amplifier_agent.answering import list_stored_questions

        await self.check(session_id)
        return [
            AskedQuestion(each.id, each.action, each.tool_name, each.arguments, each.timeout)
            for each in await list_stored_questions(self._store, session_id)
        ]

    async def answer(self, session_id: str, question_id: str, answer: Answer) -> None:
        """Answer a question: True grants; a text denies, and the model gets to read it.

        Raises:
            TypeError, ValueError: The answer is none.
            LookupError: No such question waits, its time has passed, or another was faster.
            UnknownSessionError, StoreError: As for `submit`.
        """
        from amplifier_agent.answering import answer_stored_question

        await self.check(session_id)
        await answer_stored_question(self._store, session_id, question_id, answer)

    async def list(self) -> list[SessionSummary]:
        """Return the sessions that workers run, the ones last written to first.

        Raises:
            StoreError: The store cannot be read.
        """
        return [
            _summarize(each)
            for each in await self._store.sessions()
            if isinstance(each.meta.get("agent"), str)
            and each.parent is None
            and self._is_mine(each.meta.get("owner"))
        ]

    async def read_new(self, session_id: str, since: int) -> list[SessionEvent]:
        """Return the events behind a number, for who has read the session before."""
        found = await self._store.read(session_id, after=since)
        return [SessionEvent(each.number, each.kind, each.body) for each in found]

    async def wait_for_events(self, session_id: str, took: float) -> None:
        """Return when a session may have new events, for who has just read it.

        Args:
            session_id: The session.
            took: How many seconds reading has taken: who has much to read does so less often.
        """
        seconds = max(self._look_seconds, min(took * _SHARE, _MAX_LOOK_SECONDS))
        await wait_for_events(self._store, session_id, seconds)

    async def _begin(self, prompt: str, agent: str | None, folder: str | None) -> Submission:
        if not agent:
            raise ValueError("a new session needs an `agent`")
        id = str(world.new_uuid())
        title = " ".join(prompt[:_TITLE_CHARS].split())
        meta = {"agent": agent, "started": world.time(), "title": title}
        if folder is not None:
            meta["folder"] = folder
        if self._owner is not None:
            meta["owner"] = self._owner
        # Due some time, so that a client that ends here does not leave it to nobody.
        due = world.time() + _BEGIN_SECONDS
        claim = await self._store.claim(id, name_owner(), new=NewSession(meta=meta), due=due)
        entry = await self._store.put(id, PROMPT, {"text": prompt}, due=world.time())
        await self._store.end(claim)
        return Submission(id, entry, claim.head)

    async def check(self, session_id: str) -> None:
        """Check that a session is one of these.

        Raises:
            UnknownSessionError: It is not.
        """
        first: StoredEvent = (await self._store.read(session_id, until=1))[0]
        if not self._is_mine(first.body["meta"].get("owner")):
            raise UnknownSessionError(session_id)

    async def _find_head(self, session_id: str) -> int:
        events = await self._store.read(session_id)
        return events[-1].number

    def _is_mine(self, owner: object) -> bool:
        return self._owner is None or owner == self._owner


def _check_text(text: object, name: str) -> None:
    if not isinstance(text, str):
        raise TypeError(f"`{name}` is of type `{type(text).__name__}` (must be text)")
    if not text.strip():
        raise ValueError(f"`{name}` is empty")


def _changes_turn(event: SessionEvent) -> bool:
    return event.kind == EXECUTION_START or event.ends_turn


def _summarize(info: SessionInfo) -> SessionSummary:
    state: SessionState = "resting"
    if info.owner is not None and (info.due is None or info.due > world.time()):
        state = "running"
    elif info.due is not None and info.due <= world.time():
        state = "due"
    folder = info.meta.get("folder")
    return SessionSummary(
        id=info.id,
        agent=str(info.meta["agent"]),
        folder=folder if isinstance(folder, str) else None,
        title=str(info.meta.get("title") or ""),
        state=state,
        number=info.head,
        written=info.written,
    )
