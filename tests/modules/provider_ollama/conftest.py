"""A strict server of Ollama, and providers that ask it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from typing import Any

import pytest

from amplifier_core import ModuleCoordinator
from amplifier_providers.ollama import OllamaProvider, read_config
from amplifier_testing.servers import OllamaServer

MODEL = "qwen3-vl:8b"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


class Hooks:
    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def emit(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))

    def of(self, *names: str) -> list[dict[str, Any]]:
        return [data for event, data in self.events if event in names]


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


Make = Callable[..., OllamaProvider]


@pytest.fixture
async def provider_with(server: OllamaServer, hooks: Hooks) -> AsyncIterator[Make]:
    """Make a provider with these settings, by default without retries."""
    made: list[OllamaProvider] = []
    numbers = count(1)

    def make(**config: Any) -> OllamaProvider:
        address = {} if "base_url" in config else {"host": server.url}
        given = {**address, "default_model": MODEL, "max_retries": 0, "timeout": 5, **config}
        settings = read_config(given, {})
        made.append(OllamaProvider(settings, hooks, new_id=lambda: f"made_{next(numbers)}"))
        return made[-1]

    yield make
    for each in made:
        await each.close()


@pytest.fixture
def coordinator(monkeypatch: pytest.MonkeyPatch) -> ModuleCoordinator:
    for name in ("OLLAMA_HOST", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return ModuleCoordinator()


@pytest.fixture
def closed_address() -> str:
    """An address at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{bound.getsockname()[1]}"
