"""`tool-mcp` mounted with servers of the test: objects in the process, or programs of plain Python."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")
sys.path.insert(0, str(Path(__file__).parent))

from mounted_servers import Mount, Mounted

from amplifier_core import ModuleCoordinator
from amplifier_core.session_capabilities import SESSION_WORKING_DIR
from amplifier_modules.tools import mcp as tool_mcp
from amplifier_modules.tools.mcp import opening


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's caches."""
    folder = tmp_path_factory.mktemp("caches")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], Any]]:
    """Makes servers in the process by the commands that would start them."""
    servers: dict[str, Callable[[], Any]] = {}
    otherwise = opening.open_place

    def open_place(place: Any, *more: Any, **named: Any) -> Any:
        make = servers.get(getattr(place, "command", ""))
        return otherwise(place, *more, **named) if make is None else make()

    monkeypatch.setattr(opening, "open_place", open_place)
    return servers


@pytest.fixture
async def mount() -> AsyncIterator[Mount]:
    """Mount servers: `await mount({"one": {...}}, call_timeout=1)`; they end with the test."""
    coordinators: list[ModuleCoordinator] = []

    async def mount(
        servers: dict[str, Any], *, ask: Any = None, folder: Path | None = None, **settings: Any
    ) -> Mounted:
        coordinator = ModuleCoordinator(approval_system=ask)
        coordinators.append(coordinator)
        if folder is not None:
            coordinator.register_capability(SESSION_WORKING_DIR, str(folder))
        mounted = Mounted(coordinator)
        await tool_mcp.mount(coordinator, {"servers": servers, **settings})
        return mounted

    yield mount
    for each in coordinators:
        await each.cleanup()
