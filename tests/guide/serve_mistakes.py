"""The mistakes of the guide with workers, clients and servers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from mistakes import mistake

from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_serve import Client, Server, TokenFile, Worker

PAGE = "workers"

mistake(PAGE, "a worker without agents")(lambda: Worker({}, "sqlite"))
mistake(PAGE, "a client of a server without a token")(lambda: Client("http://127.0.0.1:8790"))


def _use_store(use: Callable[[SqliteStore, Path], Awaitable[object]]) -> None:
    async def main() -> None:
        with TemporaryDirectory() as folder:
            store = SqliteStore(folder=folder)
            try:
                await use(store, Path(folder))
            finally:
                await store.close()

    asyncio.run(main())


@mistake(PAGE, "a prompt for no agent")
def _() -> None:
    async def submit(store: SqliteStore, folder: Path) -> None:
        async with Client(store) as client:
            await client.submit("Hi.")

    _use_store(submit)


@mistake(PAGE, "a prompt for a session that is not there, or that of another owner")
def _() -> None:
    async def submit(store: SqliteStore, folder: Path) -> None:
        async with Client(store) as client:
            await client.submit("Hi.", session_id="chat")

    _use_store(submit)


@mistake(PAGE, "an owner or a token that a server does not know")
def _() -> None:
    async def ask(store: SqliteStore, folder: Path) -> None:
        listening = asyncio.Event()
        server = Server(store, TokenFile(folder / "tokens"), say=lambda _: listening.set())
        running = asyncio.create_task(server.run())
        await listening.wait()
        try:
            async with Client(f"http://127.0.0.1:{server.port}", token="amp_of_nobody") as client:
                await client.list()
        finally:
            server.stop()
            await running

    _use_store(ask)


@mistake(PAGE, "a server that others can reach, without tokens")
def _() -> None:
    _use_store(lambda store, folder: Server(store, TokenFile(folder / "none")).run("0.0.0.0"))


@mistake(PAGE, "a file of tokens that others can read")
def _() -> None:
    with TemporaryDirectory() as folder:
        tokens = TokenFile(Path(folder) / "tokens")
        tokens.add("ann")
        tokens.path.chmod(0o644)
        tokens.list_tokens()
