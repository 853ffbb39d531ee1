"""One server of a session: connected in the background, and connected again whenever it is lost."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import anyio

from amplifier_core import world
from amplifier_modules.running.background import start_task

from .connection import Connection, OpenConnection
from .server_entry import EntryError
from .server_errors import ServerDownError, describe_problem

logger = logging.getLogger(__name__)

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 60.0
_STABLE_SECONDS = 30.0
"""A connection that was this long has not failed: the next wait is short again."""
_CLOSE_SECONDS = 8.0


class State(Enum):
    """Where a server is in its life."""

    WAITING = "waiting"
    """It is connected when it is needed first."""
    CONNECTING = "connecting"
    CONNECTED = "connected"
    DOWN = "down"
    """It is tried again."""
    UNUSABLE = "unusable"
    """Its entry cannot be used here, whatever is tried."""
    CLOSED = "closed"


@dataclass(frozen=True)
class ServerStatus:
    """A server as a person reads it."""

    name: str
    state: State
    tools: int
    """How many tools of it are known."""
    problem: str = ""
    """Why it is down; empty where it is not."""
    retry_seconds: float | None = None
    """After how many seconds it is tried again; None where it is not."""

    def describe(self) -> str:
        """Return one line."""
        line = f"`{self.name}`: {self.state.value}"
        if self.state is State.CONNECTED:
            line += f", {self.tools} tool{'' if self.tools == 1 else 's'}"
        if self.problem:
            line += f": {self.problem}"
        if self.retry_seconds is not None:
            line += f"; tried again in {max(1, round(self.retry_seconds))} s"
        return line


class Server:
    """Keeps one server connected from the first need to the session's end."""

    def __init__(
        self,
        name: str,
        connect: OpenConnection,
        take_tools: Callable[[list[Any]], Awaitable[int]],
        note_state: Callable[[ServerStatus], Awaitable[None]],
        note_prompts: Callable[[], Awaitable[None]],
        patience: float,
    ) -> None:
        """Describe a server; nothing is started yet.

        Args:
            name: What the user calls it.
            connect: Opens a connection.
            take_tools: Takes the tools of the server, each time that they are listed, and returns
                how many there are.
            note_state: Called at each change of the state.
            note_prompts: Called when the prompts of the server have changed.
            patience: Seconds that a call waits for the connection.
        """
        self.name = name
        self._connect = connect
        self._take_tools = take_tools
        self._note_state = note_state
        self._note_prompts = note_prompts
        self._patience = patience
        self._state = State.WAITING
        self._connection: Connection | None = None
        self._problem = ""
        self._retry_at: float | None = None
        self._failures = 0
        """Attempts that have led to no connection."""
        self._tools = 0
        self._is_started = False
        self._scope = anyio.CancelScope()
        self._ended = anyio.Event()
        self._wanted = anyio.Event()
        self._changed = anyio.Event()

    @property
    def status(self) -> ServerStatus:
        """Where it is now."""
        left = None if self._retry_at is None else max(0.0, self._retry_at - world.monotonic())
        return ServerStatus(self.name, self._state, self._tools, self._problem, left)

    def set_known(self, tools: int) -> None:
        """Note how many tools are known before it is connected."""
        self._tools = tools

    def start(self) -> None:
        """Connect in the background, if that has not begun."""
        if not self._is_started and self._state is State.WAITING:
            self._is_started = True
            start_task(self._run)

    async def find_connection(self) -> Connection:
        """Return the connection; where there is none, wait for the next attempt.

        Raises:
            ServerDownError: It has failed, or takes too long.
        """
        connection = self._connection
        if connection is not None and not connection.lost.is_set():
            return connection
        failures = self._failures
        self.start()
        self._wanted.set()
        with anyio.move_on_after(self._patience):
            while True:
                connection = self._connection
                if connection is not None and not connection.lost.is_set():
                    return connection
                if self._failures > failures or self._state in (State.UNUSABLE, State.CLOSED):
                    raise ServerDownError(f"the server is not connected: {self.status.describe()}")
                await self._changed.wait()
        raise ServerDownError(f"the server was not connected in time: {self.status.describe()}")

    async def wait_until_settled(self) -> None:
        """Wait until the first attempt is over, whatever came of it."""
        while self._state in (State.WAITING, State.CONNECTING):
            await self._changed.wait()

    async def close(self) -> None:
        """End the connection, and what was started for it."""
        self._scope.cancel()
        if self._is_started:
            with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
                await self._ended.wait()
        self._state = State.CLOSED
        self._wake_waiting()

    async def _run(self) -> None:
        try:
            with self._scope:
                await self._stay_connected()
        except Exception:
            # A task of its own has nobody who takes what it raises.
            logger.exception("the MCP server `%s` is given up", self.name)
            self._state = State.UNUSABLE
        finally:
            self._connection = None
            self._ended.set()
            self._wake_waiting()

    async def _stay_connected(self) -> None:
        in_a_row = 0
        while True:
            self._wanted = anyio.Event()
            await self._enter(State.CONNECTING)
            begun, failures = world.monotonic(), self._failures + 1
            try:
                problem = await self._be_connected()
            except (EntryError, ImportError) as error:
                await self._enter(State.UNUSABLE, describe_problem(error))
                return
            except Exception as error:  # noqa: BLE001 -- of a server, whatever it is
                problem = describe_problem(error)
            finally:
                connection, self._connection = self._connection, None
                if connection is not None:
                    failures -= 1
                    connection.note_lost("it was closed")
            if world.monotonic() - begun >= _STABLE_SECONDS:
                in_a_row = 0
            wait = choose_wait(in_a_row)
            in_a_row += 1
            self._failures = failures
            self._retry_at = world.monotonic() + wait
            await self._enter(State.DOWN, problem)
            with anyio.move_on_after(wait):
                await self._wanted.wait()
            self._retry_at = None

    async def _be_connected(self) -> str:
        """Connect, and return why the connection has ended.

        Raises:
            Exception: There was none.
        """
        async with self._connect() as connection:
            self._tools = await self._take_tools(connection.tools)
            self._connection = connection
            await self._enter(State.CONNECTED)
            async with anyio.create_task_group() as group:
                group.start_soon(connection.watch_changes, self._take_changed, self._note_prompts)
                await connection.lost.wait()
                group.cancel_scope.cancel()
            return connection.problem

    async def _take_changed(self, tools: list[Any]) -> None:
        self._tools = await self._take_tools(tools)

    async def _enter(self, state: State, problem: str = "") -> None:
        self._state, self._problem = state, problem
        self._wake_waiting()
        await self._note_state(self.status)

    def _wake_waiting(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()


def choose_wait(failures: int) -> float:
    """Return the seconds before the next attempt: twice as long each time, and never the same."""
    longest = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(failures, 16))
    return longest * (0.5 + world.random() / 2)
