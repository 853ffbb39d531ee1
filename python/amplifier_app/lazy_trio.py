"""httpcore2 without an import of trio, which it would import if it is installed."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _Trio(ModuleType):
    """Takes the place of trio in httpcore2, and imports it when a trio loop uses httpcore2."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("trio"), name)


def import_httpcore() -> None:
    """Import httpcore2 without trio, which takes half of the time and asyncio never uses."""
    if "trio" not in sys.modules:
        sys.modules["trio"] = _Trio("trio")
        try:
            importlib.import_module("httpcore2")
        finally:
            del sys.modules["trio"]
