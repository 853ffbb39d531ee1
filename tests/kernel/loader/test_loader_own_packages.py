"""Modules of ours are importable by the package names that modules of others import."""

from __future__ import annotations

import importlib
import importlib.util
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import amplifier_modules
from amplifier_core import AmplifierSession, ModuleCoordinator
from amplifier_core import session as plain
from amplifier_core._loading.lookup import only_our_own
from amplifier_core._packages.package import import_from
from amplifier_core.known_modules import list_other_sources
from amplifier_core.loader import ModuleLoader
from amplifier_modules.contexts import simple

NAME = "amplifier_module_context_simple"
INSTALLED = """
from amplifier_modules.contexts import simple

class SimpleContextManager(simple.SimpleContext):
    pass

async def mount(coordinator, config=None):
    await coordinator.mount("context", SimpleContextManager(config))
"""
OUTSIDE = """
import amplifier_core
from amplifier_module_context_simple import SimpleContextManager

class Kept(SimpleContextManager):
    def __init__(self, max_tokens=100, compact_threshold=0.5):
        super().__init__(max_tokens=max_tokens, compact_threshold=compact_threshold)

async def mount(coordinator, config=None):
    await coordinator.mount("context", Kept())
"""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Each test begins before anything was imported by these names, and leaves none of them."""
    forget_contexts()
    yield
    forget_contexts()


def forget_contexts() -> None:
    for name in [name for name in sys.modules if name.startswith("amplifier_module_context")]:
        del sys.modules[name]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    folder = tmp_path / "installed"
    (folder / NAME).mkdir(parents=True)
    (folder / NAME / "__init__.py").write_text(INSTALLED)
    return folder


def test_it_is_the_same_module_however_it_is_imported() -> None:
    spec = importlib.util.find_spec(NAME)
    assert spec is not None
    assert spec.origin == simple.__file__

    module = importlib.import_module(NAME)
    from amplifier_module_context_simple import (  # type: ignore[import-not-found]  # no such file
        SimpleContextManager,
    )

    assert module is simple
    assert SimpleContextManager is simple.SimpleContext
    assert (module.__name__, module.__spec__.name) == (simple.__name__, simple.__name__)
    assert pickle.loads(pickle.dumps(SimpleContextManager)) is SimpleContextManager
    by_this_name = f"c{NAME}\nSimpleContextManager\n.".encode()
    assert pickle.loads(by_this_name) is SimpleContextManager


def test_it_can_be_reloaded() -> None:
    program = f"""
import importlib, json, sys
import amplifier_core
import {NAME} as module
module.mark = 1
again = importlib.reload(module)
print(json.dumps([again is module, module.mark, module.__name__, module.__spec__.name,
                  sys.modules[{NAME!r}] is module]))
"""
    told = json.loads(subprocess.check_output([sys.executable, "-c", program]))
    assert told == [True, 1, simple.__name__, simple.__name__, True]


def test_names_that_are_not_in_the_table_are_not_found() -> None:
    assert importlib.util.find_spec("amplifier_module_loop_nothing") is None
    with pytest.raises(ModuleNotFoundError, match="amplifier_module_loop_nothing"):
        importlib.import_module("amplifier_module_loop_nothing")


def test_a_name_whose_module_does_not_exist_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "amplifier_module_provider_absent"
    monkeypatch.setitem(amplifier_modules.PACKAGES, name, "amplifier_modules.absent.absent")

    assert importlib.util.find_spec(name) is None
    with pytest.raises(ModuleNotFoundError, match=name):
        importlib.import_module(name)


@pytest.mark.parametrize("name", sorted(amplifier_modules.PACKAGES))
def test_each_name_of_the_table_leads_to_a_module_that_can_be_mounted(name: str) -> None:
    target = amplifier_modules.PACKAGES[name]
    if importlib.util.find_spec(target) is None:
        pytest.skip(f"`{target}` does not exist")
    module = importlib.import_module(name)

    assert module is importlib.import_module(target)
    assert callable(module.mount)


def test_an_installed_package_of_the_name_wins(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(installed))

    assert importlib.import_module(NAME) is not simple


def test_there_is_one_finder_however_often_the_package_is_imported() -> None:
    program = """
import sys
import amplifier_core
for name in [name for name in sys.modules if name.startswith("amplifier_core")]:
    if name != "amplifier_core._engine":
        del sys.modules[name]
import amplifier_core
print([getattr(finder, "__name__", "") for finder in sys.meta_path].count("_OwnPackages"))
"""
    assert subprocess.check_output([sys.executable, "-c", program]).split() == [b"1"]


class Resolver:
    """Gives one folder for every module."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def resolve(self, module_id: str, **hints: Any) -> Any:
        return SimpleNamespace(resolve=lambda: self.folder)


@pytest.mark.parametrize("is_resolved", [False, True])
async def test_a_package_that_is_installed_later_is_loaded(
    installed: Path, monkeypatch: pytest.MonkeyPatch, is_resolved: bool
) -> None:
    assert importlib.import_module(NAME) is simple
    coordinator = ModuleCoordinator()
    if is_resolved:
        await coordinator.mount("module-source-resolver", Resolver(installed / NAME))
    else:
        monkeypatch.syspath_prepend(str(installed))
    loader = ModuleLoader(coordinator=coordinator)

    mount = await loader.load("context-simple", coordinator=coordinator)
    await mount(coordinator)
    loader.cleanup()

    assert type(coordinator.get("context")).__module__ == NAME


def test_a_package_in_a_folder_is_imported_from_there(installed: Path) -> None:
    assert importlib.import_module(NAME) is simple

    assert import_from(installed, NAME, installed / NAME / "__init__.py") is not simple


def test_our_own_module_is_no_rival_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        assert list_other_sources("context-simple") == []
        importlib.import_module(NAME)
    only_our_own("context-simple")

    assert caplog.text == ""


@pytest.mark.parametrize("engine", [AmplifierSession, plain.AmplifierSession])
async def test_a_module_of_others_derives_from_ours(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "amplifier_module_context_kept.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(str(tmp_path))
    plan = {
        "session": {"orchestrator": "loop-basic", "context": "context-kept"},
        "providers": [{"module": "provider-scripted", "config": {"script": ["Hello!"]}}],
    }
    async with engine(plan) as session:
        assert await session.execute("Hi") == "Hello!"
        context = session.coordinator.get("context")

    assert isinstance(context, simple.SimpleContext)
    assert context._settings.max_tokens == 100
