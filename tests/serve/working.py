"""Workers that run beside a test, and what it waits for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio

from amplifier_agent import Agent
from amplifier_core import world
from amplifier_core.events import ORCHESTRATOR_COMPLETE
from amplifier_modules.stores import NewSession, SessionInfo, Store, StoredEvent
from amplifier_modules.stores.inbox import PROMPT
from amplifier_serve import Worker

PATIENCE_SECONDS = 20.0


@asynccontextmanager
async def working(
    store: Store, agents: Mapping[str, Agent[Any]], lines: list[str] | None = None, **options: Any
) -> AsyncIterator[Worker]:
    """Let a worker run in the block; it is stopped at its end."""
    say = (lines if lines is not None else list[str]()).append
    worker = Worker(agents, store, say=say, **{"look_seconds": 0.01, **options})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(worker.run)
        try:
            yield worker
        finally:
            worker.stop()


async def begin(store: Store, id: str, **meta: Any) -> None:
    """Store a session that nobody owns."""
    await store.end(await store.claim(id, "test", new=NewSession(meta={"agent": "helper", **meta})))


async def send(store: Store, id: str, prompt: str) -> None:
    """Send a prompt that is due."""
    await store.put(id, PROMPT, {"text": prompt}, due=world.time())


async def wait_until(check: Callable[[], Awaitable[Any]]) -> Any:
    """Return what the check returns once it is true."""
    with anyio.fail_after(PATIENCE_SECONDS):
        while True:
            if found := await check():
                return found
            await anyio.sleep(0.01)


async def wait_for_endings(store: Store, id: str, count: int) -> list[str]:
    """Return how turns ended, once so many have."""

    async def list_endings() -> list[str] | None:
        found = [
            str(each.body["status"])
            for each in await store.read(id)
            if each.kind == ORCHESTRATOR_COMPLETE
        ]
        return found if len(found) >= count else None

    return await wait_until(list_endings)


async def wait_for_rest(store: Store, id: str) -> SessionInfo:
    """Return a session once nobody owns it."""

    async def find() -> SessionInfo | None:
        info = next(each for each in await store.sessions() if each.id == id)
        return info if info.owner is None else None

    return await wait_until(find)


async def wait_for_event(store: Store, id: str, kind: str) -> StoredEvent:
    """Return the last event of a kind, once there is one."""

    async def find() -> StoredEvent | None:
        found = [each for each in await store.read(id) if each.kind == kind]
        return found[-1] if found else None

    return await wait_until(find)


def list_texts(events: list[StoredEvent], role: str) -> list[str]:
    """Return what the user, the model or tools have said."""
    texts: list[str] = []
    for each in events:
        if each.kind == "context:message" and each.body["message"]["role"] == role:
            content = each.body["message"]["content"]
            if not isinstance(content, str):
                content = "".join(block.get("text", "") for block in content)
            texts.append(content)
    return [each for each in texts if each]
