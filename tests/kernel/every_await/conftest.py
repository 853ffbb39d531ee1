"""Each test runs with every way to interrupt, on both engines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from interrupting import WAYS


@pytest.fixture(params=[pytest.param(way, id=name) for name, way in WAYS.items()])
def way(request: pytest.FixtureRequest) -> tuple[str, Any]:
    return request.param


@pytest.fixture
def anyio_backend(way: tuple[str, Any]) -> str:
    return way[0]


@pytest.fixture
def interrupt(way: tuple[str, Any]) -> Any:
    return way[1]


@pytest.fixture
def session_class(engine: Any) -> Any:
    return engine.AmplifierSession
