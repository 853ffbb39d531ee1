"""Packages with modules, written into a folder on `sys.path`, and entry points that are not installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

MODULE = """
async def mount(coordinator, config=None):
    return (__name__, coordinator, config)
"""

WritePackage = Callable[..., Path]


class FakeEntryPoint:
    """As little of an entry point as the loader may ask for."""

    def __init__(self, name: str, target: Any) -> None:
        self.name = name
        self.loads = 0
        self._target = target

    def load(self) -> Any:
        self.loads += 1
        if isinstance(self._target, Exception):
            raise self._target
        return self._target


async def answer(coordinator: Any, config: dict[str, Any]) -> Any:
    return ("entry point", coordinator, config)
