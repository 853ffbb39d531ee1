"""The question whether files are to be written, in the mode `review`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
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
from .write_digests import ShownWritesError, digest_writes

_MAX_LINES = 160
_MAX_LINE_CHARS = 200
_MAX_CHARS = 15_000
_MAX_PARTS = 100
"""A person cannot agree to more of them alone."""


@dataclass(frozen=True)
class WritePart:
    """A part of the writes of a call, which a person may agree to alone."""

    name: str
    row: str
    """What it is, in a line."""
    lines: tuple[str, ...]
    """How the text changes."""


@dataclass(frozen=True)
class AgreedWrites:
    """What a person has agreed to."""

    shown: Sequence[FileWrite]
    """All that they were shown."""
    chosen: tuple[str, ...] | None
    """The names of the parts that they agreed to; None for all."""
    left_out: tuple[str, ...] = ()
    """Those of the others."""

    def describe(self) -> dict[str, Any]:
        """Return what the model reads of the parts that are left out."""
        if not self.left_out:
            return {}
        note = "the person agreed to the rest alone"
        return {"not_written": list(self.left_out), "note": note}


_AGREED: ContextVar[AgreedWrites | None] = ContextVar("agreed_writes", default=None)
"""What a person has agreed to in this call; None where nobody was asked."""


class WriteRefusedError(PermissionError):
    """Writes that a person has not agreed to."""


def list_write_parts(writes: Sequence[FileWrite]) -> list[WritePart]:
    """Return each write as a part."""
    return [
        WritePart(
            path_text(write.path),
            f"{write.kind} `{path_text(write.path)}`{_name_old(write)}",
            tuple(_list_lines(write)),
        )
        for write in writes
        if write.kind != "unchanged"
    ]


async def ask_about_writes(writes: Sequence[FileWrite], parts: Sequence[WritePart]) -> None:
    """Ask a person about writes; `check_writes` holds later ones to them.

    Args:
        writes: All that is about to be done.
        parts: What the person sees of it, and may agree to alone where there are several.

    Raises:
        WriteRefusedError: They do not agree.
    """
    made = [write for write in writes if write.kind != "unchanged"]
    if not made:
        return
    digests = digest_writes(writes)
    shown = sha256(json.dumps(digests).encode()).hexdigest()
    names = tuple(part.name for part in parts)
    is_choice = 1 < len(set(names)) == len(names) <= _MAX_PARTS
    answer = await ask_person(
        _write(parts),
        {"changes": list(map(_describe, made))},
        parts=names if is_choice else (),
        continuation=Continuation({"files": digests}, shown),
    )
    _take_answer(answer, writes, names)


async def ask_again(
    context: ToolContext[Any], before: AskedBefore, writes: Sequence[FileWrite]
) -> None:
    """Ask what was asked in another process, about exactly the same writes.

    Raises:
        ShownWritesError: They are not the same.
        WriteRefusedError: The person does not agree.
    """
    if digest_writes(writes) != before.resume["files"]:
        raise ShownWritesError
    _take_answer(await context.ask_again(before), writes, before.parts)


def _take_answer(answer: PersonAnswer, writes: Sequence[FileWrite], names: Sequence[str]) -> None:
    if not answer.is_yes:
        raise WriteRefusedError(f"nothing was written: {answer.reason}")
    agreed = None if answer.parts is None else set(answer.parts)
    if agreed is None or agreed >= set(names):
        _AGREED.set(AgreedWrites(list(writes), None))
        return
    chosen = tuple(each for each in names if each in agreed)
    left_out = tuple(each for each in names if each not in agreed)
    _AGREED.set(AgreedWrites(list(writes), chosen, left_out))


def forget_writes() -> None:
    """Begin a call, in which nobody has agreed to anything."""
    _AGREED.set(None)


def check_writes(writes: Sequence[FileWrite]) -> AgreedWrites:
    """Return what a person has agreed to of writes, which must be those that they were shown.

    Raises:
        ShownWritesError: A file has changed since.
    """
    agreed = _AGREED.get()
    if agreed is None:
        return AgreedWrites(writes, None)
    if agreed.shown != list(writes):
        raise ShownWritesError
    return agreed


def _write(parts: Sequence[WritePart]) -> str:
    rows = ["put these changes into the project?"]
    left = _MAX_LINES
    for part in parts:
        rows.append(f"| {part.row}")
        lines = [f"|   {line[:_MAX_LINE_CHARS]}" for line in part.lines]
        rows += lines[:left]
        if len(lines) > left:
            rows.append(f"|   … {len(lines) - left:,} more lines")
        left = max(0, left - len(lines))
    return "\n".join(rows)[:_MAX_CHARS]


def _name_old(write: FileWrite) -> str:
    return "" if write.old_path is None else f", before `{path_text(write.old_path)}`"


def _list_lines(write: FileWrite) -> Iterator[str]:
    diff = compare_lines(path_text(write.path), write.before, write.after)
    yield from diff.text.splitlines()[2:]


def _describe(write: FileWrite) -> dict[str, Any]:
    old_path = {} if write.old_path is None else {"old_path": path_text(write.old_path)}
    return {"path": path_text(write.path), "kind": write.kind, **old_path}
