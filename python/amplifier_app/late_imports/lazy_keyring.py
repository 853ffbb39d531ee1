"""The package `keyring` without what it imports and does not need to find a key."""

from __future__ import annotations

import sys
from typing import Any

from amplifier_app.late_imports.late_modules import import_late

_LATE = (
    "backports.tarfile",
    "more_itertools",
    "shutil",
    "tarfile",
    "tempfile",
    "urllib",
    "urllib.request",
)
_KEYCHAIN = "keyring.backends.macOS.api"


def find_keyring() -> Any:
    """Import `keyring`, and return the backend that it chooses.

    Raises:
        Exception: It cannot be imported, or what a backend raises.
    """
    import_late(*_LATE)
    import keyring

    if sys.platform == "darwin" or _KEYCHAIN in sys.modules:
        return keyring.get_keyring()
    # To look for the library of the Keychain runs other programs, a compiler among them. `keyring`
    # does that on all systems, and goes on without it.
    modules: dict[str, Any] = sys.modules  # pyright: ignore[reportAssignmentType] -- None stops an import
    modules[_KEYCHAIN] = None
    try:
        return keyring.get_keyring()
    finally:
        modules.pop(_KEYCHAIN, None)
