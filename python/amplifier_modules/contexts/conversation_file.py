"""The file of a conversation: JSON lines, only ever appended to by one session at a time.

The first line names the format. Each other line is a change: a message that was added, or the
messages that replaced all before them.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import stat
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from amplifier_providers.limits.shared_file import lock

logger = logging.getLogger(__name__)

MAX_LINE_BYTES = 512 * 1024 * 1024
_HEADER: dict[str, Any] = {"format": "amplifier-conversation", "version": 1}
_HEADER_LINE = json.dumps(_HEADER, separators=(",", ":")).encode("ascii")
_SAFE = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)

Message = dict[str, Any]


class ConversationFileError(ValueError):
    """A conversation file that cannot be used: it names the file, and the line if there is one."""

    def __init__(self, path: Path, problem: str, line: int | None = None) -> None:
        """Say what is wrong, and in which line, counted from 1."""
        place = f"conversation file `{path}`" + ("" if line is None else f", line {line}")
        super().__init__(f"{place}: {problem}")
        self.path = path
        self.line = line


class ConversationFile:
    """An open conversation file, which no other session can open meanwhile."""

    def __init__(self, path: Path, check: Callable[[Any], Message], *, is_synced: bool) -> None:
        """Open the file, and make it with its folders if it does not exist.

        Args:
            path: Where it is.
            check: Returns a message for the conversation; what it cannot use is a `ValueError` or a
                `TypeError`.
            is_synced: Whether each change is on the disk before it counts.

        Raises:
            ConversationFileError: It is no file, or in use by another session.
            OSError: It cannot be opened.
        """
        self.path = path
        self._check = check
        self._is_synced = is_synced
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = _open_file(path)
        self._close = weakref.finalize(self, os.close, self._descriptor)
        try:
            self._lock()
            self._size = os.fstat(self._descriptor).st_size
        except BaseException:
            self.close()
            raise

    def read_changes(self) -> Iterator[tuple[bool, list[Message]]]:
        """Yield what is in the file: whether the messages replace those before, and the messages.

        A last line that was not written to its end is removed from the file. A file that cannot be
        used keeps its content and its mode.

        Raises:
            ConversationFileError: A line cannot be used, or the file is not a conversation.
        """
        end = 0
        with open(self._descriptor, "rb", closefd=False) as file:
            file.seek(0)
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES + 1), b""), 1):
                if len(line) > MAX_LINE_BYTES:
                    raise self._make_error(f"it is longer than {MAX_LINE_BYTES:,} bytes", number)
                is_whole = line.endswith(b"\n")
                try:
                    change = json.loads(line)
                except (ValueError, RecursionError) as error:
                    if not is_whole and (number > 1 or _HEADER_LINE.startswith(line)):
                        break
                    raise self._make_error(_json_problem(error), number) from None
                yield from self._read(change, number)
                end += len(line)
                if not is_whole:
                    self._write(b"\n")
                    end += 1
        if hasattr(os, "fchmod"):
            os.fchmod(self._descriptor, 0o600)
        if end < self._size:
            logger.warning("the last line of `%s` was incomplete and is dropped", self.path)
            os.ftruncate(self._descriptor, end)
            self._size = end
        if not self._size:
            self._append(_HEADER)

    def add(self, message: Message) -> None:
        """Append a message.

        Raises:
            ValueError: It cannot be written as JSON.
            OSError: The file cannot be written; it is as it was.
        """
        self._append({"add": message})

    def replace(self, messages: list[Message]) -> None:
        """Append that these messages replace all before them.

        Raises:
            ValueError: One cannot be written as JSON.
            OSError: The file cannot be written; it is as it was.
        """
        self._append({"replace": messages})

    def close(self) -> None:
        """Close the file, so that another session can open it."""
        self._close()

    def _lock(self) -> None:
        if not lock(self._descriptor):
            raise self._make_error("it is in use by another session")

    def _append(self, change: Message) -> None:
        try:
            line = json.dumps(change, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            problem = str(error) or type(error).__name__
            raise ValueError(f"a message cannot be written as JSON: {problem}") from None
        self._write(f"{line}\n".encode("ascii"))

    def _write(self, data: bytes) -> None:
        if not self._close.alive:
            raise OSError(errno.EBADF, f"the session of `{self.path}` has ended")
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            if self._is_synced:
                os.fsync(self._descriptor)
        except BaseException as error:
            # Half a line would make one line of two.
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            if isinstance(error, OSError):
                reason = error.strerror or str(error)
                message = f"conversation file `{self.path}` cannot be written: {reason}"
                raise OSError(error.errno, message) from error
            raise
        self._size += len(data)

    def _read(self, change: Any, number: int) -> Iterator[tuple[bool, list[Message]]]:
        if not isinstance(change, dict):
            raise self._make_error(f"a `{type(change).__name__}` (must be an object)", number)
        fields = cast("dict[str, Any]", change)
        if number == 1:
            if fields != _HEADER:
                raise self._make_error(
                    f"it is no conversation (must be {json.dumps(_HEADER)})", number
                )
        elif fields.keys() == {"add"}:
            yield False, [self._check_message(fields["add"], number)]
        elif fields.keys() == {"replace"} and isinstance(fields["replace"], list):
            given = cast("list[Any]", fields["replace"])
            yield True, [self._check_message(each, number) for each in given]
        else:
            raise self._make_error("no change (must be `add` or `replace`)", number)

    def _check_message(self, given: Any, number: int) -> Message:
        try:
            return self._check(given)
        except (TypeError, ValueError) as error:
            raise self._make_error(str(error), number) from None

    def _make_error(self, problem: str, line: int | None = None) -> ConversationFileError:
        return ConversationFileError(self.path, problem, line)


def _open_file(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | _SAFE | _BINARY
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        reason = "it is a link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise ConversationFileError(path, f"it cannot be opened: {reason}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConversationFileError(path, "it is no regular file")
    return descriptor


def _json_problem(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON at character {error.pos + 1}: {error.msg.lower()}"
    if isinstance(error, RecursionError):
        return "JSON that is nested too deeply"
    return f"no JSON that can be read: {error}"
