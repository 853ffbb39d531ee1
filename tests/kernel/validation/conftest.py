"""A place for the packages that are validated."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from sample_modules import Write


@pytest.fixture
def write(tmp_path: Path) -> Iterator[Write]:
    """Writes packages under names of their own, and forgets them at the end."""
    before, path = set(sys.modules), list(sys.path)

    def write_package(text: str, name: str = "checked_module") -> Path:
        package = tmp_path / name
        package.mkdir()
        (package / "__init__.py").write_text(text, "utf-8")
        return package

    yield write_package
    assert sys.path == path
    for name in set(sys.modules) - before:
        del sys.modules[name]
    importlib.invalidate_caches()
