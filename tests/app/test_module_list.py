"""`amplifier-core list-modules` says which module of a name is taken, and from where."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import amplifier_modules
from amplifier_app.command_line import run_command
from amplifier_core import ModuleLoader


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two modules of our own, two packages and two entry points, which share some names."""
    own = {"context-simple": "amplifier_modules.contexts.simple", "tool-b": "own_b"}
    monkeypatch.setattr(amplifier_modules, "MODULES", own)
    for name in ("tool_a", "tool_b"):
        (tmp_path / f"amplifier_module_{name}").mkdir()
        text = "async def mount(coordinator, config=None): return 'package'\n"
        if name == "tool_a":
            text = '"""`tool-a`: counts\\n\\nmore."""\n__amplifier_module_type__ = "hook"\n' + text
        (tmp_path / f"amplifier_module_{name}" / "__init__.py").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    importlib.invalidate_caches()

    async def mount(coordinator: Any, config: Any = None) -> str:
        return "entry point"

    points = [
        SimpleNamespace(
            name="tool-b",
            load=lambda: mount,
            value="their_b:mount",
            dist=SimpleNamespace(name="their-tools", version="1.2"),
        ),
        SimpleNamespace(name="loop-\x1b[31m", load=lambda: mount),
    ]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: list(points))
    return tmp_path


def test_each_module_has_a_line_and_one_for_each_that_it_hides(
    modules: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["list-modules"]) == 0

    out, err = capfd.readouterr()
    assert err == ""
    assert out.splitlines() == [
        "context-simple  context       our own: amplifier_modules.contexts.simple",
        "    a conversation in memory, shortened for requests when it is too long",
        r"loop-\x1b[31m   orchestrator  entry point: loop-\x1b[31m",
        f"tool-a          hook          package: amplifier_module_tool_a ({modules})",
        "    counts",
        "tool-b          tool          entry point: their_b:mount (their-tools 1.2)",
        f"    hides package: amplifier_module_tool_b ({modules})",
        "    hides our own: own_b",
    ]


def test_each_module_of_our_own_says_its_type_and_what_it_is_in_one_line(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run_command(["list-modules"]) == 0
    lines = capfd.readouterr().out.splitlines()
    for name, place in amplifier_modules.MODULES.items():
        position = next(at for at, line in enumerate(lines) if line.startswith(name))
        kind, _, source = lines[position].removeprefix(name).strip().partition(" ")
        module = importlib.import_module(place)
        assert kind == module.__amplifier_module_type__
        assert source.strip() == f"our own: {place}"
        assert len(lines[position + 1].strip()) > 10
        assert len(lines[position]) <= 110
        assert len(lines[position + 1]) <= 80


def test_a_module_is_listed_without_being_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for number, text in enumerate(
        ["raise SystemExit(3)", "def mount(:", "\0", '"""\x1b[31mRed."""', ""]
    ):
        (tmp_path / f"amplifier_module_odd_{number}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    assert run_command(["list-modules"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert "\x1b" not in out
    assert [line.split()[0] for line in out.splitlines() if line.startswith("odd")] == [
        f"odd-{number}" for number in range(5)
    ]


async def test_what_is_listed_first_is_what_is_loaded(modules: Path) -> None:
    taken = [
        await (await ModuleLoader().load(module_id))(None) for module_id in ("tool-a", "tool-b")
    ]

    assert taken == ["package", "entry point"]


def test_without_modules_there_is_nothing_to_list(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(amplifier_modules, "MODULES", {})
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: [])

    assert run_command(["list-modules"]) == 0
    assert capfd.readouterr() == ("", "")
