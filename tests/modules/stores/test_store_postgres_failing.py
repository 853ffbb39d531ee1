"""What `store-postgres` does while its server is killed, starts again, or is cut off.

Holds: postgres-6, postgres-7
"""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Self

import anyio
import pytest
from postgres_fixture import Database, make_database
from postgres_server import PostgresServer, list_programs

from amplifier_modules.stores import Claim, NewSession
from amplifier_modules.stores.errors import UnreachableStoreError
from amplifier_modules.stores.postgres import PostgresStore
from amplifier_modules.stores.waiting import wait_for_entries, wait_for_events

pytestmark = pytest.mark.xdist_group("postgres")

LONG_SECONDS = 20.0
_TOLD_SECONDS = 0.2


class CutOff:
    """Passes on what a client and the server say, and loses the answer to a statement.

    Args:
        port: That of the server.
    """

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.loses = b""
        """The connection is cut when the server has answered a message with these bytes."""
        self._sockets: list[socket.socket] = [self._listener]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._sockets:
            _close(each)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._server_port))
            self._sockets += [client, server]
            is_lost = threading.Event()
            for source, target, is_client in ((client, server, True), (server, client, False)):
                arguments = source, target, is_lost, is_client
                self._threads.append(threading.Thread(target=self._pass_on, args=arguments))
                self._threads[-1].start()

    def _pass_on(
        self,
        source: socket.socket,
        target: socket.socket,
        is_lost: threading.Event,
        is_client: bool,
    ) -> None:
        with suppress(OSError):
            while content := source.recv(65536):
                if is_client and self.loses and self.loses in content:
                    is_lost.set()
                    self.loses = b""
                elif not is_client and is_lost.is_set():
                    break
                target.sendall(content)
        _close(source)
        _close(target)


def _close(each: socket.socket) -> None:
    with suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()


@pytest.fixture
def cut_off(postgres: Database) -> Iterator[CutOff]:
    with CutOff(postgres.server.port) as proxy:
        yield proxy


def open_store(
    database: Database, tenant: str, port: int | None = None, **more: Any
) -> PostgresStore:
    dsn = database.server.make_dsn(user="service", port=port)
    return PostgresStore(dsn=dsn, tenant=tenant, **more)


def test_a_write_whose_answer_is_lost_is_made_once(
    postgres: Database,
    cut_off: CutOff,
) -> None:
    store = open_store(postgres, "lost answers", cut_off.port)

    def lose(text: str) -> None:
        cut_off.loses = text.encode()

    async def check() -> None:
        await store.sessions()
        lose("mark-begin")
        claim = await store.claim("mark-begin", "me", new=NewSession())
        assert claim == Claim(session_id="mark-begin", epoch=1, head=1)
        lose("mark-append")
        claim = await store.append(claim, [("a", "mark-append"), ("b", 2)])
        assert claim.head == 3
        lose("mark-put")
        entry = await store.put("mark-begin", "a", "mark-put")
        assert [each.id for each in await store.inbox("mark-begin")] == [entry]
        lose("mark-fork")
        fork = await store.fork("mark-begin", "mark-fork")
        assert fork.base_number == 3
        lose("mark-fork")
        await store.delete("mark-fork")
        lose("mark-begin")
        await store.end(claim, due=5.0)
        lose("mark-begin")
        bodies = [each.body for each in await store.read("mark-begin")][1:]
        assert bodies == ["mark-append", 2]
        (info,) = await store.sessions()
        assert (info.id, info.epoch, info.head, info.due) == ("mark-begin", 1, 3, 5.0)
        assert cut_off.loses == b""

    try:
        asyncio.run(closing(store, check()))
    finally:
        cut_off.loses = b""


async def closing(store: PostgresStore, check: Any) -> None:
    try:
        await check
    finally:
        await store.close()


def test_a_server_that_does_not_answer_is_an_error_in_time(
    postgres: Database,
) -> None:
    async def check() -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            store = open_store(postgres, "silent", port, timeout=0.2)
            with pytest.raises(UnreachableStoreError) as raised:
                await store.sessions()
            assert str(raised.value) == f"`127.0.0.1:{port}/postgres` did not answer within 0.2 s"
            await store.close()

    asyncio.run(check())


