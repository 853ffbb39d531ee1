"""`tool-filesystem`: read, write and edit files, list a directory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from amplifier_modules.changes.mounting import mount_changes
from amplifier_modules.tools.folder import FolderSettings, mount_tools
from amplifier_providers.settings import read_settings

from .listing import ListDirectory
from .patching import ApplyPatch
from .read_record import FileChangedError, FileNotReadError, ReadRecords
from .reading import ReadFile
from .writing import EditFile, WriteFile


class FilesystemSettings(FolderSettings):
    """Which folder the tools work in, whether they write, and how long their results may be."""

    unknown_keys = "warn"

    read_only: bool = False
    """Whether there is none of `write_file`, `edit_file` and `apply_patch`."""


__amplifier_module_type__ = "tool"
__amplifier_settings__ = FilesystemSettings

__all__ = [
    "ApplyPatch",
    "EditFile",
    "FileChangedError",
    "FileNotReadError",
    "FilesystemSettings",
    "ListDirectory",
    "ReadFile",
    "ReadRecords",
    "WriteFile",
    "mount",
]


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount `read_file` and `list_directory`, and unless it is read-only, what writes.

    Args:
        coordinator: Where they are mounted.
        config: The keys of `FilesystemSettings`.

    Raises:
        SettingError: A value cannot be used.
        OSError: The root does not exist or cannot be opened.
    """
    settings = read_settings(FilesystemSettings, config, "tool-filesystem")
    records = ReadRecords()
    reading = (partial(ReadFile, records=records), ListDirectory)
    writing = (
        partial(WriteFile, records=records),
        partial(EditFile, records=records),
        partial(ApplyPatch, records=records),
    )
    if not settings.read_only:
        mount_changes(coordinator)
    tools = reading if settings.read_only else (*reading, *writing)
    await mount_tools(coordinator, settings, tools)
