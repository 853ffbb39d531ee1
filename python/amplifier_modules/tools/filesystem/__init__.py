"""`tool-filesystem`: read, write and edit files, list a directory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from amplifier_modules.tools.folder import FolderSettings, mount_tools

from .read_record import FileChangedError, FileNotReadError, ReadRecords
from .reading import ListDirectory, ReadFile
from .writing import EditFile, WriteFile

__amplifier_module_type__ = "tool"
__amplifier_settings__ = FolderSettings

__all__ = [
    "EditFile",
    "FileChangedError",
    "FileNotReadError",
    "ListDirectory",
    "ReadFile",
    "ReadRecords",
    "WriteFile",
    "mount",
]


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount `read_file`, `list_directory`, `write_file` and `edit_file`.

    Args:
        coordinator: Where they are mounted.
        config: The keys of `FolderSettings`.

    Raises:
        SettingError: The root is not a path.
        OSError: The root does not exist or cannot be opened.
    """
    records = ReadRecords()
    tools = (
        partial(ReadFile, records=records),
        ListDirectory,
        partial(WriteFile, records=records),
        partial(EditFile, records=records),
    )
    await mount_tools(coordinator, config, "tool-filesystem", tools)
