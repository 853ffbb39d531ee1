"""The tests of a store of sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import pytest

from amplifier_modules.stores import (
    META,
    ORIGIN,
    Claim,
    NewSession,
    SessionExistsError,
    SessionInfo,
    StaleOwnerError,
    Store,
    StoredEvent,
    StoreError,
    UnknownSessionError,
)

_PATIENCE_SECONDS = 30.0
_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1.5,
    1e300,
    2**200,
    "",
    "text with é, 漢, 🙂, \0, \x1b and \n",
    "half of a pair: \ud800",
    [],
    {},
    {"nested": [{"deeply": [1, [2, [3]]]}]},
    {"\udfff": 1, "": 2},
    [float("inf"), float("-inf")],
    {"$json": "NaN"},
    {"$blob": "none"},
    {"$blob": ["none"]},
    "x" * 200_000,
    {"long": ["🙂é" * 200_000, {"$blob": ["none"]}, "half \ud800" * 20_000, float("inf")]},
    [["many"] * 20_000, "x" * 100_000],
)
"""What a store returns as it was given."""


class StoreKit:
    """Tests of a store, for pytest.

        class TestMyStore(StoreKit):
            def store(self, place):
                return MyStore(place / "sessions.db")

    A test calls `store` several times for the same place: each is as of a process of its own.
    """

    backends: tuple[str, ...] = ("asyncio", "trio")
    """The event loops under which the store works."""

    def store(self, place: Path) -> Store:
        """Make a store.

        Args:
            place: A folder of the test; what was stored for it before is there.
        """
        raise NotImplementedError(f"`{type(self).__name__}` must define `store`")

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test under each event loop of the store."""
        if "backend" in metafunc.fixturenames:
            metafunc.parametrize("backend", self.backends)

    def run(self, place: Path, backend: str, check: Callable[[Store], Awaitable[None]]) -> None:
        """Run a check of a new store, which is closed at the end."""
        if backend == "trio":
            pytest.importorskip("trio", reason="trio is not installed")

        async def run_check() -> None:
            store = self.store(place)
            assert isinstance(store, Store)
            try:
                await check(store)
            finally:
                await store.close()

        anyio.run(run_check, backend=backend)

    def test_what_is_appended_is_read_by_another(self, tmp_path: Path, backend: str) -> None:
        """Another process reads all of a session, or a part of it."""

        async def write(store: Store) -> None:
            claim = await begin(store, "one", {"name": "first"})
            claim = await store.append(claim, [("a", 1), ("b", [2])])
            assert claim == Claim(session_id="one", epoch=1, head=3)
            await store.append(claim, [("c", {"d": 3})])

        async def read(store: Store) -> None:
            origin = origin_of(meta={"name": "first"})
            assert await store.read("one") == [
                StoredEvent(1, 1, ORIGIN, origin),
                StoredEvent(2, 1, "a", 1),
                StoredEvent(3, 1, "b", [2]),
                StoredEvent(4, 1, "c", {"d": 3}),
            ]
            assert await store.read("one", after=2, until=3) == [StoredEvent(3, 1, "b", [2])]
            assert await store.read("one", after=9) == []

        self.run(tmp_path, backend, write)
        self.run(tmp_path, backend, read)

    def test_values_come_back_exactly(self, tmp_path: Path, backend: str) -> None:
        """Whatever Python's JSON can be, and what no JSON can hold, is read as it was."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            await store.append(claim, [("value", each) for each in _VALUES])
            events = (await store.read("one"))[1:]
            assert [repr(each.body) for each in events] == [repr(each) for each in _VALUES]

        self.run(tmp_path, backend, check)

    @pytest.mark.parametrize("id", ["a/b", "..", "ü", "CON", "x" * 500])
    def test_any_name_is_an_id(self, tmp_path: Path, backend: str, id: str) -> None:
        """An id is a name, not a path."""

        async def check(store: Store) -> None:
            claim = await begin(store, id)
            await store.append(claim, [("a", id)])
            assert list_bodies(await store.read(id)) == [id]
            assert [each.id for each in await store.sessions()] == [id]

        self.run(tmp_path, backend, check)

    def test_what_is_not_there_is_named(self, tmp_path: Path, backend: str) -> None:
        """A session that is not stored is an error that names it."""

        async def check(store: Store) -> None:
            nobody = Claim(session_id="none", epoch=1, head=1)
            asked: tuple[Callable[[], Awaitable[object]], ...] = (
                lambda: store.claim("none", "me"),
                lambda: store.append(nobody, [("a", 1)]),
                lambda: store.read("none"),
                lambda: store.fork("none", "fork"),
                lambda: store.put("none", "a", 1),
                lambda: store.inbox("none"),
                lambda: store.renew(nobody, due=None),
                lambda: store.end(nobody),
                lambda: store.delete("none"),
            )
            for ask in asked:
                with pytest.raises(UnknownSessionError, match="`none`"):
                    await ask()
            assert await store.sessions() == []

        self.run(tmp_path, backend, check)

    def test_a_session_begins_once(self, tmp_path: Path, backend: str) -> None:
        """An id is used once, also for forks."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            await store.append(claim, [("a", 1)])
            with pytest.raises(SessionExistsError, match="`one`"):
                await begin(store, "one")
            with pytest.raises(SessionExistsError, match="`one`"):
                await store.fork("one", "one")
            assert list_bodies(await store.read("one")) == [1]

        self.run(tmp_path, backend, check)

    def test_the_last_who_claimed_a_session_writes_to_it(
        self, tmp_path: Path, backend: str
    ) -> None:
        """An owner whose session was taken over writes nothing."""

        async def check(store: Store) -> None:
            stale = await begin(store, "one")
            other = self.store(tmp_path)
            try:
                fresh = await other.claim("one", "another")
                assert fresh == Claim(session_id="one", epoch=2, head=1)
                refused: tuple[Callable[[], Awaitable[object]], ...] = (
                    lambda: store.append(stale, [("late", 1)]),
                    lambda: store.renew(stale, due=None),
                    lambda: store.end(stale),
                )
                for write in refused:
                    with pytest.raises(StaleOwnerError, match="taken over"):
                        await write()
                await other.append(fresh, [("new", 2)])
            finally:
                await other.close()
            assert list_bodies(await store.read("one")) == [2]
            (info,) = await store.sessions()
            assert (info.owner, info.epoch, info.head) == ("another", 2, 2)

        self.run(tmp_path, backend, check)

    def test_a_claim_that_is_behind_writes_nothing(self, tmp_path: Path, backend: str) -> None:
        """A claim is used once: `append` returns the next one."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            await store.append(claim, [("a", 1)])
            with pytest.raises(StoreError, match="`one`"):
                await store.append(claim, [("b", 2)])
            assert list_bodies(await store.read("one")) == [1]

        self.run(tmp_path, backend, check)

    def test_all_events_are_added_or_none(self, tmp_path: Path, backend: str) -> None:
        """One event that cannot be stored keeps the others out."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            endless: list[Any] = []
            endless.append(endless)
            with pytest.raises(ValueError, match="cannot be stored"):
                await store.append(claim, [("a", 1), ("b", endless)])
            with pytest.raises(StoreError, match="no entry 7"):
                await store.append(claim, [("a", 1)], done=[7])
            assert list_bodies(await store.read("one")) == []
            await store.append(claim, [("a", 1)])

        self.run(tmp_path, backend, check)

    def test_forks_have_what_was_before_them(self, tmp_path: Path, backend: str) -> None:
        """A fork goes on by itself behind the event that it was made at."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one", {"name": "first"})
            claim = await store.append(claim, [("a", 1), ("b", 2)])
            fork = await store.fork("one", "two", at=2)
            assert fork == SessionInfo(
                id="two",
                parent=None,
                call=None,
                base="one",
                base_number=2,
                epoch=0,
                head=3,
                owner=None,
                due=None,
                written=fork.written,
                meta={"name": "first"},
            )
            await store.append(claim, [("c", 3)])
            theirs = await store.claim("two", "another")
            await store.append(theirs, [("d", 4)])
            again = await store.fork("two", "three", meta={"name": "third"})
            assert (again.base, again.base_number, again.meta) == ("two", 4, {"name": "third"})
            early = await store.fork("three", "four", at=1)
            assert (early.base, early.base_number) == ("one", 1)
            assert list_bodies(await store.read("one")) == [1, 2, 3]
            assert list_bodies(await store.read("two")) == [1, 4]
            assert list_bodies(await store.read("three")) == [1, 4]
            assert list_bodies(await store.read("four")) == []
            assert [each.number for each in await store.read("three")] == [1, 2, 3, 4, 5]
            for number in (0, 5):
                with pytest.raises(ValueError, match=f"no event {number}"):
                    await store.fork("one", "five", at=number)

        self.run(tmp_path, backend, check)

    def test_what_forks_read_outlives_their_origin(self, tmp_path: Path, backend: str) -> None:
        """A deleted session is gone, but for what its forks have of it."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            await store.append(claim, [("a", "x" * 100_000), ("b", 2)])
            await store.fork("one", "two", at=2)
            await store.delete("one")
            with pytest.raises(UnknownSessionError):
                await store.read("one")
            assert [each.id for each in await store.sessions()] == ["two"]
            assert list_bodies(await store.read("two")) == ["x" * 100_000]
            await store.delete("two")
            assert await store.sessions() == []
            await begin(store, "one")
            assert list_bodies(await store.read("one")) == []

        self.run(tmp_path, backend, check)

    def test_sub_agents_go_with_their_session(self, tmp_path: Path, backend: str) -> None:
        """A sub-agent has events of its own, and is deleted with its session."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            new = NewSession(parent="one", call="one/1")
            child = await store.claim("two", "me", new=new)
            await store.append(child, [("a", 1)])
            await store.append(claim, [("b", 2)])
            assert list_bodies(await store.read("two")) == [1]
            found = {each.id: (each.parent, each.call) for each in await store.sessions()}
            assert found == {"one": (None, None), "two": ("one", "one/1")}
            await store.delete("one")
            assert await store.sessions() == []

        self.run(tmp_path, backend, check)

    def test_an_entry_of_the_inbox_is_done_with_its_events(
        self, tmp_path: Path, backend: str
    ) -> None:
        """An entry is waiting until the events that have used it are stored."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            first = await store.put("one", "steer", {"text": "left"})
            second = await store.put("one", "answer", True)
            entries = await store.inbox("one")
            assert [(each.id, each.kind, each.body) for each in entries] == [
                (first, "steer", {"text": "left"}),
                (second, "answer", True),
            ]
            claim = await store.append(claim, [("a", 1)], done=[first])
            assert [each.id for each in await store.inbox("one")] == [second]
            with pytest.raises(StoreError, match=f"no entry {first}"):
                await store.append(claim, [("b", 2)], done=[first])

        self.run(tmp_path, backend, check)

    def test_a_thread_may_put_an_entry_while_the_event_loop_waits_for_it(
        self, tmp_path: Path, backend: str
    ) -> None:
        """Messages to a session are stored from any thread, also while its own loop stands still."""

        async def check(store: Store) -> None:
            await begin(store, "one")
            entries: list[int] = []

            async def put() -> None:
                entries.append(await store.put("one", "steer", "left"))

            thread = Thread(target=anyio.run, args=(put,), daemon=True)
            thread.start()
            thread.join(_PATIENCE_SECONDS)
            assert len(entries) == 1, "`put` waits for the event loop of another thread"
            assert [each.id for each in await store.inbox("one")] == entries

        self.run(tmp_path, backend, check)

    def test_lists_show_meta_and_who_wrote_last(self, tmp_path: Path, backend: str) -> None:
        """What lists show of a session can change."""

        async def check(store: Store) -> None:
            first = await begin(store, "one", {"name": "first"})
            await begin(store, "two")
            await store.fork("one", "three", meta={})
            first = await store.append(first, [("a", 1)], meta={"name": "renamed"})
            assert first.head == 3
            listed = await store.sessions()
            assert [(each.id, each.meta) for each in listed] == [
                ("one", {"name": "renamed"}),
                ("three", {}),
                ("two", {}),
            ]
            times = [each.written for each in listed]
            assert times == sorted(times, reverse=True)
            last = (await store.read("one"))[-1]
            assert (last.kind, last.body) == (META, {"name": "renamed"})

        self.run(tmp_path, backend, check)

    def test_only_what_is_due_is_taken_the_longest_due_first(
        self, tmp_path: Path, backend: str
    ) -> None:
        """Sessions are taken once, when they are due."""

        async def check(store: Store) -> None:
            for id, due in (("late", 30.0), ("early", 10.0), ("never", None)):
                await store.claim(id, "me", new=NewSession(), due=due)
            assert await store.take("w", now=9.0, due=50.0) is None
            taken = await store.take("w", now=30.0, due=50.0)
            assert taken is not None
            assert taken == Claim(session_id="early", epoch=2, head=1)
            await store.renew(taken, due=60.0)
            other = await store.take("w", now=30.0, due=50.0)
            assert other is not None
            assert other.session_id == "late"
            await store.end(other, due=40.0)
            assert await store.take("w", now=39.0, due=None) is None
            again = await store.take("w", now=40.0, due=None)
            assert again is not None
            await store.end(again)
            assert await store.take("w", now=59.0, due=None) is None

        self.run(tmp_path, backend, check)

    def test_an_entry_that_is_due_makes_its_session_due(self, tmp_path: Path, backend: str) -> None:
        """Nobody has to claim a session for it to be taken: a prompt is enough."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            await store.end(claim)
            await store.put("one", "prompt", "whenever")
            assert await store.take("w", now=99.0, due=None) is None
            await store.put("one", "prompt", "later", due=30.0)
            await store.put("one", "prompt", "sooner", due=20.0)
            await store.put("one", "prompt", "late", due=40.0)
            assert [each.due for each in await store.sessions()] == [20.0]
            assert await store.take("w", now=19.0, due=None) is None
            taken = await store.take("w", now=20.0, due=50.0)
            assert taken == Claim(session_id="one", epoch=2, head=1)
            await store.put("one", "prompt", "while it is owned", due=10.0)
            assert [each.due for each in await store.sessions()] == [50.0]

        self.run(tmp_path, backend, check)

    def test_a_session_that_is_given_back_is_due_with_the_first_entry_that_is_not_done(
        self, tmp_path: Path, backend: str
    ) -> None:
        """A prompt that arrives just before the owner's `end` is not forgotten."""

        async def find_due(store: Store) -> float | None:
            return next(each.due for each in await store.sessions())

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            first = await store.put("one", "prompt", "first", due=10.0)
            second = await store.put("one", "prompt", "second", due=20.0)
            await store.end(claim, due=30.0)
            assert await find_due(store) == 10.0
            await store.renew(claim, due=None)
            assert await find_due(store) == 10.0
            claim = await store.claim("one", "me")
            claim = await store.append(claim, [("a", 1)], done=[first])
            await store.renew(claim, due=90.0)
            assert await find_due(store) == 90.0
            await store.end(claim)
            assert await find_due(store) == 20.0
            claim = await store.claim("one", "me")
            await store.end(claim, due=15.0)
            assert await find_due(store) == 15.0
            claim = await store.claim("one", "me")
            claim = await store.append(claim, [("b", 2)], done=[second])
            await store.end(claim)
            assert await find_due(store) is None

        self.run(tmp_path, backend, check)

    def test_only_sessions_that_are_wanted_are_taken(self, tmp_path: Path, backend: str) -> None:
        """Those that a taker refuses are left to others, and do not keep it from the next."""

        async def check(store: Store) -> None:
            metas: tuple[dict[str, Any], ...] = (
                {"agent": "a", "folder": "/x"},
                {"agent": "b"},
                {"agent": "a"},
                {},
            )
            for place, meta in enumerate(metas):
                new = NewSession(meta=meta)
                await store.claim(str(place), "me", new=new, due=float(place))

            def refuse_all(_: SessionInfo) -> bool:
                return False

            def has_no_folder(info: SessionInfo) -> bool:
                return "folder" not in info.meta

            def is_last(info: SessionInfo) -> bool:
                return info.id == "3"

            async def take(**wanted: Any) -> str | None:
                claim = await store.take("w", now=9.0, due=None, **wanted)
                return None if claim is None else claim.session_id

            assert await take(agents=[]) is None
            assert await take(agents=["c"]) is None
            assert await take(accepts=refuse_all) is None
            assert await take(agents={"a"}, accepts=has_no_folder) == "2"
            assert await take(agents=["b", "c"]) == "1"
            assert await take(accepts=is_last) == "3"
            assert await take() == "0"
            assert await take() is None

        self.run(tmp_path, backend, check)

    def test_one_of_many_takers_gets_a_session(self, tmp_path: Path, backend: str) -> None:
        """Two workers never get one session."""

        async def check(store: Store) -> None:
            await store.claim("one", "me", new=NewSession(), due=1.0)
            others = [self.store(tmp_path) for _ in range(4)]
            taken: list[Claim] = []

            async def take(other: Store) -> None:
                claim = await other.take("w", now=2.0, due=None)
                if claim is not None:
                    taken.append(claim)

            try:
                async with anyio.create_task_group() as tasks:
                    for other in others:
                        tasks.start_soon(take, other)
            finally:
                for other in others:
                    await other.close()
            assert [each.epoch for each in taken] == [2]

        self.run(tmp_path, backend, check)

    def test_many_sessions_are_written_at_once(self, tmp_path: Path, backend: str) -> None:
        """Sessions do not wait for one another for ever."""

        async def check(store: Store) -> None:
            async def write(id: str) -> None:
                claim = await begin(store, id)
                for number in range(5):
                    claim = await store.append(claim, [("a", [id, number])])

            ids = [f"session {number}" for number in range(10)]
            async with anyio.create_task_group() as tasks:
                for id in ids:
                    tasks.start_soon(write, id)
            for id in ids:
                assert list_bodies(await store.read(id)) == [[id, number] for number in range(5)]

        self.run(tmp_path, backend, check)

    def test_a_cancelled_caller_leaves_all_or_nothing(self, tmp_path: Path, backend: str) -> None:
        """A cancelled `append` is whole or did not happen."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            with anyio.CancelScope() as scope:
                scope.cancel()
                with suppress(StoreError):
                    await store.append(claim, [("a", 1), ("b", 2)])
            assert list_bodies(await store.read("one")) in ([], [1, 2])
            claim = await store.claim("one", "me")
            await store.append(claim, [("c", 3)])
            assert list_bodies(await store.read("one"))[-1] == 3

        self.run(tmp_path, backend, check)

    def test_a_closed_store_opens_again(self, tmp_path: Path, backend: str) -> None:
        """`close` frees what is open, and may be called twice."""

        async def check(store: Store) -> None:
            claim = await begin(store, "one")
            await store.close()
            await store.close()
            claim = await store.append(claim, [("a", 1)])
            await store.end(claim)
            assert list_bodies(await store.read("one")) == [1]

        self.run(tmp_path, backend, check)


async def begin(store: Store, id: str, meta: dict[str, Any] | None = None) -> Claim:
    """Begin a session, and claim it."""
    claim = await store.claim(id, "me", new=NewSession(meta=meta or {}))
    assert claim == Claim(session_id=id, epoch=1, head=1)
    return claim


def origin_of(**changes: Any) -> dict[str, Any]:
    """Return the body of a session's first event."""
    empty: dict[str, Any] = {
        "parent": None,
        "call": None,
        "base": None,
        "base_number": 0,
        "meta": {},
    }
    return {**empty, **changes}


def list_bodies(events: Sequence[StoredEvent]) -> list[Any]:
    """Return what was appended, without what the store writes by itself."""
    return [each.body for each in events if each.kind not in {ORIGIN, META}]
