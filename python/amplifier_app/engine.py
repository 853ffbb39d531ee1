"""The extension, where there is one."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType


def load_engine() -> ModuleType:
    """Load the extension, without the kernel's warning that it uses its Python engine instead.

    Raises:
        ImportError: It is missing or cannot be loaded.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("amplifier_core._engine")
