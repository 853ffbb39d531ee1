"""What a mount plan marks as our own comes from our own table; what it names, from the loader's order."""

from __future__ import annotations

import copy
import importlib
import json
import logging
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packages import FakeEntryPoint, WritePackage, answer

import amplifier_modules
from amplifier_core.known_modules import Own
from amplifier_core.loader import ModuleLoader, ModuleValidationError

MODULES = sorted(amplifier_modules.MODULES)


def package(module_id: str) -> str:
    return f"amplifier_module_{module_id.replace('-', '_')}"


@pytest.mark.parametrize("module_id", MODULES)
async def test_a_marked_module_is_our_own_and_what_it_replaces_is_named_and_not_imported(
    module_id: str,
    site: WritePackage,
    install: Callable[..., FakeEntryPoint],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    folder = site(package(module_id), "raise SystemExit('imported')")
    point = install(module_id, SystemExit("loaded"))
    site("amplifier_module_elsewhere")
    monkeypatch.setitem(amplifier_modules.MODULES, module_id, "amplifier_module_elsewhere")
    caplog.set_level(logging.INFO, logger="amplifier_core.loader")

    mount = await ModuleLoader().load(module_id, {"a": 1}, source_hint=Own.TABLE)

    assert await mount("here") == ("amplifier_module_elsewhere", "here", {"a": 1})
    assert point.loads == 0
    # No plan names it: what is left aside is no mistake of anybody.
    assert {record.levelname for record in caplog.records} == {"INFO"}
    assert [record.getMessage() for record in caplog.records] == [
        f"module `{module_id}` is our own here; ignored: entry point `{module_id}`",
        f"module `{module_id}` is our own here; ignored: package `{package(module_id)}` ({folder})",
    ]


async def test_a_marked_module_that_is_patched_after_its_first_load_is_the_patched_one(
    monkeypatch: pytest.MonkeyPatch,
):
    async def load() -> Any:
        return await (await ModuleLoader().load("loop-basic", {}, source_hint=Own.TABLE))("here")

    async def mount(coordinator: Any, config: Any) -> Any:
        return "patched", coordinator

    module = importlib.import_module(amplifier_modules.MODULES["loop-basic"])
    await ModuleLoader().load("loop-basic", source_hint=Own.TABLE)
    with monkeypatch.context() as patch:
        patch.setattr(module, "mount", mount)
        found = [await load()]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, module.__name__, SimpleNamespace(mount=mount))
        found.append(await load())
    assert found == [("patched", "here")] * 2


@pytest.mark.parametrize("module_id", MODULES)
async def test_nothing_is_said_where_nothing_is_replaced(
    module_id: str, caplog: pytest.LogCaptureFixture
):
    assert callable(await ModuleLoader().load(module_id, source_hint=Own.TABLE))
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("module_id", ["tool-mine", "hooks-guards", "HOOKS-GUARD", ""])
async def test_what_is_not_in_the_table_is_not_our_own(module_id: str, site: WritePackage):
    site("amplifier_module_tool_mine")
    with pytest.raises(ValueError, match=r"no module|not found"):
        await ModuleLoader().load(module_id, source_hint=Own.TABLE)


async def test_a_module_of_ours_that_is_broken_is_not_replaced(
    site: WritePackage, monkeypatch: pytest.MonkeyPatch
):
    site("amplifier_module_tool_ours")
    monkeypatch.setitem(amplifier_modules.MODULES, "tool-ours", "amplifier_modules.tools.lost")
    with pytest.raises(ValueError, match="our own module `tool-ours` cannot be loaded"):
        await ModuleLoader().load("tool-ours", source_hint=Own.TABLE)


class Resolver:
    """Leads every module to one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, _: str) -> Any:
        return self

    def resolve(self, *_: Any, **__: Any) -> Any:
        return self.folder.resolve, self


async def test_neither_a_resolver_nor_an_earlier_load_answers_for_our_own(
    site: WritePackage, monkeypatch: pytest.MonkeyPatch
):
    site("amplifier_module_tool_ours")
    site("amplifier_module_elsewhere")
    monkeypatch.setitem(amplifier_modules.MODULES, "tool-ours", "amplifier_module_elsewhere")
    loader = ModuleLoader()
    named = await loader.load("tool-ours")
    own = await loader.load("tool-ours", source_hint=Own.TABLE)
    again = await loader.load("tool-ours")
    names = [(await mount(None))[0] for mount in (named, own, again)]
    assert names == [
        "amplifier_module_tool_ours",
        "amplifier_module_elsewhere",
        "amplifier_module_tool_ours",
    ]
    resolving = ModuleLoader(coordinator=Resolver(Path("/nowhere")))
    assert callable(await resolving.load("tool-ours", source_hint=Own.TABLE))
    with pytest.raises((ModuleValidationError, AttributeError)):
        await resolving.load("tool-ours")


@pytest.mark.parametrize(
    "forged", ["amplifier_modules", "Own.TABLE", str(Own.TABLE), json.loads(json.dumps(Own.TABLE))]
)
async def test_no_text_of_a_file_marks_a_module(
    forged: str, install: Callable[..., FakeEntryPoint]
):
    install("hooks-guard", answer)
    mount = await ModuleLoader().load("hooks-guard", source_hint=forged)
    assert await mount("here") == ("entry point", "here", {})


def test_the_mark_survives_copies_of_the_plan():
    plan = {"hooks": [{"module": "hooks-guard", "source": Own.TABLE}]}
    for copied in (copy.deepcopy(plan), pickle.loads(pickle.dumps(plan))):
        assert copied["hooks"][0]["source"] is Own.TABLE
