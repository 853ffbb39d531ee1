"""The one place where the tools of a session write files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from threading import Event

from amplifier_guard import PathPolicy, PathProtected
from amplifier_modules.tools.folder import path_text
from amplifier_modules.tools.secret_files import SecretFiles, is_call_approved

from .file_write import FileWrite
from .read_record import MAX_FILE_BYTES, ReadRecords
from .recorded_writes import record_writes
from .text_file import TextFile
from .write_digests import check_untouched, digest_content
from .write_steps import WriteSteps

Compose = Callable[[str, TextFile | None], TextFile]
"""Returns what a file is to hold, from its path and what it holds; None if there is no file."""


class FileTooLargeError(ValueError):
    """A file that is larger than what is changed."""


class FileWriter:
    """Writes files for one tool: only what was read and has not changed since, and each whole."""

    def __init__(self, tool: str, policy: PathPolicy, records: ReadRecords) -> None:
        """Write by a policy, and protected files too in approved calls of the tool."""
        self._tool = tool
        self._policy = policy
        self._secret_files = SecretFiles(tool, policy)
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

    def prepare(self, path: str, compose: Compose, *, is_new: bool = False) -> FileWrite:
        """Return what it takes to have a file hold what `compose` returns.

        Args:
            path: The file, from the root.
            compose: Its errors are raised.
            is_new: Whether nothing may be there.

        Raises:
            FileExistsError: Something is there that must not be.
            OSError: The file cannot be read, or must not be written.
            FileNotReadError: It was not read before.
            FileChangedError: It has changed since.
            FileTooLargeError: It is too large.
            NotUtf8Error: It is not UTF-8.
        """
        target = self._policy.writable(path, protected=is_call_approved(self._tool))
        before = self._read(target)
        if is_new and before is not None:
            raise _make_existing_error(target)
        after = self._compose(target, before, compose)
        kind = "created" if before is None else "unchanged" if after == before else "modified"
        return FileWrite(target, kind, before, after)

    def prepare_removal(
        self, path: str, compose: Compose | None, new_path: str | None
    ) -> FileWrite:
        """Return what it takes to delete a file or to give it another path.

        Args:
            path: The file, from the root; a link there is not followed.
            compose: Returns what is to be there then; None if that does not change.
            new_path: Where it is to be, where nothing may be; None to delete it.

        Raises:
            FileExistsError: Something is at the new path.
            OSError, ValueError: As for `prepare`.
        """
        protected = is_call_approved(self._tool)
        old_path = self._policy.removable(path, protected=protected)
        before = self._read(old_path)
        if before is None:
            raise FileNotFoundError(f"no file `{path_text(old_path)}` in `{self._policy.root}`")
        self._records.find_record().check(old_path, before)
        after = before if compose is None else self._compose(old_path, before, compose)
        if new_path is None:
            return FileWrite(old_path, "deleted", before, None)
        target = self._policy.writable(new_path, protected=protected)
        if self._read(target) is not None:
            raise _make_existing_error(target)
        return FileWrite(target, "renamed", before, after, old_path)

    def note_untouched(self, files: Sequence[Sequence[str | None]]) -> None:
        """Take files for read that a person was asked about in another process.

        Args:
            files: What `digest_writes` has returned there.

        Raises:
            WrittenBeforeError, ShownWritesError: As for `check_untouched`.
            OSError: They cannot be read.
        """
        contents = {path: self._read(path) for path, _, _ in files if path is not None}
        check_untouched(files, {path: digest_content(each) for path, each in contents.items()})
        record = self._records.find_record()
        for path, content in contents.items():
            if content is not None:
                record.note(path, content)

    def write(self, writes: Sequence[FileWrite], stop: Event) -> None:
        """Make all writes, or none.

        Args:
            writes: what was prepared in this call.
            stop: Once it is set, no write begins any more.

        Raises:
            OSError: A file cannot be written, or has changed since it was prepared.
        """
        if stop.is_set():
            named = ", ".join(f"`{path_text(write.path)}`" for write in writes)
            raise InterruptedError(f"writing {named} was stopped before it began")
        made = [write for write in writes if write.kind != "unchanged"]
        steps = WriteSteps(self._policy, protected=is_call_approved(self._tool))
        # What is in added folders, whose paths are absolute, cannot be taken back.
        kept = [write for write in made if not os.path.isabs(write.path)]
        with record_writes(self._tool, self._policy.root, kept):
            steps.make(made)
        record = self._records.find_record()
        for write in writes:
            if write.after is not None:
                record.note(write.path, write.after)
                self._secret_files.note_agreed(write.path)

    def _compose(self, target: str, before: bytes | None, compose: Compose) -> bytes:
        shown = path_text(target)
        if before is None:
            return compose(shown, None).encode()
        self._records.find_record().check(target, before)
        return compose(shown, TextFile.decode(shown, before)).encode()

    def _read(self, target: str) -> bytes | None:
        """Return what a file holds; None if there is none."""
        try:
            policy = self._secret_files.choose_policy(target)
            content = policy.read(target, MAX_FILE_BYTES + 1)
        except FileNotFoundError:
            return None
        if len(content) > MAX_FILE_BYTES:
            limit = MAX_FILE_BYTES // 2**20
            raise FileTooLargeError(
                f"`{path_text(target)}` is larger than {limit} MiB, the most that is changed"
            )
        return content


def _make_existing_error(target: str) -> FileExistsError:
    return FileExistsError(f"`{path_text(target)}` exists already")
