"""What a session was sent and has not used yet: messages of the user, and answers to questions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict
from inspect import signature
from typing import Any

from amplifier_core import world
from amplifier_providers.running.run_sync import ThreadRun

from ..loops.boundary.kept_questions import KeptAnswer, KeptQuestions
from .errors import UnknownSessionError
from .store import InboxEntry, Store

STEERING = "steering"
"""The kind of a message for the turn that runs, or the next one."""
ANSWER = "answer"
"""The kind of an answer to a question about a tool call."""
PROMPT = "prompt"
"""The kind of a prompt that is a turn of its own, once those before it are over."""
STOP = "stop"
"""The kind of a request to end the turn that runs."""
RELEASE = "release"
"""The kind of a request to give the session back, as another process goes on with it."""
CONTINUE = "continue"
"""The kind of a request to go on with the open turn, as a sub-agent of it was answered."""
_WAITING = (PROMPT, STOP, RELEASE, CONTINUE)


async def put_due(store: Store, session_id: str, kind: str, body: Any) -> int:
    """Add an entry that is due now, so that a worker takes the session; return its id.

    A store that was written before entries could be due only stores it.

    Raises:
        UnknownSessionError, StoreError: As for `Store.put`.
    """
    if "due" not in signature(store.put).parameters:
        return await store.put(session_id, kind, body)
    return await store.put(session_id, kind, body, due=world.time())


class Inbox:
    """The inbox of one session in this process."""

    def __init__(
        self,
        store: Store,
        session_id: str,
        questions: KeptQuestions,
        begin: Callable[[], Awaitable[None]],
        entries: Iterable[InboxEntry],
    ) -> None:
        """Begin with what is stored.

        Args:
            store: The store.
            session_id: The id of the session.
            questions: Those that answers are to.
            begin: Lets the store have the session; awaited in an event loop of its own.
            entries: What the session was sent and has not used.
        """
        self._store = store
        self._session_id = session_id
        self._questions = questions
        self._begin = begin
        sent = list(entries)
        self._steering = [each for each in sent if each.kind == STEERING]
        self._known_steering = {each.id for each in self._steering}
        """The messages that were taken, or come from this process."""
        self._being_put = 0
        """How many messages of this process are on their way, of which the ids are not known."""
        self._taken: set[int] = set()
        """The entries that answers were taken from."""
        self._used: list[int] = []
        self._begun: list[int] = []
        self._waiting: list[InboxEntry] = []
        """Prompts and requests that nothing was done about."""
        self._take_entries(sent)

    def put_steering(self, text: str) -> int:
        """Store a message of the user, and return the id of its entry; from any thread.

        Raises:
            StoreError: It is not stored.
        """
        self._being_put += 1
        try:
            entry = self._put_now(STEERING, {"text": text})
            self._known_steering.add(entry)
        finally:
            self._being_put -= 1
        return entry

    def put_answer(self, answer: KeptAnswer) -> None:
        """Store the answer to a question, from any thread, and take those that came before it.

        Raises:
            StoreError: It is not stored.
        """
        run = ThreadRun(lambda: self.add_answer(answer), "inbox")
        run.start()
        run.join()
        run.result()

    async def add_answer(self, answer: KeptAnswer) -> None:
        """Store the answer to a question, and take those that came before it.

        Raises:
            StoreError: It is not stored.
        """
        body = asdict(answer)
        entry = await self._put(ANSWER, body)
        self._taken.add(entry)
        self._questions.take_entry(entry, body)
        await self.look()

    def take_steering(self) -> list[tuple[int, str]]:
        """Return the messages that another process has stored, each once, with their ids."""
        taken, self._steering = self._steering, []
        return [(each.id, each.body["text"]) for each in taken]

    def begin_use(self, entry: int) -> None:
        """Say that the message which is added next comes from this entry."""
        self._used = [entry]

    def take_used(self) -> list[int]:
        """Return what `begin_use` said, once."""
        used, self._used = self._used, []
        return used

    async def look(self) -> None:
        """Take what other processes have sent meanwhile.

        Raises:
            StoreError: The inbox cannot be read.
        """
        self._take_entries(await self._store.inbox(self._session_id))

    def take_waiting(self, kind: str) -> InboxEntry | None:
        """Return the first prompt or request of a kind, each once; None if there is none."""
        entry = next((each for each in self._waiting if each.kind == kind), None)
        if entry is not None:
            self._waiting.remove(entry)
            self._taken.add(entry.id)
        return entry

    def count_prompts(self) -> int:
        """Return how many prompts wait."""
        return sum(each.kind == PROMPT for each in self._waiting)

    def put_back(self, entry: InboxEntry) -> None:
        """Let an entry wait again that was not used."""
        self._taken.discard(entry.id)
        self._waiting.insert(0, entry)

    def begin_turn(self, entry: InboxEntry | None) -> None:
        """Say that the turn which begins next has its prompt from this entry; None from none."""
        self._begun = [] if entry is None else [entry.id]

    def take_begun(self) -> list[int]:
        """Return what `begin_turn` said, once."""
        begun, self._begun = self._begun, []
        return begun

    def _take_entries(self, entries: Iterable[InboxEntry]) -> None:
        new = [each for each in entries if each.id not in self._taken]
        self._waiting = [each for each in new if each.kind in _WAITING]
        for each in new:
            if each.kind == ANSWER:
                self._taken.add(each.id)
                self._questions.take_entry(each.id, each.body)
            elif each.kind == STEERING and self._is_foreign(each.id):
                self._known_steering.add(each.id)
                self._steering.append(each)

    def _is_foreign(self, entry: int) -> bool:
        """Whether a message comes from another process, and was not taken."""
        return not self._being_put and entry not in self._known_steering

    def _put_now(self, kind: str, body: Mapping[str, Any]) -> int:
        """Store an entry, and wait until it is: the caller may be in the event loop itself."""
        run = ThreadRun(lambda: self._put(kind, body), "inbox")
        run.start()
        run.join()
        return run.result()

    async def _put(self, kind: str, body: Mapping[str, Any]) -> int:
        try:
            return await self._store.put(self._session_id, kind, body)
        except UnknownSessionError:
            await self._begin()
            return await self._store.put(self._session_id, kind, body)
