"""A provider of OpenAI that asks a server of the tests."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from responses_wire import Hooks, Server, running

from amplifier_providers.openai import OpenAIProvider, read_config

KEY = "sk-very-secret"


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


@pytest.fixture
async def make(server: Server, hooks: Hooks) -> AsyncIterator[Callable[..., OpenAIProvider]]:
    """Make a provider with some settings: `make(default_model="gpt-4.1")`."""
    made: list[OpenAIProvider] = []

    def provider(**config: Any) -> OpenAIProvider:
        base = {"api_key": KEY, "base_url": f"{server.url}/v1", "timeout": 5.0, "max_retries": 0}
        settings = read_config({**base, **config}, {})
        assert settings is not None
        made.append(OpenAIProvider(settings, hooks))
        return made[-1]

    yield provider
    for each in made:
        await each.close()
