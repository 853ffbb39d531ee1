"""The tools that read: `read_file` and `list_directory`."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import Any

from pydantic import Field

from amplifier_core.events import ARTIFACT_READ
from amplifier_guard import PathPolicy
from amplifier_guard.path import LineWindow
from amplifier_modules.tools.artifact_events import emit_artifact
from amplifier_modules.tools.blocking import Arguments, BlockingTool
from amplifier_modules.tools.folder import path_text
from amplifier_modules.tools.result_bytes import MAX_RESULT_BYTES, ResultBytes, echo_argument
from amplifier_modules.tools.secret_files import SecretFiles

from .read_record import MAX_FILE_BYTES, ReadRecords

_MOST_ENTRIES = 1000
_OMITTED = "`omitted` counts what the limit of bytes left out."


class _ReadFile(Arguments):
    path: str = Field(description="The file, from the working folder.")
    offset: int = Field(
        default=1, ge=1, le=2**53, description="The number of the first line to show, from 1."
    )
    limit: int = Field(default=2000, ge=0, le=1_000_000, description="The most lines to show.")


class ReadFile(BlockingTool[_ReadFile]):
    """Shows lines of a text file."""

    name = "read_file"
    read_only = True
    description = (
        "Read a text file of the working folder. Shows up to `limit` lines from line `offset` on;"
        " `truncated` says that the file goes on after them. `total_lines` counts the lines of the"
        " whole file, a last one without a newline character among them. A person is asked about"
        f" files that hold secrets, such as `.env`. {_OMITTED}"
    )

    def __init__(
        self,
        policy: PathPolicy,
        max_bytes: int = MAX_RESULT_BYTES,
        records: ReadRecords | None = None,
    ) -> None:
        super().__init__(_ReadFile, max_bytes)
        self._secret_files = SecretFiles(self.name, policy)
        self._records = ReadRecords() if records is None else records

    def needs_approval(self, input: Mapping[str, Any]) -> bool:
        """Whether a person must agree: the file holds secrets."""
        return self._secret_files.are_at(input.get("path"))

    def run(self, arguments: _ReadFile, stop: Event) -> dict[str, Any]:
        """Read the lines asked for."""
        policy = self._secret_files.choose_policy(arguments.path)
        window = policy.lines(
            arguments.path,
            first=arguments.offset,
            limit=arguments.limit,
            max_bytes=self.max_bytes,
            stop=stop,
        )
        path = policy.resolve(arguments.path)
        self._note_read(policy, path, arguments.offset, window)
        figures: dict[str, Any] = {
            "path": echo_argument(path_text(path), self.max_bytes),
            "bytes": window.bytes,
            "total_lines": window.total_lines,
            "offset": arguments.offset,
            "shown_lines": window.shown_lines,
        }
        content = ResultBytes(self.max_bytes, figures).take_beginning(window.content)
        whole = content.count(b"\n")
        if len(content) < len(window.content):
            figures["shown_lines"] = whole + (content[-1:] not in (b"\n", b""))
        truncated = window.truncated or len(content) < len(window.content)
        shown = whole if truncated else window.shown_lines
        wanted = min(arguments.limit, max(0, window.total_lines - arguments.offset + 1))
        output = {
            **figures,
            "content": content.decode("utf-8", "replace"),
            "truncated": truncated,
        }
        return {**output, "omitted": {"lines": wanted - shown}} if wanted > shown else output

    async def finish(self, output: dict[str, Any]) -> dict[str, Any]:
        """Emit `artifact:read`."""
        keys = ("path", "bytes", "offset", "shown_lines")
        await emit_artifact(ARTIFACT_READ, {key: output[key] for key in keys})
        return output

    def _note_read(self, policy: PathPolicy, path: str, offset: int, window: LineWindow) -> None:
        """Note the file as read, if what is shown is a part of what it holds now."""
        if window.bytes > MAX_FILE_BYTES:
            return
        content = policy.read(path, MAX_FILE_BYTES + 1)
        start = 0
        for _ in range(min(offset, window.total_lines + 1) - 1):
            start = content.find(b"\n", start) + 1 or len(content)
        # Else it changed between the two reads, and is to be read again before it is changed.
        if content.startswith(window.content, start):
            self._records.find_record().note(path, content)


class _ListDirectory(Arguments):
    path: str = Field(default=".", description="The directory, from the working folder.")


class ListDirectory(BlockingTool[_ListDirectory]):
    """Lists the names in one directory."""

    name = "list_directory"
    read_only = True
    description = (
        "List the names in a directory of the working folder, hidden ones among them: each with"
        " its type (file, directory, link, other) and, for a file, its size in bytes. Links are"
        f" not followed. At most {_MOST_ENTRIES} entries are shown; `total` counts all. {_OMITTED}"
    )

    def __init__(self, policy: PathPolicy, max_bytes: int = MAX_RESULT_BYTES) -> None:
        super().__init__(_ListDirectory, max_bytes)
        self._policy = policy

    def run(self, arguments: _ListDirectory, stop: Event) -> dict[str, Any]:
        """List the directory."""
        entries, total = self._policy.first_entries(
            arguments.path, limit=_MOST_ENTRIES, max_bytes=self.max_bytes, stop=stop
        )
        output: dict[str, Any] = {
            "path": echo_argument(path_text(self._policy.resolve(arguments.path)), self.max_bytes),
            "total": total,
        }
        output["entries"] = ResultBytes(self.max_bytes, output).take_first(
            entries,
            lambda entry: {"name": path_text(entry[0]), "type": entry[1], "bytes": entry[2]},
        )
        output["truncated"] = total > len(output["entries"])
        left_out = min(total, _MOST_ENTRIES) - len(output["entries"])
        return {**output, "omitted": {"entries": left_out}} if left_out else output
