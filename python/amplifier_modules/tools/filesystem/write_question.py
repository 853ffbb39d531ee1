"""The question whether files are to be written, in the mode `review`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from amplifier_modules.changes.asked import (
    FileHunks,
    add_hunk_names,
    clip_line,
    describe_hunks,
    find_file_hunks,
    limit_hunks,
)
from amplifier_modules.changes.line_diff import find_hunks
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

_MAX_LINES = 400
_MAX_LINE_CHARS = 1000
_MAX_CHARS = 15_000
_MAX_PARTS = 100
_MAX_NAMES = 200
"""Names of parts and hunks in one question."""
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
    """Those of the others; of hunks also where they are."""
    words: str = ""
    """What the person says of those."""

    def describe(self) -> dict[str, Any]:
        """Return what the model reads of the parts that are left out."""
        if not self.left_out:
            return {}
        note = "the person agreed to the rest alone"
        if self.words:
            note += f", and says: {self.words}"
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
            tuple(list_diff_lines(write.before, write.after)),
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
    is_clear = len(set(names)) == len(names) <= _MAX_PARTS
    hunks = _find_hunks(writes, names) if is_clear else {}
    is_choice = is_clear and (len(names) > 1 or bool(hunks))
    answer = await ask_person(
        _write(parts),
        {"changes": list(map(_describe, made)), **describe_hunks(hunks)},
        parts=add_hunk_names(names, hunks) if is_choice else (),
        continuation=Continuation({"files": digests}, shown),
    )
    _take_answer(answer, writes, names, hunks)


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
    shown: Mapping[str, Any] = before.about.get("hunks") or {}
    of_hunks = {name for hunks in shown.values() for name in hunks}
    names = [each for each in before.parts if each not in of_hunks]
    found = _find_hunks(writes, names)
    hunks = {name: each for name, each in found.items() if shown.get(name) == each.describe()}
    _take_answer(await context.ask_again(before), writes, names, hunks)


def _find_hunks(writes: Sequence[FileWrite], names: Sequence[str]) -> dict[str, FileHunks]:
    """Return the files whose hunks a person may agree to alone, where files are the parts."""
    modified = (each for each in writes if each.kind == "modified")
    found = (find_file_hunks(path_text(each.path), each.before, each.after) for each in modified)
    return limit_hunks((each for each in found if each and each.name in names), names, _MAX_NAMES)


def choose_hunks(write: FileWrite, chosen: Sequence[str]) -> FileWrite | None:
    """Return a write with what is chosen of it, by its path or its hunks; None for nothing."""
    name = path_text(write.path)
    if write.kind == "unchanged" or name in chosen:
        return write
    is_modified = write.kind == "modified"
    hunks = find_file_hunks(name, write.before, write.after) if is_modified else None
    if hunks is None or not hunks.list_taken(chosen):
        return None
    return replace(write, after=hunks.apply_taken(chosen))


def _take_answer(
    answer: PersonAnswer,
    writes: Sequence[FileWrite],
    names: Sequence[str],
    hunks: Mapping[str, FileHunks],
) -> None:
    if not answer.is_yes:
        raise WriteRefusedError(f"nothing was written: {answer.reason}")
    if answer.parts is None:
        _AGREED.set(AgreedWrites(list(writes), None))
        return
    chosen = tuple(answer.parts)
    left_out: list[str] = []
    for name in names:
        found = hunks.get(name)
        if found is not None and found.list_taken(chosen):
            left_out += found.list_left(chosen)
        elif name not in chosen:
            left_out.append(name)
    if left_out:
        _AGREED.set(AgreedWrites(list(writes), chosen, tuple(left_out), answer.words))
    else:
        _AGREED.set(AgreedWrites(list(writes), None))


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
    rows = ["put these changes into the project?", *list_rows(parts)]
    return "\n".join(rows)[:_MAX_CHARS]


def list_rows(parts: Sequence[WritePart]) -> list[str]:
    """Return what a person sees of writes, folded where it is long."""
    rows: list[str] = []
    left = _MAX_LINES
    for part in parts:
        rows.append(f"| {part.row}")
        lines = [f"|   {clip_line(line, _MAX_LINE_CHARS)}" for line in part.lines]
        rows += lines[:left]
        if len(lines) > left:
            rows.append(f"|   … {len(lines) - left:,} more lines")
        left = max(0, left - len(lines))
    return rows


def _name_old(write: FileWrite) -> str:
    return "" if write.old_path is None else f", before `{path_text(write.old_path)}`"


def list_diff_lines(before: bytes | None, after: bytes | None) -> list[str]:
    """Return how a content changes; no character but a line feed ends a line of it."""
    text = "".join(each.text for each in find_hunks(before or b"", after or b""))
    return text.removesuffix("\n").split("\n") if text else []


def _describe(write: FileWrite) -> dict[str, Any]:
    old_path = {} if write.old_path is None else {"old_path": path_text(write.old_path)}
    return {"path": path_text(write.path), "kind": write.kind, **old_path}
