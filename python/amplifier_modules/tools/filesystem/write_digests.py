"""What writes hold, in digests: a question that outlives its process is held to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256

from .file_write import FileWrite


class ShownWritesError(ValueError):
    """Writes that are not those which a person has agreed to."""

    def __init__(self) -> None:
        """Say what the model can do."""
        super().__init__("a file has changed while a person was asked; read it again")


class WrittenBeforeError(ValueError):
    """Writes that were made already, in a process that ended meanwhile."""


def check_untouched(files: Sequence[Sequence[str | None]], found: Mapping[str, str | None]) -> None:
    """Look whether files are as they were when a person was asked in another process.

    Args:
        files: What `digest_writes` has returned there.
        found: The digests of what the files hold now; None where there is none.

    Raises:
        WrittenBeforeError: They are as they were to become.
        ShownWritesError: They are something else.
    """
    if all(found[path or ""] == before for path, before, _ in files):
        return
    if all(found[path or ""] == after for path, _, after in files):
        raise WrittenBeforeError("it was written before the process ended; read it again")
    raise ShownWritesError


def digest_writes(writes: Sequence[FileWrite]) -> list[list[str | None]]:
    """Return each path with the digests of what it holds before and after."""
    digests: list[list[str | None]] = []
    for write in writes:
        before, after = digest_content(write.before), digest_content(write.after)
        if write.old_path is None:
            digests.append([write.path, before, after])
        else:
            digests += [[write.old_path, before, None], [write.path, None, after]]
    return digests


def digest_content(content: bytes | None) -> str | None:
    """Return the digest of what a file holds; None where there is none."""
    return None if content is None else sha256(content).hexdigest()
