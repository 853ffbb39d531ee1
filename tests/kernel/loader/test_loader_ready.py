"""The `on_session_ready` functions of modules, and how the loader hands them on."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import pytest
from packages import MODULE, FakeEntryPoint, WritePackage, answer

from amplifier_core.loader import ModuleLoader

READY = MODULE + "\nasync def on_session_ready(coordinator): return coordinator\n"


async def test_a_closure_carries_the_ready_function(site: WritePackage):
    site("amplifier_module_tool_ready", READY)
    loader = ModuleLoader()
    for _ in range(2):
        mount: Any = await loader.load("tool-ready")
        module_id, ready = mount.__on_session_ready__
        assert (module_id, await ready(5)) == ("tool-ready", 5)
    assert loader.get_on_session_ready_queue() == []


async def test_an_entry_points_package_may_have_a_ready_function(
    site: WritePackage, install: Callable[..., FakeEntryPoint]
):
    site("amplifier_module_tool_ready", READY)
    package = importlib.import_module("amplifier_module_tool_ready")
    install("tool-alias", package.mount)
    mount: Any = await ModuleLoader().load("tool-alias")
    assert mount.__on_session_ready__ == ("tool-alias", package.on_session_ready)


async def test_a_bound_mount_may_have_a_ready_function(site: WritePackage):
    site(
        "amplifier_module_tool_bound",
        "class Module:\n    async def mount(self, coordinator, config): return config\n"
        "mount = Module().mount\nasync def on_session_ready(coordinator): pass\n",
    )
    mount: Any = await ModuleLoader().load("tool-bound", {"a": 1})
    assert mount.__on_session_ready__[0] == "tool-bound"
    assert await mount(None) == {"a": 1}


# Holds: differ-84
async def test_modules_that_share_a_mount_function_keep_their_own_ready_function(
    site: WritePackage,
):
    ready = "async def on_session_ready(coordinator): return __name__\n"
    site("amplifier_module_shared")
    shared = "from amplifier_module_shared import mount\n"
    site("amplifier_module_tool_one", shared + ready)
    site("amplifier_module_tool_two", shared + ready)
    site("amplifier_module_tool_none", shared)
    loader = ModuleLoader()

    for module_id in ("tool-none", "tool-one", "tool-two", "tool-none", "tool-one"):
        mount: Any = await loader.load(module_id)
        carried = getattr(mount, "__on_session_ready__", None)
        if module_id == "tool-none":
            assert carried is None
        else:
            package = f"amplifier_module_{module_id.replace('-', '_')}"
            assert (carried[0], await carried[1](None)) == (module_id, package)


async def test_a_replaced_look_up_may_give_a_function_that_carries_its_own(
    monkeypatch: pytest.MonkeyPatch,
):
    async def mount(coordinator: Any, config: Any) -> None: ...

    async def ready(coordinator: Any) -> None: ...

    mount.__on_session_ready__ = ("tool-x", ready)  # pyright: ignore
    loader = ModuleLoader()
    monkeypatch.setattr(loader, "_load_entry_point", lambda module_id: mount)
    loaded: Any = await loader.load("tool-x")
    assert loaded.__on_session_ready__ == ("tool-x", ready)


async def test_a_sync_ready_function_is_skipped_with_a_warning(
    site: WritePackage, caplog: pytest.LogCaptureFixture
):
    site("amplifier_module_tool_sync", MODULE + "\ndef on_session_ready(coordinator): pass\n")
    mount = await ModuleLoader().load("tool-sync")
    assert not hasattr(mount, "__on_session_ready__")
    assert [
        (record.levelname, record.name) for record in caplog.records if "sync" in record.message
    ] == [("WARNING", "amplifier_core.loader")]


def test_asynchronous_functions_of_every_kind_are_told_from_sync_ones():
    from amplifier_core._loading.check import is_async

    async def function() -> None: ...

    class Callable_:
        async def __call__(self) -> None: ...

        async def method(self) -> None: ...

    assert [
        is_async(each)
        for each in (function, partial(function), Callable_(), Callable_().method, mock.AsyncMock())
    ] == [True] * 5
    assert [is_async(each) for each in (print, len, lambda: 0, mock.Mock(), Callable_, None)] == [
        False
    ] * 6


def test_the_seams_give_the_raw_mount_function(site: WritePackage):
    site("amplifier_module_tool_ready", READY)
    loader = ModuleLoader()
    package = importlib.import_module("amplifier_module_tool_ready")
    assert loader._load_filesystem("tool-ready") is package.mount
    assert package.mount.__on_session_ready__ == ("tool-ready", package.on_session_ready)
    assert loader._load_filesystem("tool-x", "amplifier_module_tool_ready") is package.mount
    assert loader._load_filesystem("tool-none") is None
    assert loader._load_entry_point("tool-none") is None
    assert loader._on_session_ready_queue == []


def test_the_ready_queue_is_copied_and_cleared():
    loader = ModuleLoader()
    loader.enqueue_on_session_ready("a", answer)  # pyright: ignore[reportArgumentType]
    loader.get_on_session_ready_queue().clear()
    assert loader.get_on_session_ready_queue() == [("a", answer)]
    assert loader._on_session_ready_queue == [("a", answer)]
    loader.clear_on_session_ready_queue()
    assert loader.get_on_session_ready_queue() == []
