"""httpcore2 without trio, which it imports where it is installed."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _Trio(ModuleType):
    """Stands for trio and imports it at the first use, which is that of a trio loop."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("trio"), name)


def import_httpcore() -> None:
    """Import httpcore2; with trio it would take twice as long, and the loop here is asyncio's."""
    if "trio" not in sys.modules:
        sys.modules["trio"] = _Trio("trio")
        try:
            importlib.import_module("httpcore2")
        finally:
            del sys.modules["trio"]
