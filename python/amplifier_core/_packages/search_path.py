"""Entries of `sys.path` that loaders ask for, counted for the whole process.

Several loaders may need one folder. It goes with the last of them; a folder that was on the path
before any loader asked for it stays.
"""

from __future__ import annotations

import sys
from threading import Lock

_counts: dict[str, int] = {}
_lock = Lock()


def add_entry(entry: str) -> bool:
    """Put a folder first on the path, or count one more user of it.

    Returns:
        Whether it is counted, so that `remove_entry` has to be called; false for a folder that
        was on the path before.
    """
    with _lock:
        if entry in _counts:
            _counts[entry] += 1
            if entry not in sys.path:
                sys.path.insert(0, entry)
            return True
        if entry in sys.path:
            return False
        _counts[entry] = 1
        sys.path.insert(0, entry)
        return True


def remove_entry(entry: str) -> None:
    """Count one user less; the last one removes the folder from the path."""
    with _lock:
        users = _counts.get(entry, 1) - 1
        if users > 0:
            _counts[entry] = users
            return
        _counts.pop(entry, None)
        if entry in sys.path:
            sys.path.remove(entry)
