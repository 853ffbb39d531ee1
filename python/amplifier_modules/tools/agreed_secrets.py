"""The secret files of which a person has agreed in a session that a tool reads or writes them."""

from __future__ import annotations

from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from amplifier_modules.tool.context import ToolContext


class AgreedSecrets:
    """The paths of one session; safe to use from several threads."""

    def __init__(self) -> None:
        """Know no path."""
        self._paths: set[str] = set()
        self._lock = Lock()

    def note(self, path: str) -> None:
        """Note that a person agreed to a call on a file, or on all that is in a folder.

        Args:
            path: An absolute path, links followed.
        """
        with self._lock:
            self._paths.add(path)

    def paths(self) -> frozenset[str]:
        """Return the paths of the files and folders."""
        with self._lock:
            return frozenset(self._paths)


_of_sessions: WeakKeyDictionary[Any, AgreedSecrets] = WeakKeyDictionary()
_lock = Lock()


def find_agreed_secrets() -> AgreedSecrets:
    """Return those of the session whose call runs now; outside of a session new ones.

    A sub-agent has its own.
    """
    try:
        coordinator = ToolContext.current().coordinator
    except LookupError:
        coordinator = None
    return AgreedSecrets() if coordinator is None else look_up_agreed_secrets(coordinator)


def look_up_agreed_secrets(coordinator: Any) -> AgreedSecrets:
    """Return those of a session by its coordinator."""
    with _lock:
        return _of_sessions.setdefault(coordinator, AgreedSecrets())
