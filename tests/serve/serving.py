"""Servers that run beside a test, and clients of both kinds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from working import wait_until

from amplifier_modules.stores import Store
from amplifier_serve import Client, Server, TokenFile


@asynccontextmanager
async def serving(store: Store, tokens: Any, port: int = 0, **options: Any) -> AsyncIterator[str]:
    """Let a server run in the block; its address."""
    server = Server(store, tokens, **options)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: server.run(port=port))
        try:
            yield f"http://127.0.0.1:{await wait_until(lambda: find_port(server))}"
        finally:
            server.stop()


async def find_port(server: Server) -> int:
    return server.port


@asynccontextmanager
async def client_of(kind: str, store: Store, folder: Path, **options: Any) -> AsyncIterator[Client]:
    """Open a client of a store, or of a server that runs beside it."""
    if kind == "store":
        async with Client(store, owner="ann") as client:
            yield client
        return
    tokens = TokenFile(folder / "tokens.json")
    token, _ = tokens.add("ann")
    async with (
        serving(store, tokens, **options) as address,
        Client(address, token=token) as client,
    ):
        yield client


async def ask(address: str, method: str, path: str, token: str | None = None, **given: Any) -> Any:
    """Send a request; return the status, the answer and its headers."""
    headers = {
        **({"Authorization": f"Bearer {token}"} if token else {}),
        **given.pop("headers", {}),
    }
    async with httpx2.AsyncClient(verify=False) as http:
        response = await http.request(method, f"{address}{path}", headers=headers, **given)
    return response.status_code, response.json(), response.headers
