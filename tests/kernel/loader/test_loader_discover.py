"""Modules that can be told about without loading them."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from amplifier_core.loader import ModuleLoader, ModuleValidationError


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What is installed: nothing, until a test adds an entry point."""
    before = set(sys.modules)
    points: list[Any] = []
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: list(points))
    yield points
    for name in set(sys.modules) - before:
        if name.startswith("amplifier_module_"):
            del sys.modules[name]


def write(folder: Path, module_id: str, text: str) -> Path:
    package = folder / f"amplifier-module-{module_id}" / f"amplifier_module_{module_id}"
    package = package.with_name(package.name.replace("-", "_"))
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(text, "utf-8")
    return package.parent


# Holds: differ-45
async def test_discover_lists_entry_points_and_folders(tmp_path: Path, installed: list[Any]):
    installed.append(SimpleNamespace(name="my-streaming-loop"))
    version = SimpleNamespace(version="7.8.9")
    installed.append(SimpleNamespace(name="context-kept", dist=version))
    folder = write(tmp_path, "tool-x", '__amplifier_module_type__ = "hook"')
    write(tmp_path, "provider-y", "import no_such_thing")
    (folder / "pyproject.toml").write_text('[project]\nversion = "4.5.6"\n')
    (tmp_path / "amplifier-module-empty").mkdir()
    (tmp_path / "amplifier-module-file").write_text("")

    loader = ModuleLoader(search_paths=[tmp_path, tmp_path / "missing"])
    found = [
        (module.id, module.name, module.version, module.type, module.mount_point)
        for module in await loader.discover()
    ]
    loader.cleanup()

    assert found == [
        ("my-streaming-loop", "My Streaming Loop", "1.0.0", "orchestrator", "orchestrator"),
        ("context-kept", "Context Kept", "7.8.9", "context", "context"),
        ("empty", "Empty", "1.0.0", "tool", "tools"),
        ("provider-y", "Provider Y", "1.0.0", "provider", "providers"),
        ("tool-x", "Tool X", "4.5.6", "hook", "hooks"),
    ]


async def test_discover_refuses_a_type_that_does_not_exist(tmp_path: Path):
    write(tmp_path, "tool-z", '__amplifier_module_type__ = "zork"')
    loader = ModuleLoader(search_paths=[tmp_path])
    with pytest.raises(ModuleValidationError, match="unknown type 'zork'") as failed:
        await loader.discover()
    loader.cleanup()
    assert failed.value.reason_code == "invalid_module_metadata"


# Holds: differ-88
async def test_discover_searches_the_folders_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "amplifier-module-tool-x").mkdir()
    monkeypatch.setenv("AMPLIFIER_MODULES", str(tmp_path))
    assert [module.id for module in await ModuleLoader().discover()] == ["tool-x"]
    monkeypatch.delenv("AMPLIFIER_MODULES")
    assert await ModuleLoader().discover() == []


async def test_a_folder_that_is_not_there_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "amplifier-module-tool-x").mkdir()
    loader = ModuleLoader(search_paths=[tmp_path / "nowhere", tmp_path])
    assert [module.id for module in await loader.discover()] == ["tool-x"]
    assert [(one.levelname, one.name, one.getMessage()) for one in caplog.records] == [
        (
            "WARNING",
            "amplifier_core.loader",
            f"Module path does not exist: {tmp_path / 'nowhere'}",
        )
    ]


def test_the_first_model_is_built_though_entry_points_are_replaced_by_then():
    program = """
import asyncio, importlib.metadata
from types import SimpleNamespace
from amplifier_core import ModuleLoader
ModuleLoader
importlib.metadata.entry_points = lambda group: [SimpleNamespace(name="tool-x", load=None)]
print([module.name for module in asyncio.run(ModuleLoader(search_paths=[]).discover())])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("['Tool X']\n", "")
