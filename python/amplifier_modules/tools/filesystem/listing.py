"""The tool that lists the names in a folder: `list_directory`."""

from __future__ import annotations

from threading import Event
from typing import Any

from pydantic import Field

from amplifier_guard import PathPolicy
from amplifier_modules.tools.blocking import Arguments, BlockingTool
from amplifier_modules.tools.folder import path_text
from amplifier_modules.tools.result_bytes import MAX_RESULT_BYTES, ResultBytes, echo_argument

_MOST_ENTRIES = 1000
_OMITTED = "`omitted` counts what the limit of bytes left out."


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
