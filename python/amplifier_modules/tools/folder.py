"""The folder that the tools work in, and the form of its paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, cast

import anyio.to_thread
from pydantic import Field

from amplifier_core.session_capabilities import SESSION_WORKING_DIR
from amplifier_guard import PathPolicy
from amplifier_providers.settings import Settings
from amplifier_providers.value_problems import Form

from .added_folders import find_added_folders
from .blocking import BlockingTool
from .folders import Folders
from .result_bytes import MAX_RESULT_BYTES, MIN_RESULT_BYTES


class FolderSettings(Settings):
    """Which folder a tool works in, and how long its results may be."""

    unknown_keys = "ignore"
    none_is_absent = False

    root: Annotated[Path, Field(strict=False), Form("the path of a folder")] = Path()
    """Folder outside of which nothing is read or written, from the session's working directory."""
    max_result_bytes: int = Field(default=MAX_RESULT_BYTES, ge=MIN_RESULT_BYTES)
    """Bytes of a result, at most; what is left out is counted in it."""


async def mount_tools(
    coordinator: Any,
    settings: FolderSettings,
    tools: Iterable[Callable[[PathPolicy, int], BlockingTool[Any]]],
) -> None:
    """Mount the tools of a module on the folder that its settings name.

    A relative `root` is taken from the session's working directory, the capability
    `session.working_dir`, or else from that of the process.

    Raises:
        OSError: The root does not exist or cannot be opened.
    """
    working = Path(coordinator.get_capability(SESSION_WORKING_DIR) or ".")
    project = await anyio.to_thread.run_sync(PathPolicy, working / settings.root.expanduser())
    # It has the methods of a policy, which cannot be inherited from.
    policy = cast("PathPolicy", Folders(project, find_added_folders(coordinator)))
    for tool in (make(policy, settings.max_result_bytes) for make in tools):
        await coordinator.mount("tools", tool, name=tool.name)


def path_text(path: str) -> str:
    r"""Return a path as text for a model; bytes that are not UTF-8 become `\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
