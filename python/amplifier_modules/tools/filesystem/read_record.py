"""Which files the tools of a session have read or written, and what was in them."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from amplifier_modules.changes.line_diff import compare_lines
from amplifier_modules.tool.context import ToolContext

MAX_FILE_BYTES = 8 * 1024 * 1024
"""Larger files are read, but neither edited nor overwritten."""

_MAX_KEPT_BYTES = 4 * 1024 * 1024
"""Bytes of contents that are kept to say what has changed in a file."""
_MAX_DIFF_CHARS = 4000


class FileNotReadError(ValueError):
    """A file that is to be changed and that nobody has read."""

    def __init__(self, path: str) -> None:
        """Name the file."""
        super().__init__(f"`{path}` was not read in this session (call `read_file` first)")


class FileChangedError(ValueError):
    """A file that is to be changed and is no longer what was read."""

    def __init__(self, path: str, change: str) -> None:
        """Name the file and what has changed; an empty text if that is not known."""
        message = f"`{path}` has changed since it was read (call `read_file` again)"
        super().__init__(f"{message}:\n{change}" if change else message)


class ReadRecord:
    """What the tools know of the files in one session; safe to use from several threads.

    A file is known by a digest of its content: times have steps, in which a file can change twice.
    """

    def __init__(self) -> None:
        """Know no file."""
        self._digests: dict[str, bytes] = {}
        self._contents: OrderedDict[str, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._lock = Lock()

    def note(self, path: str, content: bytes) -> None:
        """Note what a file holds.

        Args:
            path: Where it is, links followed.
            content: All of it.
        """
        digest = sha256(content).digest()
        with self._lock:
            self._digests[path] = digest
            self._kept_bytes += len(content) - len(self._contents.pop(path, b""))
            self._contents[path] = content
            while self._kept_bytes > _MAX_KEPT_BYTES:
                _, oldest = self._contents.popitem(last=False)
                self._kept_bytes -= len(oldest)

    def check(self, path: str, found: bytes) -> None:
        """Check that a file holds what is known of it.

        Args:
            path: Where it is, links followed.
            found: What it holds now.

        Raises:
            FileNotReadError: Nothing is known of it.
            FileChangedError: It holds something else.
        """
        with self._lock:
            digest, known = self._digests.get(path), self._contents.get(path)
        if digest is None:
            raise FileNotReadError(path)
        if digest != sha256(found).digest():
            raise FileChangedError(path, "" if known is None else _describe(path, known, found))


class ReadRecords:
    """The record of each session that uses the tools; safe to use from several threads.

    A sub-agent shares the tools of the session that it works for, but not what that has read.
    """

    def __init__(self) -> None:
        """Know no session."""
        self._of_sessions: WeakKeyDictionary[Any, ReadRecord] = WeakKeyDictionary()
        self._without_session = ReadRecord()
        self._lock = Lock()

    def find_record(self) -> ReadRecord:
        """Return the record of the session whose call runs now."""
        try:
            coordinator = ToolContext.current().coordinator
        except LookupError:
            coordinator = None
        if coordinator is None:
            return self._without_session
        with self._lock:
            return self._of_sessions.setdefault(coordinator, ReadRecord())


class UncheckedRecords(ReadRecords):
    """Records that know nothing and let everything pass: to show what a write would do."""

    def find_record(self) -> ReadRecord:
        """Return a record of nobody."""
        return _UncheckedRecord()


class _UncheckedRecord(ReadRecord):
    def check(self, path: str, found: bytes) -> None:
        """Let it pass."""


def _describe(path: str, known: bytes, found: bytes) -> str:
    """Return the beginning of what has changed in a file."""
    diff = compare_lines(path, known, found)
    cut = diff.text[:_MAX_DIFF_CHARS]
    return cut if cut == diff.text else f"{cut}…"
