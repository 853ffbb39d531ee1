"""How modules are found among what is installed, what is importable and what is our own."""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
import pickle
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from packages import FakeEntryPoint, WritePackage, answer

import amplifier_modules
from amplifier_core import module_sources
from amplifier_core._packages import installed
from amplifier_core.loader import (
    MODULE_FAILURE_REASONS,
    TYPE_TO_MOUNT_POINT,
    ModuleLoader,
    ModuleValidationError,
    module_failure_reason,
)


async def test_an_importable_package_is_found(site: WritePackage):
    site("amplifier_module_tool_found")
    mount = await ModuleLoader().load("tool-found", {"a": 1})
    assert await mount("here") == ("amplifier_module_tool_found", "here", {"a": 1})


async def test_an_entry_point_wins_over_a_package(
    site: WritePackage, install: Callable[..., FakeEntryPoint], caplog: pytest.LogCaptureFixture
):
    site("amplifier_module_tool_both")
    install("tool-both", answer)
    with caplog.at_level(logging.DEBUG, "amplifier_core.loader"):
        mount = await ModuleLoader().load("tool-both")
    assert await mount("here") == ("entry point", "here", {})
    assert "module `tool-both` taken from its entry point" in caplog.text


async def test_a_package_wins_over_our_own(
    site: WritePackage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    site("amplifier_module_tool_ours")
    site("amplifier_module_elsewhere")
    monkeypatch.setitem(amplifier_modules.MODULES, "tool-ours", "amplifier_module_elsewhere")
    with caplog.at_level(logging.DEBUG, "amplifier_core.loader"):
        mount = await ModuleLoader().load("tool-ours")
    assert (await mount(None))[0] == "amplifier_module_tool_ours"
    assert "taken from package `amplifier_module_tool_ours`" in caplog.text


async def test_our_own_are_found_where_nothing_else_is(
    site: WritePackage, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    site("amplifier_module_elsewhere")
    monkeypatch.setitem(amplifier_modules.MODULES, "tool-ours", "amplifier_module_elsewhere")
    with caplog.at_level(logging.DEBUG, "amplifier_core.loader"):
        mount = await ModuleLoader().load("tool-ours")
    assert (await mount(None))[0] == "amplifier_module_elsewhere"
    assert "taken from our own `amplifier_module_elsewhere`" in caplog.text


@pytest.mark.parametrize("module_id", sorted(amplifier_modules.MODULES))
async def test_each_module_of_the_table_can_be_loaded(module_id: str):
    assert callable(await ModuleLoader().load(module_id))


async def test_a_module_of_ours_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(amplifier_modules.MODULES, "tool-lost", "amplifier_modules.tools.lost")
    with pytest.raises(ValueError, match=r"No module named 'amplifier_modules\.tools\.lost'"):
        await ModuleLoader().load("tool-lost")


async def test_a_broken_package_is_not_replaced_by_ours(
    site: WritePackage, monkeypatch: pytest.MonkeyPatch
):
    site("amplifier_module_tool_ours", "import no_such_thing")
    site("amplifier_module_elsewhere")
    monkeypatch.setitem(amplifier_modules.MODULES, "tool-ours", "amplifier_module_elsewhere")
    with pytest.raises(ValueError, match="No module named 'no_such_thing'"):
        await ModuleLoader().load("tool-ours")


async def test_a_module_that_is_nowhere_is_a_value_error_with_a_reason():
    with pytest.raises(
        ValueError, match=r"^Module 'zz' not found via entry points or filesystem$"
    ) as failed:
        await ModuleLoader().load("zz")
    assert failed.value.reason_code == "missing_source"  # pyright: ignore
    assert module_failure_reason(failed.value) == "missing_source"


async def test_a_misspelt_module_is_guessed(site: WritePackage):
    site("amplifier_module_tool_weather")
    with pytest.raises(ValueError, match="did you mean `loop-basic`"):
        await ModuleLoader().load("lop-basic")
    with pytest.raises(ValueError, match="did you mean `tool-weather`") as failed:
        await ModuleLoader().load("tool-whether")
    assert failed.value.hint == "did you mean `tool-weather`?"  # pyright: ignore
    assert str(failed.value).endswith("or filesystem; did you mean `tool-weather`?")
    again = pickle.loads(pickle.dumps(failed.value))
    assert (str(again), again.hint) == (str(failed.value), failed.value.hint)  # pyright: ignore


@pytest.mark.parametrize("module_id", ["", None, 5, ["a"], "../x", "a/b", "a.b", ".", "-", "a\0b"])
async def test_a_bad_id_is_a_module_that_is_not_found(module_id: Any):
    with pytest.raises(ValueError, match="not found via entry points or filesystem") as failed:
        await ModuleLoader().load(module_id)
    assert failed.value.reason_code == "missing_source"  # pyright: ignore


# Holds: differ-81, differ-82
async def test_a_failed_import_names_the_innermost_cause_and_its_place(site: WritePackage):
    package = site(
        "amplifier_module_tool_broken",
        "try:\n    import no_such_thing\n"
        "except ImportError as error:\n    raise RuntimeError('please install it') from error\n",
    )
    with pytest.raises(ValueError, match=r"^Module 'tool-broken' not found") as failed:
        await ModuleLoader().load("tool-broken")
    text = str(failed.value)
    assert "RuntimeError: please install it, caused by ModuleNotFoundError" in text
    assert "No module named 'no_such_thing'" in text
    assert f"(at {package / '__init__.py'}:2)" in text
    assert isinstance(failed.value.__cause__, RuntimeError)
    assert failed.value.reason_code == "invalid_entry_point"  # pyright: ignore


@pytest.mark.parametrize(
    ("text", "found"),
    [("", "no attribute 'mount'"), ("mount = 5", "`mount` of .* is not callable, found `5`")],
)
async def test_a_package_without_a_mount_function_is_told(
    site: WritePackage, text: str, found: str
):
    site("amplifier_module_tool_idle", text)
    with pytest.raises(ValueError, match=found):
        await ModuleLoader().load("tool-idle")


async def test_an_entry_point_that_fails_is_logged_and_the_package_tried(
    site: WritePackage,
    install: Callable[..., FakeEntryPoint],
    caplog: pytest.LogCaptureFixture,
):
    site("amplifier_module_tool_both")
    install("tool-both", ImportError("outer"))
    mount = await ModuleLoader().load("tool-both")
    assert (await mount(None))[0] == "amplifier_module_tool_both"
    assert [
        (record.levelname, record.name)
        for record in caplog.records
        if "tool-both" in record.message
    ] == [("ERROR", "amplifier_core.loader")]


async def test_an_entry_point_that_fails_alone_is_told(install: Callable[..., FakeEntryPoint]):
    install("tool-alone", ImportError("outer"))
    with pytest.raises(ValueError, match=r"not found via .*: ImportError: outer"):
        await ModuleLoader().load("tool-alone")


async def test_an_entry_point_may_name_the_package(install: Callable[..., FakeEntryPoint]):
    package = types.ModuleType("a_package")
    package.mount = answer  # pyright: ignore[reportAttributeAccessIssue]
    install("tool-package", package)
    mount = await ModuleLoader().load("tool-package")
    assert await mount(1) == ("entry point", 1, {})


async def test_an_entry_point_is_loaded_once_for_each_loader(
    install: Callable[..., FakeEntryPoint],
):
    point = install("tool-once", answer)
    loader = ModuleLoader()
    first = await loader.load("tool-once", {"a": 1})
    second = await loader.load("tool-once", {"a": 2})
    assert (point.loads, first is second) == (1, False)
    assert [await first(0), await second(0)] == [
        ("entry point", 0, {"a": 1}),
        ("entry point", 0, {"a": 2}),
    ]
    await ModuleLoader().load("tool-once")
    assert point.loads == 2


async def test_a_patched_listing_is_asked_at_each_uncached_load(monkeypatch: pytest.MonkeyPatch):
    listing = mock.Mock(return_value=[FakeEntryPoint("tool-listed", answer)])
    monkeypatch.setattr(importlib.metadata, "entry_points", listing)
    loader = ModuleLoader()
    await loader.load("tool-listed")
    await loader.load("tool-listed")
    await ModuleLoader().load("tool-listed")
    assert listing.call_args_list == [mock.call(group="amplifier.modules")] * 2


async def test_a_listing_that_fails_hides_nothing(
    site: WritePackage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    site("amplifier_module_tool_found")
    monkeypatch.setattr(importlib.metadata, "entry_points", mock.Mock(side_effect=OSError("torn")))
    assert callable(await ModuleLoader().load("tool-found"))
    assert "cannot list the entry points" in caplog.text


def write_distribution(folder: Path, module_id: str) -> None:
    """Install a distribution whose entry point is the package of the module."""
    package = f"amplifier_module_{module_id.replace('-', '_')}"
    information = folder / f"{package}-1.2.3.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.2.3\n"
    )
    (information / "entry_points.txt").write_text(
        f"[amplifier.modules]\n{module_id} = {package}:mount\n"
    )


async def test_what_is_installed_while_it_runs_is_found(tmp_path: Path, site: WritePackage):
    with pytest.raises(ValueError, match="not found"):
        await ModuleLoader().load("tool-later")
    site("amplifier_module_later_elsewhere")
    write_distribution(tmp_path, "tool-later")
    site("amplifier_module_tool_later")
    mount = await ModuleLoader().load("tool-later")
    assert (await mount(None))[0] == "amplifier_module_tool_later"


async def test_a_package_written_after_a_miss_is_found_by_the_same_loader(site: WritePackage):
    loader = ModuleLoader()
    for attempt in range(20):
        with pytest.raises(ValueError, match="not found"):
            await loader.load(f"tool-new-{attempt}")
        site(f"amplifier_module_tool_new_{attempt}")
        assert callable(await loader.load(f"tool-new-{attempt}"))


async def test_the_listing_is_kept_while_nothing_changes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(installed, "_entry_points", None)
    monkeypatch.setattr(installed.ImportState, "is_settled", lambda _: True)
    distributions = mock.Mock(return_value=[])
    monkeypatch.setattr(importlib.metadata, "distributions", distributions)

    installed.list_entry_points()
    installed.forget_import_state()
    installed.list_entry_points()
    assert distributions.call_count == 1

    monkeypatch.setattr(sys, "path", [*sys.path, "/nowhere"])
    installed.list_entry_points()
    assert distributions.call_count == 2


async def test_a_patched_import_is_always_called(
    site: WritePackage, monkeypatch: pytest.MonkeyPatch
):
    module = types.ModuleType("amplifier_module_tool_fake")
    module.mount = answer  # pyright: ignore[reportAttributeAccessIssue]
    importing = mock.Mock(return_value=module)
    monkeypatch.setattr(importlib, "import_module", importing)
    for _ in range(2):
        mount = await ModuleLoader().load("tool-fake")
        assert await mount(0) == ("entry point", 0, {})
    assert importing.call_args_list == [mock.call("amplifier_module_tool_fake")] * 2


async def test_the_closure_gives_its_own_config_and_what_mount_returned(site: WritePackage):
    site("amplifier_module_tool_found")
    loader = ModuleLoader()
    config = {"a": 1}
    first = await loader.load("tool-found", config)
    second = await loader.load("tool-found")
    assert first is not second
    assert (await first(object()))[2] is config
    assert (await second(object()))[2] == {}


async def test_initialize_mounts_and_passes_errors_on(caplog: pytest.LogCaptureFixture):
    async def mount(coordinator: Any) -> Any:
        if coordinator is None:
            raise KeyError("no coordinator")
        return coordinator

    loader = ModuleLoader()
    assert await loader.initialize(mount, 5) == 5
    with pytest.raises(KeyError):
        await loader.initialize(mount, None)
    assert "Failed to initialize module" in caplog.text


def test_the_reasons_are_bounded_and_do_not_read_the_text():
    assert {
        "invalid_entry_point",
        "invalid_module_metadata",
        "invalid_package_layout",
        "missing_source",
        "unknown",
        "validation_failed",
    } == MODULE_FAILURE_REASONS
    reasons = {
        ModuleValidationError("x"): "validation_failed",
        ModuleValidationError("x", reason_code="invalid_package_layout"): "invalid_package_layout",
        ModuleValidationError("x", reason_code="made up"): "unknown",
        module_sources.ModuleNotFoundError("x"): "missing_source",
        ModuleNotFoundError("not found"): "unknown",
        ValueError("not found via entry points"): "unknown",
    }
    assert {error: module_failure_reason(error) for error in reasons} == reasons


def test_each_type_has_its_mount_point():
    assert TYPE_TO_MOUNT_POINT == {
        "orchestrator": "orchestrator",
        "provider": "providers",
        "tool": "tools",
        "hook": "hooks",
        "context": "context",
        "resolver": "module-source-resolver",
    }
