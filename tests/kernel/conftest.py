"""The kernel runs under asyncio and trio alike, and so does every async test here.

Tests that take `engine` run on both engines: the Rust extension and plain Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@dataclass(frozen=True)
class Engine:
    """The four classes of one engine."""

    name: str
    HookRegistry: Any
    CancellationToken: Any
    ModuleCoordinator: Any
    AmplifierSession: Any


def engine_of(name: str) -> Engine:
    if name == "rust":
        from amplifier_core import _engine

        return Engine(
            name,
            _engine.RustHookRegistry,
            _engine.RustCancellationToken,
            _engine.RustCoordinator,
            _engine.RustSession,
        )
    from amplifier_core.cancellation import CancellationToken
    from amplifier_core.coordinator import ModuleCoordinator
    from amplifier_core.hooks import HookRegistry
    from amplifier_core.session import AmplifierSession

    return Engine(name, HookRegistry, CancellationToken, ModuleCoordinator, AmplifierSession)


@pytest.fixture(scope="session", params=["rust", "python"])
def engine(request: pytest.FixtureRequest) -> Engine:
    return engine_of(request.param)


@pytest.fixture(scope="session")
def rust() -> Engine:
    """For what plain Python does otherwise: `test_twin_session.py` tells how."""
    return engine_of("rust")


@pytest.fixture(scope="session")
def engines() -> tuple[Engine, Engine]:
    """Both engines, to be compared."""
    return engine_of("rust"), engine_of("python")
