"""The question whether files are to be written, in the mode `review`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from hashlib import sha256
from typing import Any

from amplifier_modules.changes.line_diff import compare_lines
from amplifier_modules.tool.context import (
    AskedBefore,
    Continuation,
    PersonAnswer,
    ToolContext,
    ask_person,
)
from amplifier_modules.tools.folder import path_text

from .file_write import FileWrite

_MAX_LINES = 160
_MAX_LINE_CHARS = 200
_MAX_CHARS = 15_000
_CHANGED = "a file has changed while a person was asked; read it again"
_SHOWN: ContextVar[list[FileWrite] | None] = ContextVar("shown_writes", default=None)
"""What a person has agreed to in this call; None where nobody was asked."""


class WriteRefusedError(PermissionError):
    """Writes that a person has not agreed to."""


class ShownWritesError(ValueError):
    """Writes that are not those which a person has agreed to."""


class WrittenBeforeError(ValueError):
    """Writes that were made already, in a process that ended meanwhile."""


async def ask_about_writes(writes: Sequence[FileWrite]) -> None:
    """Ask a person about writes; `check_writes` holds later ones to them.

    Raises:
        WriteRefusedError: They do not agree.
    """
    made = [write for write in writes if write.kind != "unchanged"]
    if not made:
        return
    digests = digest_writes(writes)
    shown = sha256(json.dumps(digests).encode()).hexdigest()
    answer = await ask_person(
        _write(made),
        {"changes": list(map(_describe, made))},
        continuation=Continuation({"files": digests}, shown),
    )
    _take_answer(answer, writes)


async def ask_again(
    context: ToolContext[Any], before: AskedBefore, writes: Sequence[FileWrite]
) -> None:
    """Ask what was asked in another process, about exactly the same writes.

    Raises:
        ShownWritesError: They are not the same.
        WriteRefusedError: The person does not agree.
    """
    if digest_writes(writes) != before.resume["files"]:
        raise ShownWritesError(_CHANGED)
    _take_answer(await context.ask_again(before), writes)


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
    raise ShownWritesError(_CHANGED)


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


def _take_answer(answer: PersonAnswer, writes: Sequence[FileWrite]) -> None:
    if not answer.is_yes:
        raise WriteRefusedError(f"nothing was written: {answer.reason}")
    _SHOWN.set(list(writes))


def forget_writes() -> None:
    """Begin a call, in which nobody has agreed to anything."""
    _SHOWN.set(None)


def check_writes(writes: Sequence[FileWrite]) -> None:
    """Look whether writes are those that a person has agreed to, if one was asked.

    Raises:
        ShownWritesError: A file has changed since.
    """
    shown = _SHOWN.get()
    if shown is not None and shown != list(writes):
        raise ShownWritesError(_CHANGED)


def _write(writes: Sequence[FileWrite]) -> str:
    rows = ["put these changes into the project?"]
    left = _MAX_LINES
    for write in writes:
        rows.append(f"| {write.kind} `{path_text(write.path)}`{_name_old(write)}")
        lines = list(_list_lines(write))
        rows += lines[:left]
        if len(lines) > left:
            rows.append(f"|   … {len(lines) - left:,} more lines")
        left = max(0, left - len(lines))
    return "\n".join(rows)[:_MAX_CHARS]


def _name_old(write: FileWrite) -> str:
    return "" if write.old_path is None else f", before `{path_text(write.old_path)}`"


def _list_lines(write: FileWrite) -> Iterator[str]:
    diff = compare_lines(path_text(write.path), write.before, write.after)
    for line in diff.text.splitlines()[2:]:
        yield f"|   {line[:_MAX_LINE_CHARS]}"


def _describe(write: FileWrite) -> dict[str, Any]:
    old_path = {} if write.old_path is None else {"old_path": path_text(write.old_path)}
    return {"path": path_text(write.path), "kind": write.kind, **old_path}
