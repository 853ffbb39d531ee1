"""The tools that write: `write_file` and `edit_file`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from threading import Event
from typing import Any

import anyio.to_thread
from pydantic import Field

from amplifier_core.events import ARTIFACT_WRITE
from amplifier_guard import PathPolicy
from amplifier_modules.changes.line_diff import LineDiff, compare_lines
from amplifier_modules.changes.review import is_reviewing
from amplifier_modules.tool.context import find_context
from amplifier_modules.tools.artifact_events import emit_artifact
from amplifier_modules.tools.blocking import Arguments, ArgumentsT, BlockingTool, check_arguments
from amplifier_modules.tools.folder import path_text
from amplifier_modules.tools.result_bytes import MAX_RESULT_BYTES, ResultBytes, echo_argument

from .edits import Edit, apply_edits
from .file_write import FileWrite
from .file_writer import FileWriter
from .read_record import ReadRecords, UncheckedRecords
from .text_file import TextFile, check_writable
from .write_question import (
    WritePart,
    ask_about_writes,
    ask_again,
    check_writes,
    choose_hunks,
    forget_writes,
    list_diff_lines,
    list_rows,
    list_write_parts,
)

_MAX_EDITS = 100
RULES = (
    "A file that is there must have been read with `read_file` before, and must not have changed"
    " since. Line ends (`\\n` here, whatever the file has), the encoding and the rights of the file"
    " are kept. A person is asked about files that decide what runs or hold secrets, such as"
    " `.git/hooks` or `.env`."
)
"""What holds for all tools that write, for the model."""


class WritingTool(BlockingTool[ArgumentsT]):
    """A tool that writes one file; its result says what has changed."""

    parallel = False
    """Whether its calls may run at the same time as others; loops read it."""
    continues_calls = True
    """Whether it goes on with a call that asked in another process; loops read it."""

    def __init__(
        self,
        arguments: type[ArgumentsT],
        policy: PathPolicy,
        max_bytes: int,
        records: ReadRecords | None,
    ) -> None:
        super().__init__(arguments, max_bytes)
        self._policy = policy
        self._writer = FileWriter(self.name, policy, ReadRecords() if records is None else records)

    def needs_approval(self, input: Mapping[str, Any]) -> bool:
        """Whether a person must agree: the file decides what runs, or holds secrets."""
        return self._writer.is_protected(input.get("path"))

    def shows_changes(self, input: Mapping[str, Any]) -> bool:
        """Whether a person can be asked about what a call changes before it is made."""
        return True

    def preview_call(self, input: Mapping[str, Any]) -> list[str]:
        """Return rows that show what a call would change; none where that is not known; blocks.

        A file that was not read, or has changed since, is shown as well: the call is refused.
        """
        viewer = copy(self)
        viewer._writer = FileWriter(self.name, self._policy, UncheckedRecords())
        try:
            arguments = check_arguments(self._arguments, dict(input))
            writes = viewer.plan_writes(arguments)
            made = [write for write in writes if write.kind != "unchanged"]
            return list_rows(list_write_parts(made))
        except (OSError, ValueError):
            return []

    @abstractmethod
    def plan_writes(self, arguments: ArgumentsT) -> list[FileWrite]:
        """Return what a call is to do; nothing is written.

        Raises:
            OSError, ValueError: As for `FileWriter.prepare`.
        """

    async def prepare_call(self, arguments: ArgumentsT) -> None:
        """Ask a person about exactly what will be written, in the mode `review`."""
        forget_writes()
        context = find_context()
        if context is not None and (before := context.asked_before) is not None:
            await anyio.to_thread.run_sync(self._writer.note_untouched, before.resume["files"])
            writes = await anyio.to_thread.run_sync(self.plan_writes, arguments)
            await ask_again(context, before, writes)
        elif is_reviewing():
            writes = await anyio.to_thread.run_sync(self.plan_writes, arguments)
            await ask_about_writes(writes, self.list_parts(arguments, writes))

    def run(self, arguments: ArgumentsT, stop: Event) -> dict[str, Any]:
        """Make the writes."""
        writes = self.plan_writes(arguments)
        agreed = check_writes(writes)
        if agreed.chosen is not None:
            writes = self.choose_writes(arguments, writes, agreed.chosen)
        self._writer.write(writes, stop)
        return {**self.describe_all(writes), **agreed.describe()}

    def list_parts(self, arguments: ArgumentsT, writes: Sequence[FileWrite]) -> list[WritePart]:
        """Return what a person sees of the writes, and may agree to alone where it is several."""
        return list_write_parts(writes)

    def choose_writes(
        self, arguments: ArgumentsT, writes: Sequence[FileWrite], chosen: Sequence[str]
    ) -> list[FileWrite]:
        """Return the writes for the parts that a person has agreed to.

        Raises:
            OSError, ValueError: These parts cannot be made without the others.
        """
        made = (choose_hunks(write, chosen) for write in writes)
        return [write for write in made if write is not None]

    def describe_all(self, writes: Sequence[FileWrite]) -> dict[str, Any]:
        """Return the output for all writes of a call."""
        return self.describe(writes[0])

    async def finish(self, output: dict[str, Any]) -> dict[str, Any]:
        """Emit `artifact:write`; a new file is not repeated to the model, which wrote it."""
        await emit_write(output)
        if output["kind"] == "unchanged":
            return output
        hidden = ("diff", "omitted") if output["kind"] == "created" else ()
        return {key: value for key, value in output.items() if key not in hidden}

    def describe(self, write: FileWrite) -> dict[str, Any]:
        """Return the output for a write that was made."""
        old_path = None if write.old_path is None else path_text(write.old_path)
        diff = compare_lines(path_text(write.path), write.before, write.after, old_path)
        output = describe_write(write, diff, self.max_bytes)
        shown = ResultBytes(self.max_bytes, output).take_beginning(diff.text.encode()).decode()
        output["diff"] = shown
        left_out = diff.text[len(shown) :].count("\n")
        return {**output, "omitted": {"diff_lines": left_out}} if left_out else output


async def emit_write(output: dict[str, Any]) -> None:
    """Emit `artifact:write` for a file that was written; for one that stayed as it was, nothing."""
    if output["kind"] != "unchanged":
        hidden = ("omitted", "not_written", "note")
        data = {key: value for key, value in output.items() if key not in hidden}
        await emit_artifact(ARTIFACT_WRITE, data)


def describe_write(write: FileWrite, diff: LineDiff, max_bytes: int) -> dict[str, Any]:
    """Return the figures of a write: where it was made, and how much has changed."""
    old_path = write.old_path
    moved = {} if old_path is None else {"old_path": echo_argument(path_text(old_path), max_bytes)}
    return {
        "path": echo_argument(path_text(write.path), max_bytes),
        **moved,
        "kind": write.kind,
        "bytes": len(write.after or b""),
        "lines_added": diff.added,
        "lines_removed": diff.removed,
    }


class _WriteFile(Arguments):
    path: str = Field(description="The file, from the working folder.")
    content: str = Field(description="All that the file is to hold.")


class WriteFile(WritingTool[_WriteFile]):
    """Writes a whole file."""

    name = "write_file"
    description = (
        "Write a whole text file of the working folder: a new one, for which missing folders are"
        " made, or in the place of one (`edit_file` changes a part of it). `kind` says whether it"
        f" was `created`, `modified` or `unchanged`. {RULES}"
    )

    def __init__(
        self,
        policy: PathPolicy,
        max_bytes: int = MAX_RESULT_BYTES,
        records: ReadRecords | None = None,
    ) -> None:
        super().__init__(_WriteFile, policy, max_bytes, records)

    def plan_writes(self, arguments: _WriteFile) -> list[FileWrite]:
        """Return the write of the whole file."""

        def compose(_path: str, file: TextFile | None) -> TextFile:
            content = arguments.content
            return TextFile(content) if file is None else file.replace_text(content)

        check_writable("content", arguments.content)
        return [self._writer.prepare(arguments.path, compose)]


class _EditFile(Arguments):
    path: str = Field(description="The file, from the working folder.")
    edits: list[Edit] = Field(
        min_length=1,
        max_length=_MAX_EDITS,
        description="Made in this order, each on what the one before it left: all, or none.",
    )


class EditFile(WritingTool[_EditFile]):
    """Replaces parts of a file."""

    name = "edit_file"
    description = (
        "Change parts of a text file of the working folder. The result has the change as a unified"
        f" diff. {RULES}"
    )

    def __init__(
        self,
        policy: PathPolicy,
        max_bytes: int = MAX_RESULT_BYTES,
        records: ReadRecords | None = None,
    ) -> None:
        super().__init__(_EditFile, policy, max_bytes, records)

    def list_parts(self, arguments: _EditFile, writes: Sequence[FileWrite]) -> list[WritePart]:
        """Return the edits where there are several, else the file."""
        if len(arguments.edits) == 1:
            return list_write_parts(writes)
        path, content = path_text(writes[0].path), writes[0].before or b""
        parts: list[WritePart] = []
        for number, edit in enumerate(arguments.edits, 1):
            # Each as it changes what the edits before it have left.
            edited = apply_edits(path, TextFile.decode(path, content), [edit]).encode()
            where = ", everywhere" if edit.replace_all else ""
            row = f"{_name_edit(number)} of `{path}`{where}"
            lines = tuple(list_diff_lines(content, edited))
            parts.append(WritePart(_name_edit(number), row, lines))
            content = edited
        return parts

    def choose_writes(
        self, arguments: _EditFile, writes: Sequence[FileWrite], chosen: Sequence[str]
    ) -> list[FileWrite]:
        """Return the write of the file with the chosen edits or hunks alone."""
        if len(arguments.edits) == 1:
            return super().choose_writes(arguments, writes, chosen)
        edits = [
            edit for number, edit in enumerate(arguments.edits, 1) if _name_edit(number) in chosen
        ]
        made = self.plan_writes(arguments.model_copy(update={"edits": edits}))
        # What the file held then is what the person saw.
        return [
            replace(each, before=shown.before) for each, shown in zip(made, writes, strict=True)
        ]

    def plan_writes(self, arguments: _EditFile) -> list[FileWrite]:
        """Return the write of the edited file."""

        def compose(path: str, file: TextFile | None) -> TextFile:
            if file is None:
                message = f"no file `{path}` in `{self._policy.root}` (`write_file` makes one)"
                raise FileNotFoundError(message)
            return apply_edits(path, file, arguments.edits)

        return [self._writer.prepare(arguments.path, compose)]


def _name_edit(number: int) -> str:
    return f"edit {number}"
