"""What a tree does not hold, and why: files that may hold secrets, are too large or cannot be read."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from amplifier_guard import PathPolicy

from .entry import MAX_FILE_BYTES

Signature = list[int]
"""Size, time of change and mode: by these one sees that a file has changed."""

SECRET = "it may hold secrets, so that no copy of it is kept"
LARGE = f"it is larger than {MAX_FILE_BYTES // 2**20} MiB, the most that is kept"
UNREADABLE = "it cannot be read"


@dataclass
class LeftOut:
    """The files that are left out, by their paths."""

    reasons: dict[str, str] = field(default_factory=dict[str, str])
    signatures: dict[str, Signature] = field(default_factory=dict[str, Signature])

    def note(self, path: str, reason: str, status: os.stat_result | None) -> None:
        """Leave out a path; nothing is said of one that is not there."""
        self.reasons[path] = reason
        if status is not None:
            self.signatures[path] = [status.st_size, status.st_mtime_ns, status.st_mode]

    def encode(self) -> bytes:
        """Return it as JSON; the same bytes for the same files."""
        content = {"reasons": self.reasons, "signatures": self.signatures}
        return json.dumps(content, sort_keys=True).encode()

    @classmethod
    def decode(cls, content: bytes) -> LeftOut:
        """Read what `encode` returned."""
        return cls(**json.loads(content))

    def find_changed(self, later: LeftOut) -> Iterator[tuple[str, str]]:
        """Yield the paths whose files differ, and why they are left out."""
        for path in sorted(self.signatures.keys() | later.signatures.keys()):
            if self.signatures.get(path) != later.signatures.get(path):
                yield path, later.reasons.get(path) or self.reasons[path]


class LeftOutFinder:
    """Decides what is left out of a project."""

    def __init__(self, project: str) -> None:
        """Look at nothing yet.

        Args:
            project: An absolute path.
        """
        self._project = project
        self._policy = PathPolicy(project)

    def find_secrets(self) -> LeftOut:
        """Return the files that may hold secrets; git may ignore them."""
        found = LeftOut()
        for name in self._policy.find_secrets():
            for path in self._list_files(name):
                found.note(path, SECRET, _read_status(self._path_of(path)))
        return found

    def judge(self, path: str, left_out: LeftOut) -> bool:
        """Return whether a path is kept; if it cannot be, note why."""
        if path in left_out.reasons:
            return False
        full = self._path_of(path)
        try:
            status = os.lstat(full)
        except (FileNotFoundError, NotADirectoryError):
            return True  # git removes it
        except OSError:
            left_out.note(path, UNREADABLE, None)
            return False
        if stat.S_ISLNK(status.st_mode):
            return True
        if not stat.S_ISREG(status.st_mode):
            return False
        if status.st_size > MAX_FILE_BYTES:
            left_out.note(path, LARGE, status)
        elif not os.access(full, os.R_OK):
            left_out.note(path, UNREADABLE, status)
        return path not in left_out.reasons

    def _list_files(self, name: str) -> Iterator[str]:
        if not os.path.isdir(self._path_of(name)):
            yield name
        for folder, _, files in os.walk(self._path_of(name)):
            yield from (
                os.path.relpath(os.path.join(folder, each), self._project) for each in files
            )

    def _path_of(self, path: str) -> str:
        return os.path.join(self._project, path)


def _read_status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None
