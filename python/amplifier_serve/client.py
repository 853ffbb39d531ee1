"""A client of sessions that workers run: on their store itself, or on a server."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Self
from weakref import WeakSet

import anyio

from amplifier_core.events import EXECUTION_START

from .opening import StorePlace, open_store
from .sessions import Sessions
from .views import TURN_FAILED, AskedQuestion, SessionEvent, SessionSummary, Submission

if TYPE_CHECKING:
    from amplifier_agent.approvals import Answer

    from .http_sessions import HttpSessions

_INCOMPLETE = "incomplete"
_FAILURE_SECONDS = 2.0
"""How long after the end of a turn its worker may take to say why it has failed."""


class Client:
    """Sends prompts to sessions, and follows what becomes of them.

        async with Client("http://127.0.0.1:8790", token="…") as client:
            sent = await client.submit("Tidy up", agent="helper")
            async for event in client.follow_turn(sent):
                print(event.text)

    All of it works in the same way on a store, such as `Client("sqlite")`, without a server.
    """

    def __init__(
        self, place: StorePlace, *, token: str | None = None, owner: str | None = None
    ) -> None:
        """Describe a client; nothing is opened yet.

        Args:
            place: The address of a server, or a store: an object, `"sqlite"`, an entry of a plan.
            token: The bearer token, for a server.
            owner: Whose sessions they are, for a store; None for all.

        Raises:
            ValueError: A server has no token, or a store has one.
        """
        is_server = isinstance(place, str) and place.startswith(("http://", "https://"))
        if is_server and not token:
            raise ValueError("a server needs a `token`: `amplifier-core serve token add` makes one")
        if not is_server and token:
            raise ValueError("`token` has no effect on a store: it is for a server")
        if is_server and owner is not None:
            raise ValueError("`owner` has no effect on a server, which knows it by the token")
        self._place = place
        self._token = token if is_server else None
        self._owner = owner
        self._stack = AsyncExitStack()
        self._followed: WeakSet[AsyncGenerator[SessionEvent]] = WeakSet()
        self._opened: Sessions | HttpSessions | None = None

    async def __aenter__(self) -> Self:
        """Open the store, or the connections to the server, which are made when they are needed.

        Raises:
            ConfigurationError: There is no such store.
        """
        if self._token is not None:
            from .http_sessions import HttpSessions

            sessions = HttpSessions(str(self._place), self._token)
            self._opened = await self._stack.enter_async_context(sessions)
        else:
            store = await self._stack.enter_async_context(open_store(self._place))
            self._opened = Sessions(store, self._owner)
        return self

    async def __aexit__(self, *exception: object) -> None:
        """Close what was opened."""
        for each in tuple(self._followed):
            await each.aclose()
        self._opened = None
        await self._stack.aclose()

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
            StoreError, ServeError: The store or the server cannot be used.
        """
        return await self._sessions.submit(
            prompt, session_id=session_id, agent=agent, folder=folder
        )

    def follow(self, session_id: str, since: int = 0) -> AsyncGenerator[SessionEvent]:
        """Yield the events behind a number, each once and in order, and those that follow, for ever.

        A connection that breaks is made again, and goes on behind the last event. Who leaves it
        before its end closes it by `aclosing`, or with the client.

        Args:
            session_id: The session.
            since: The number of the last event that is known.

        Raises:
            UnknownSessionError: The session is not stored, or was deleted.
            StoreError, ServeError: The store or, for a minute, the server cannot be used.
        """
        followed = self._sessions.follow(session_id, since)
        self._followed.add(followed)
        return followed

    async def follow_turn(self, sent: Submission) -> AsyncGenerator[SessionEvent]:
        """Yield the events behind a prompt until its turn has ended, with why if it has failed.

        Args:
            sent: What `submit` has returned.

        Raises:
            UnknownSessionError, StoreError, ServeError: As for `follow`.
        """
        has_begun = False
        async with aclosing(self.follow(sent.session_id, sent.number)) as events:
            async for event in events:
                is_start = event.kind == EXECUTION_START
                has_begun = has_begun or (is_start and event.data.get("entry") == sent.entry)
                yield event
                if has_begun and event.ends_turn:
                    break
            else:
                return
            if event.status == _INCOMPLETE and "reason" not in event.data:
                failure: SessionEvent | None = None
                with anyio.move_on_after(_FAILURE_SECONDS):
                    failure = await anext(events)
                if failure is not None and failure.kind == TURN_FAILED:
                    yield failure

    async def read(self, session_id: str, since: int = 0) -> list[SessionEvent]:
        """Return the events behind a number; as `follow`, without those to come."""
        return await self._sessions.read(session_id, since)

    async def steer(self, session_id: str, text: str) -> None:
        """Say something to the turn that runs, before its next model call, or else in the next one.

        Raises:
            ValueError: The text is empty.
            UnknownSessionError, StoreError, ServeError: As for `submit`.
        """
        await self._sessions.steer(session_id, text)

    async def cancel(self, session_id: str, *, now: bool = True) -> None:
        """Cancel the turn that has begun, also one that waits for an answer.

        Args:
            session_id: The session.
            now: Whether tools that run are cancelled, too; else they may finish.

        Raises:
            LookupError: No turn has begun that has not ended.
            UnknownSessionError, StoreError, ServeError: As for `submit`.
        """
        await self._sessions.cancel(session_id, now=now)

    async def questions(self, session_id: str) -> list[AskedQuestion]:
        """Return what a session asks people, or a sub-agent of it.

        Raises:
            UnknownSessionError, StoreError, ServeError: As for `submit`.
        """
        return await self._sessions.questions(session_id)

    async def answer(self, session_id: str, question_id: str, answer: Answer) -> None:
        """Answer a question: True grants; a text denies, and the model gets to read it.

        Raises:
            TypeError, ValueError: The answer is none.
            LookupError: No such question waits, its time has passed, or another was faster.
            UnknownSessionError, StoreError, ServeError: As for `submit`.
        """
        await self._sessions.answer(session_id, question_id, answer)

    async def list(self) -> list[SessionSummary]:
        """Return the sessions that workers run, the ones last written to first.

        Raises:
            StoreError, ServeError: The store or the server cannot be used.
        """
        return await self._sessions.list()

    @property
    def _sessions(self) -> Sessions | HttpSessions:
        if self._opened is None:
            raise RuntimeError("the client is not open: use it within `async with`")
        return self._opened
