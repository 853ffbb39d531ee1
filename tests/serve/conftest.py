"""Workers, clients and servers, on scripted models; each runs with others as it does in production."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from amplifier_modules.stores.sqlite import SqliteStore


@pytest.fixture(params=["asyncio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(folder=str(tmp_path / "sessions"))
    yield store
    await store.close()
