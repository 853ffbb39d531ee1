"""Each test runs with every way to interrupt, on both engines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

pytest.register_assert_rewrite("turns", "expected")

from interrupting import REQUESTS, WAYS


@pytest.fixture(params=[pytest.param(way, id=name) for name, way in WAYS.items()])
def way(request: pytest.FixtureRequest) -> tuple[str, Any]:
    return request.param


@pytest.fixture(params=[pytest.param(way, id=name) for name, way in REQUESTS.items()])
def asking(request: pytest.FixtureRequest) -> tuple[str, Any]:
    return request.param


@pytest.fixture
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue("asking" if "asking" in request.fixturenames else "way")[0]


@pytest.fixture
def interrupt(way: tuple[str, Any]) -> Any:
    return way[1]


@pytest.fixture
def session_class(engine: Any) -> Any:
    return engine.AmplifierSession
