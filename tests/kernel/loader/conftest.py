"""Where the loader looks, and what is installed."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from packages import MODULE, FakeEntryPoint, WritePackage


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WritePackage]:
    """Writes packages into a folder on `sys.path`, and forgets them at the end."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def write(name: str, text: str = MODULE) -> Path:
        package = tmp_path / name
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").write_text(text, "utf-8")
        importlib.invalidate_caches()
        return package

    yield write
    for name in set(sys.modules) - before:
        if name.startswith("amplifier_module_"):
            del sys.modules[name]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeEntryPoint]:
    """Puts an entry point in the place of whatever is installed."""
    points: list[FakeEntryPoint] = []

    def list_points(*, group: str) -> list[FakeEntryPoint]:
        assert group == "amplifier.modules"
        return list(points)

    monkeypatch.setattr(importlib.metadata, "entry_points", list_points)

    def add(name: str, target: Any) -> FakeEntryPoint:
        points.append(FakeEntryPoint(name, target))
        return points[-1]

    return add
