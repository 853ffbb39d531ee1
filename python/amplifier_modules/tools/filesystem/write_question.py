"""The question whether files are to be written, in the mode `review`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from amplifier_modules.changes.line_diff import compare_lines
from amplifier_modules.tool.context import ask_person
from amplifier_modules.tools.folder import path_text

from .file_write import FileWrite

_MAX_LINES = 160
_MAX_LINE_CHARS = 200
_MAX_CHARS = 15_000
_SHOWN: ContextVar[list[FileWrite] | None] = ContextVar("shown_writes", default=None)
"""What a person has agreed to in this call; None where nobody was asked."""


class WriteRefusedError(PermissionError):
    """Writes that a person has not agreed to."""


class ShownWritesError(ValueError):
    """Writes that are not those which a person has agreed to."""


async def ask_about_writes(writes: Sequence[FileWrite]) -> None:
    """Ask a person about writes; `check_writes` holds later ones to them.

    Raises:
        WriteRefusedError: They do not agree.
    """
    made = [write for write in writes if write.kind != "unchanged"]
    if not made:
        return
    answer = await ask_person(_write(made), {"changes": list(map(_describe, made))})
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
        raise ShownWritesError("a file has changed while a person was asked; read it again")


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
