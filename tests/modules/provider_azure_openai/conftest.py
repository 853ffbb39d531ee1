"""A provider for Azure that asks a server of the tests."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from responses_wire import Hooks, Server, running

from amplifier_providers.azure_openai import AzureOpenAIProvider, read_config

KEY = "azure-very-secret"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No variables of Azure but those that a test sets."""
    for name in (
        "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_KEY",
        "AZURE_OPENAI_API_VERSION", "AZURE_USE_MANAGED_IDENTITY", "AZURE_USE_DEFAULT_CREDENTIAL",
        "AZURE_MANAGED_IDENTITY_CLIENT_ID",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.fixture
async def make(server: Server, hooks: Hooks) -> AsyncIterator[Callable[..., AzureOpenAIProvider]]:
    """Make a provider with some settings: `make(default_deployment="prod")`."""
    made: list[AzureOpenAIProvider] = []

    def provider(credential: Any = None, **config: Any) -> AzureOpenAIProvider:
        base = {"api_key": KEY, "endpoint": server.url, "timeout": 5.0, "max_retries": 0}
        settings = read_config({**base, **config}, {})
        assert not isinstance(settings, str)
        made.append(AzureOpenAIProvider(settings, hooks, credential=credential))
        return made[-1]

    yield provider
    for each in made:
        await each.close()
