"""A worker: it takes sessions that are due, and runs their turns."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio

from amplifier_core import world
from amplifier_modules.stores import Claim, SessionInfo, StaleOwnerError, Store, StoreError
from amplifier_modules.stores.mounting import name_owner

from .failures import write_failure
from .lease import LeaseKeeper
from .opening import StorePlace, open_store
from .session_work import SessionWork
from .tenants import list_due_stores

if TYPE_CHECKING:
    from amplifier_agent import Agent

logger = logging.getLogger(__name__)

SHORT_ID_CHARS = 8
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0


class Worker:
    """Runs the turns of the sessions that name one of its agents.

        worker = Worker({"helper": Agent("anthropic")}, store="sqlite")
        await worker.run()

    Any number of workers may use a store. A session belongs to one of them at a time, which renews
    its lease; if that ends, another takes the session and goes on with the turn.
    """

    def __init__(
        self,
        agents: Mapping[str, Agent[Any]],
        store: StorePlace,
        *,
        lease: float = 30.0,
        concurrency: int = 4,
        grace: float = 30.0,
        look_seconds: float = 0.5,
        say: Callable[[str], object] = logger.info,
    ) -> None:
        """Describe a worker; nothing is opened yet.

        Args:
            agents: The agents by the names by which sessions name them.
            store: Where the sessions are; it takes the place of the store of the agents.
            lease: Seconds after which another worker may take a session if this one has ended.
            concurrency: How many sessions run at once.
            grace: Seconds that turns have to end after `stop`, before they are given back.
            look_seconds: How often the store is asked for sessions that are due.
            say: Takes a line for each thing that the worker does.

        Raises:
            TypeError: An agent is none.
            ValueError: There is no agent, or a number cannot be used.
        """
        if not agents:
            raise ValueError("`agents` is empty: a worker needs one that runs turns")
        for name, agent in agents.items():
            if not callable(getattr(agent, "session", None)):
                found = type(agent).__name__
                raise TypeError(f"the agent `{name}` is a `{found}` (must be an `Agent`)")
        for name, value in (("lease", lease), ("look_seconds", look_seconds)):
            if value <= 0:
                raise ValueError(f"`{name}` is {value} (must be more than 0)")
        if concurrency < 1:
            raise ValueError(f"`concurrency` is {concurrency} (must be at least 1)")
        self._agents = dict(agents)
        self._place = store
        self._lease = lease
        self._concurrency = concurrency
        self._grace = grace
        self._look_seconds = look_seconds
        self._say = say
        self._is_stopping = False
        self._seen: dict[str, SessionInfo] = {}
        """Sessions that were accepted and not taken yet, by their ids."""
        self._works: dict[str, SessionWork] = {}
        """What runs, by the ids of the sessions."""
        self._pauses: dict[str, tuple[float, float]] = {}
        """Until when sessions are left alone of which nothing could be done, and how long that is."""
        self._trouble = ""
        """What is wrong with the store; empty as a rule."""
        self._changed = anyio.Event()

    def stop(self) -> None:
        """Take no more sessions, and end `run` when the turns that run have ended; from any thread."""
        self._is_stopping = True
        for work in tuple(self._works.values()):
            work.stop()

    async def run(self) -> None:
        """Take sessions and run their turns until `stop`.

        Raises:
            ConfigurationError: The store cannot be opened.
        """
        async with open_store(self._place) as store:
            keeper = LeaseKeeper(self._lease)
            keeper.start()
            try:
                async with anyio.create_task_group() as tasks:
                    names = ", ".join(f"`{each}`" for each in self._agents)
                    self._say(f"takes sessions of {names}, {self._concurrency} at once")
                    while not self._is_stopping:
                        if not await self._take(store, keeper, tasks.start_soon):
                            await self._wait_for_change(self._look_seconds)
                    await self._drain()
            finally:
                await self._end(keeper)

    async def _end(self, keeper: LeaseKeeper) -> None:
        with anyio.CancelScope(shield=True):
            await keeper.end()

    async def _take(self, store: Store, keeper: LeaseKeeper, start: Callable[..., object]) -> bool:
        """Take a session and start its turns; return whether there may be another."""
        if len(self._works) >= self._concurrency:
            return False
        now = world.time()
        try:
            for each in await list_due_stores(store, now):
                claim = await each.take(
                    name_owner(),
                    now=now,
                    due=now + self._lease,
                    agents=self._agents.keys(),
                    accepts=self._accept,
                )
                if claim is not None:
                    info = self._seen.pop(claim.session_id)
                    self._seen.clear()
                    start(self._run_session, each, keeper, claim, info)
                    # So that it is counted before the next one is taken.
                    await anyio.lowlevel.checkpoint()
                    return True
            self._say_of_store("")
        except StoreError as error:
            self._say_of_store(write_failure(error))
        return False

    def _say_of_store(self, trouble: str) -> None:
        """Say once that the store cannot be used, and once that it can again."""
        if trouble and not self._trouble:
            self._say(f"the store cannot be used: {trouble}")
        elif self._trouble and not trouble:
            self._say("the store can be used again")
        self._trouble = trouble

    def _accept(self, info: SessionInfo) -> bool:
        """Whether a session can run here: its folder is here, and it has not just failed."""
        until, _ = self._pauses.get(info.id, (0.0, 0.0))
        folder = info.meta.get("folder")
        if world.monotonic() < until or info.id in self._works:
            return False
        if isinstance(folder, str) and not os.path.isdir(folder):
            return False
        self._seen[info.id] = info
        return True

    async def _run_session(
        self, store: Store, keeper: LeaseKeeper, claim: Claim, info: SessionInfo
    ) -> None:
        named = f"`{info.id[:SHORT_ID_CHARS]}`"
        name = str(info.meta.get("agent"))

        def say(line: str) -> None:
            self._say(f"{named}: {line}")

        work: SessionWork | None = None
        due: float | None = None
        lease = None
        try:
            agent = self._agents[name]
            work = self._works[info.id] = SessionWork(store, claim, info, agent, say)
            lease = keeper.add(store, claim, work.lose)
            place = "" if "folder" not in info.meta else f" in `{info.meta['folder']}`"
            say(f"taken, for agent `{name}`{place}")
            await work.run()
            due = work.due
            self._note_success(info.id, has_done=work.turns > 0)
        except Exception as error:  # noqa: BLE001 -- a session that fails must not end the others
            if work is None or work.loss is None:
                pause = self._note_failure(info.id)
                due = world.time() + pause
                say(f"failed, and waits {pause:.0f} s: {write_failure(error)}")
            else:
                due = work.due
                if not self._is_stopping and not isinstance(work.loss, StaleOwnerError):
                    say(f"stopped: {write_failure(work.loss)}")
        finally:
            with anyio.CancelScope(shield=True):
                if lease is not None:
                    keeper.remove(lease)
                await self._give_back(store, claim, due, say)
            self._works.pop(info.id, None)
            self._changed.set()

    async def _give_back(
        self, store: Store, claim: Claim, due: float | None, say: Callable[[str], object]
    ) -> None:
        try:
            await store.end(claim, due=due)
        except StaleOwnerError:
            say("lost: another worker has it")
        except StoreError as error:
            say(f"not given back: {write_failure(error)}")
        else:
            say("given back")

    def _note_success(self, session_id: str, *, has_done: bool) -> None:
        """Take a session at once when it is due again, but for one that is due for no reason."""
        self._pauses.pop(session_id, None)
        if not has_done:
            until = world.monotonic() + _FIRST_PAUSE_SECONDS
            self._pauses[session_id] = until, _FIRST_PAUSE_SECONDS

    def _note_failure(self, session_id: str) -> float:
        _, last = self._pauses.get(session_id, (0.0, _FIRST_PAUSE_SECONDS / 2))
        pause = min(last * 2, _LONGEST_PAUSE_SECONDS)
        self._pauses[session_id] = world.monotonic() + pause, pause
        return pause

    async def _wait_for_change(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await self._changed.wait()
        self._changed = anyio.Event()

    async def _drain(self) -> None:
        """Wait until the turns that run have ended, and give the others back."""
        if self._works:
            self._say(f"stops: {_count(len(self._works))} {self._grace:.0f} s to end a turn")
        end = world.monotonic() + self._grace
        while self._works and (left := end - world.monotonic()) > 0:
            await self._wait_for_change(min(left, self._look_seconds))
        async with anyio.create_task_group() as tasks:
            for work in self._works.values():
                tasks.start_soon(work.hand_over)


def _count(sessions: int) -> str:
    return "1 session has" if sessions == 1 else f"{sessions} sessions have"
