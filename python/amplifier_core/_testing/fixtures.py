"""The fixtures of the pytest plugin that mount a module."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import wraps
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from ..testing import MockCoordinator

try:
    import pytest_asyncio
except ImportError:
    pytest_asyncio = None

IS_ASYNC_THERE = pytest_asyncio is not None
"""Whether pytest-asyncio is installed, which the fixtures need."""


@asynccontextmanager
async def _mount_module(path: Path | None, coordinator: MockCoordinator) -> AsyncGenerator[Any]:
    """Mount a module with an empty configuration, and clean up after it."""
    if path is None:
        pytest.skip("no module was found; name one with `--module-path`")
    from ..validation.base import import_module_from_path

    cleanup = import_module_from_path(path).mount(coordinator, {})
    if isawaitable(cleanup):
        cleanup = await cleanup
    try:
        yield cleanup
    finally:
        if callable(cleanup):
            finished = cleanup()
            if isawaitable(finished):
                await finished


def _first_mounted(coordinator: MockCoordinator, mount_point: str) -> Any:
    mounted = cast("dict[str, Any]", coordinator.get(mount_point))
    if not mounted:
        pytest.fail(f"the module mounted nothing at `{mount_point}`")
    return next(iter(mounted.values()))


def _get_mounted(coordinator: MockCoordinator, mount_point: str) -> Any:
    mounted = coordinator.get(mount_point)
    if mounted is None:
        pytest.fail(f"the module mounted nothing at `{mount_point}`")
    return mounted


def _async_fixture(function: Callable[..., AsyncIterator[Any]]) -> Any:
    """An async fixture; without pytest-asyncio one that says what is missing."""
    if pytest_asyncio is not None:
        return pytest_asyncio.fixture(function)  # pyright: ignore[reportUnknownMemberType]

    @wraps(function)
    def fail_without_plugin(module_path: Path | None, coordinator: MockCoordinator) -> None:
        pytest.fail(f"the fixture `{function.__name__}` needs pytest-asyncio: install it")

    del (
        fail_without_plugin.__wrapped__
    )  # pytest would take the signature and the kind of the original
    return pytest.fixture(fail_without_plugin)


@_async_fixture
async def provider_module(
    module_path: Path | None, coordinator: MockCoordinator
) -> AsyncIterator[Any]:
    """The first provider that the module mounts."""
    async with _mount_module(module_path, coordinator):
        yield _first_mounted(coordinator, "providers")


@_async_fixture
async def tool_module(module_path: Path | None, coordinator: MockCoordinator) -> AsyncIterator[Any]:
    """The first tool that the module mounts."""
    async with _mount_module(module_path, coordinator):
        yield _first_mounted(coordinator, "tools")


@_async_fixture
async def hook_cleanup(
    module_path: Path | None, coordinator: MockCoordinator
) -> AsyncIterator[Any]:
    """What `mount` of a hook module returns; its handlers are in `coordinator.hooks`."""
    async with _mount_module(module_path, coordinator) as cleanup:
        yield cleanup


@_async_fixture
async def orchestrator_module(
    module_path: Path | None, coordinator: MockCoordinator
) -> AsyncIterator[Any]:
    """The loop that the module mounts."""
    async with _mount_module(module_path, coordinator):
        yield _get_mounted(coordinator, "orchestrator")


@_async_fixture
async def context_module(
    module_path: Path | None, coordinator: MockCoordinator
) -> AsyncIterator[Any]:
    """The context that the module mounts."""
    async with _mount_module(module_path, coordinator):
        yield _get_mounted(coordinator, "context")
