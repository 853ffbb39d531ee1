"""The one place where the tools of a session write files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Literal

from amplifier_guard import PathPolicy, PathProtected
from amplifier_modules.tools.folder import path_text
from amplifier_modules.tools.secret_files import is_call_approved

from .read_record import MAX_FILE_BYTES, ReadRecords
from .text_file import TextFile

Compose = Callable[[str, TextFile | None], TextFile]
"""Returns what a file is to hold, from its path and what it holds; None if there is no file."""


@dataclass(frozen=True)
class WrittenFile:
    """What a write did to a file."""

    path: str
    """Where it is from the root, links followed."""
    kind: Literal["created", "modified", "unchanged"]
    before: bytes | None
    after: bytes


class FileTooLargeError(ValueError):
    """A file that is larger than what is changed."""


class FileWriter:
    """Writes files for one tool: only what was read and has not changed since, and each whole."""

    def __init__(self, tool: str, policy: PathPolicy, records: ReadRecords) -> None:
        """Write by a policy, and protected files too in approved calls of the tool."""
        self._tool = tool
        self._policy = policy
        self._policy_with_secrets = policy.with_secrets()
        self._records = records

    def is_protected(self, path: object) -> bool:
        """Whether a file is only written after a person agreed."""
        try:
            self._policy.writable(str(path))
        except PathProtected:
            return True
        except (OSError, ValueError):
            return False  # the write itself says so
        return False

    def write(self, path: str, compose: Compose, stop: Event) -> WrittenFile:
        """Put what `compose` returns in the place of a file, or make the file.

        Args:
            path: The file, from the root.
            compose: Its errors are raised, and nothing is written then.
            stop: Once it is set, nothing is written any more.

        Raises:
            OSError: The file cannot be read or written, or must not be.
            FileNotReadError: It was not read before.
            FileChangedError: It has changed since.
            FileTooLargeError: It is too large.
            NotUtf8Error: It is not UTF-8.
        """
        protected = is_call_approved(self._tool)
        target = self._policy.writable(path, protected=protected)
        shown = path_text(target)
        record = self._records.find_record()
        before = self._read(target, with_secrets=protected)
        if before is None:
            file = None
        else:
            record.check(target, before)
            file = TextFile.decode(shown, before)
        after = compose(shown, file).encode()
        if after == before:
            return WrittenFile(target, "unchanged", before, after)
        if stop.is_set():
            raise InterruptedError(f"writing `{shown}` was stopped before it began")
        if before is None:
            self._policy.create(target, after, protected=protected)
        else:
            # What is replaced is exactly what was compared with the record.
            self._policy.replace(target, after, expected=before, protected=protected)
        record.note(target, after)
        return WrittenFile(target, "created" if before is None else "modified", before, after)

    def _read(self, target: str, *, with_secrets: bool) -> bytes | None:
        """Return what a file holds; None if there is none."""
        policy = self._policy_with_secrets if with_secrets else self._policy
        try:
            content = policy.read(target, MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return None
        if len(content) > MAX_FILE_BYTES:
            limit = MAX_FILE_BYTES // 2**20
            raise FileTooLargeError(
                f"`{path_text(target)}` is larger than {limit} MiB, the most that is changed"
            )
        return content
