"""`tool-filesystem`: read a file, list a directory."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import Any

from pydantic import Field

from amplifier_guard import PathPolicy
from amplifier_modules.tools.blocking import Arguments, BlockingTool
from amplifier_modules.tools.folder import FolderSettings, mount_tools, written

__amplifier_module_type__ = "tool"
__amplifier_settings__ = FolderSettings

_MOST_ENTRIES = 1000
_MOST_BYTES = 256 * 1024


class _ReadFile(Arguments):
    path: str = Field(description="The file, from the working folder.")
    offset: int = Field(
        default=1, ge=1, le=2**53, description="The number of the first line to show, from 1."
    )
    limit: int = Field(default=2000, ge=0, le=1_000_000, description="The most lines to show.")


class ReadFile(BlockingTool[_ReadFile]):
    """Shows lines of a text file."""

    name = "read_file"
    description = (
        "Read a text file of the working folder. Shows up to `limit` lines from line `offset` on;"
        " `truncated` says that the file goes on after them. `total_lines` counts the lines of the"
        " whole file, a last one without a newline character among them."
    )

    def __init__(self, policy: PathPolicy) -> None:
        super().__init__(_ReadFile)
        self._policy = policy

    def run(self, arguments: _ReadFile, stop: Event) -> dict[str, Any]:
        """Read the lines asked for."""
        window = self._policy.lines(
            arguments.path,
            first=arguments.offset,
            limit=arguments.limit,
            max_bytes=_MOST_BYTES,
            stop=stop,
        )
        return {
            "path": written(self._policy.resolve(arguments.path)),
            "bytes": window.bytes,
            "total_lines": window.total_lines,
            "offset": arguments.offset,
            "shown_lines": window.shown_lines,
            "content": window.content.decode("utf-8", "replace"),
            "truncated": window.truncated,
        }


class _ListDirectory(Arguments):
    path: str = Field(default=".", description="The directory, from the working folder.")


class ListDirectory(BlockingTool[_ListDirectory]):
    """Lists the names in one directory."""

    name = "list_directory"
    description = (
        "List the names in a directory of the working folder, hidden ones among them: each with"
        " its type (file, directory, link, other) and, for a file, its size in bytes. Links are"
        f" not followed. At most {_MOST_ENTRIES} entries are shown; `total` counts all."
    )

    def __init__(self, policy: PathPolicy) -> None:
        super().__init__(_ListDirectory)
        self._policy = policy

    def run(self, arguments: _ListDirectory, stop: Event) -> dict[str, Any]:
        """List the directory."""
        entries = self._policy.list(arguments.path)
        return {
            "path": written(self._policy.resolve(arguments.path)),
            "total": len(entries),
            "entries": [
                {"name": written(name), "type": kind, "bytes": size}
                for name, kind, size in entries[:_MOST_ENTRIES]
            ],
            "truncated": len(entries) > _MOST_ENTRIES,
        }


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount `read_file` and `list_directory`.

    Args:
        coordinator: Where they are mounted.
        config: The keys of `FolderSettings`.

    Raises:
        SettingError: The root is not a path.
        OSError: The root does not exist or cannot be opened.
    """
    await mount_tools(coordinator, config, "tool-filesystem", (ReadFile, ListDirectory))
