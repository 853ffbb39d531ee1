"""The extension, where there is one."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType


def load_engine() -> ModuleType:
    """Load the extension, without a word of the kernel about its own way without it.

    Raises:
        ImportError: It is not there, or cannot be loaded.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("amplifier_core._engine")