def test_an_entry_that_arrives_while_the_owner_ends_is_never_forgotten(
    postgres: Database,
) -> None:
    store, other = (open_store(postgres, "races") for _ in range(2))

    async def check() -> None:
        for number in range(30):
            id = f"session {number}"
            claim = await store.claim(id, "me", new=NewSession(), due=9.0)
            # Both at once, in either order.
            await asyncio.gather(store.end(claim), other.put(id, "prompt", number, due=3.0))
        infos = await store.sessions()
        assert [each.due for each in infos] == [3.0] * 30
        await other.close()

    asyncio.run(closing(store, check()))


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_who_waits_for_a_session_hears_of_its_changes(
    postgres: Database,
    backend: str,
) -> None:
    store, other = (open_store(postgres, f"waits {backend}") for _ in range(2))

    async def check() -> None:
        claim = await store.claim("one", "me", new=NewSession())
        heard: list[str] = []
        # That it was claimed may be told a moment later.
        await wait_for_events(other, "one", _TOLD_SECONDS)
        await wait_for_events(other, "one", _TOLD_SECONDS)

        async def wait(name: str, wait_for: Any) -> None:
            await wait_for(other, "one", LONG_SECONDS)
            heard.append(name)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, "events", wait_for_events)
            tasks.start_soon(wait, "entries", wait_for_entries)
            # Until both listen, which takes a moment.
            while "entries" not in heard:
                await store.put("one", "a", 1)
                await anyio.sleep(0.02)
            assert heard == ["entries"]
            while "events" not in heard:
                claim = await store.append(claim, [("a", 1)])
                await anyio.sleep(0.02)
        with anyio.move_on_after(0.01) as scope:
            await wait_for_events(other, "none", LONG_SECONDS)
        assert scope.cancelled_caught
        await wait_for_events(other, "none", 0.01)
        await other.close()
        await store.close()

    anyio.run(check, backend=backend)


def test_a_forked_process_has_connections_of_its_own(postgres: Database) -> None:
    program = (
        "import asyncio, os, sys\n"
        "from amplifier_modules.stores import NewSession\n"
        "from amplifier_modules.stores.postgres import PostgresStore\n"
        "store = PostgresStore(dsn=sys.argv[1], tenant='forks')\n"
        "async def begin(id):\n"
        "    await store.claim(id, 'me', new=NewSession())\n"
        "    return sorted(each.id for each in await store.sessions())\n"
        "print(asyncio.run(begin('parent')), flush=True)\n"
        "process = os.fork()\n"
        "if not process:\n"
        "    print(asyncio.run(begin('child')), flush=True)\n"
        "    asyncio.run(store.close())\n"
        "    os._exit(0)\n"
        "assert os.waitpid(process, 0)[1] == 0\n"
        "print(asyncio.run(begin('parent again')), flush=True)\n"
    )
    command = [sys.executable, "-W", "error", "-c", program, postgres.dsn]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    lines = ["['parent']", "['child', 'parent']", "['child', 'parent', 'parent again']"]
    assert (done.stdout.splitlines(), done.stderr) == (lines, "")


def test_a_server_that_is_killed_loses_nothing_acknowledged() -> None:
    programs = list_programs()
    if not programs:
        pytest.skip("no PostgreSQL is installed")
    server = PostgresServer(programs[-2 if len(programs) > 1 else -1])
    acknowledged: dict[str, list[int]] = {f"session {number}": [] for number in range(4)}
    is_over = asyncio.Event()

    async def write(store: PostgresStore, id: str) -> None:
        claim = await store.claim(id, "me", new=NewSession())
        while not is_over.is_set():
            number = len(acknowledged[id])
            claim = await store.append(claim, [("a", number)])
            acknowledged[id].append(number)

    async def kill() -> None:
        for _ in range(2):
            count = sum(map(len, acknowledged.values()))
            while sum(map(len, acknowledged.values())) < count + 40:  # noqa: ASYNC110 -- of others
                await asyncio.sleep(0.01)
            await asyncio.to_thread(server.stop, signal.SIGKILL)
            await asyncio.to_thread(server.start)
        is_over.set()

    async def check(database: Database) -> None:
        store = open_store(database, "killed", timeout=LONG_SECONDS)
        await asyncio.gather(kill(), *(write(store, id) for id in acknowledged))
        for id, numbers in acknowledged.items():
            assert [each.body for each in (await store.read(id))[1:]] == numbers
        await store.close()

    try:
        server.start()
        asyncio.run(check(make_database(server)))
    finally:
        server.remove()
