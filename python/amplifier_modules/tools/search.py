"""`tool-search`: find files by name, lines by content."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from threading import Event
from typing import Any, Literal

from pydantic import Field

from amplifier_guard import PathPolicy
from amplifier_modules.tools.blocking import Arguments, BlockingTool
from amplifier_modules.tools.folder import SKIPPED, FolderSettings, mount_tools, written

__amplifier_module_type__ = "tool"
__amplifier_settings__ = FolderSettings

_FILES = (
    "Files are regular files outside directories named "
    + ", ".join(f"`{name}`" for name in SKIPPED)
    + "; hidden files count, links are not followed."
)
_PATTERNS = (
    "`*` and `?` stay inside one name, `**` crosses directories, `[a-z]` and `{one,two}` choose; a"
    " pattern without `/` means the name at any depth"
)
_LIMIT = Field(default=100, ge=0, le=100_000, description="The most results to show.")


class _Glob(Arguments):
    pattern: str = Field(description=f"The files to find, from `path`: {_PATTERNS}.")
    path: str = Field(default=".", description="Where to look, from the working folder.")
    sort: Literal["path", "size", "modified"] = Field(
        default="path", description="The order: by path, largest first, or latest first."
    )
    limit: int = _LIMIT


class Glob(BlockingTool[_Glob]):
    """Finds files by name."""

    name = "glob"
    description = (
        f"Find files of the working folder by a pattern over their paths. {_FILES} `total`,"
        " `total_bytes` and `extensions` count all that match, also where `files` is cut at"
        " `limit`."
    )

    def __init__(self, policy: PathPolicy) -> None:
        super().__init__(_Glob)
        self._policy = policy

    def run(self, arguments: _Glob, stop: Event) -> dict[str, Any]:
        """Walk the folder and count what matches."""
        walk = self._policy.walk(arguments.path, pattern=arguments.pattern, skip=SKIPPED, stop=stop)
        files = walk.files
        extensions = Counter(os.path.splitext(path)[1] for path, _, _ in files)
        total_bytes = sum(size for _, size, _ in files)
        # The files come by path, and sorting keeps that order among equals.
        if arguments.sort == "size":
            files.sort(key=lambda file: -file[1])
        elif arguments.sort == "modified":
            files.sort(key=lambda file: -file[2])
        output: dict[str, Any] = {
            "pattern": arguments.pattern,
            "path": written(self._policy.resolve(arguments.path)),
            "total": len(files),
            "total_bytes": total_bytes,
            "extensions": {
                written(extension): count
                for extension, count in sorted(
                    extensions.items(), key=lambda item: (-item[1], item[0])
                )
            },
            "files": [
                {"path": written(path), "bytes": size} for path, size, _ in files[: arguments.limit]
            ],
            "truncated": len(files) > arguments.limit,
        }
        return _with_unreadable(output, walk.unreadable)


class _Grep(Arguments):
    pattern: str = Field(
        description=(
            "The regular expression each line is searched for, without look-around and"
            " back-references."
        )
    )
    path: str = Field(default=".", description="Where to look, from the working folder.")
    glob: str = Field(
        default="**", description=f"The files to search, by path from `path`: {_PATTERNS}."
    )
    mode: Literal["content", "files", "count"] = Field(
        default="content",
        description=(
            "What to show: matching lines, files with a match by path, or files with a match by"
            " their number of matching lines."
        ),
    )
    limit: int = _LIMIT
    ignore_case: bool = Field(default=False, description="Whether `a` also means `A`.")


class Grep(BlockingTool[_Grep]):
    """Finds lines by content."""

    name = "grep"
    description = (
        "Search the lines of the working folder's text files for a regular expression."
        f" {_FILES} A text file has no NUL byte. `total_matches` (matching lines), `total_files`,"
        " `searched_files` and `searched_lines` (newline characters) are complete, also where the"
        " results are cut at `limit`. A long line is clipped around the match, marked by `…`."
    )

    def __init__(self, policy: PathPolicy) -> None:
        super().__init__(_Grep)
        self._policy = policy

    def run(self, arguments: _Grep, stop: Event) -> dict[str, Any]:
        """Search the folder."""
        content = arguments.mode == "content"
        report = self._policy.search(
            arguments.pattern,
            arguments.path,
            pattern=arguments.glob,
            skip=SKIPPED,
            ignore_case=arguments.ignore_case,
            limit=arguments.limit if content else 0,
            stop=stop,
        )
        files = report.files
        output: dict[str, Any] = {
            "pattern": arguments.pattern,
            "path": written(self._policy.resolve(arguments.path)),
            "mode": arguments.mode,
            "total_matches": report.total_matches,
            "total_files": len(files),
            "searched_files": report.searched_files,
            "searched_lines": report.searched_lines,
            "binary_files": report.binary_files,
        }
        if content:
            output["matches"] = [
                {"path": written(path), "line": line, "text": text}
                for path, line, text in report.lines
            ]
            output["truncated"] = report.total_matches > len(report.lines)
        else:
            if arguments.mode == "count":
                files.sort(key=lambda file: -file[1])
            output["files"] = [
                {"path": written(path), "matches": matches}
                for path, matches in files[: arguments.limit]
            ]
            output["truncated"] = len(files) > arguments.limit
        return _with_unreadable(output, report.unreadable)


def _with_unreadable(output: dict[str, Any], unreadable: int) -> dict[str, Any]:
    """Add the number of unreadable files, if there are any."""
    return {**output, "unreadable": unreadable} if unreadable else output


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount `glob` and `grep`.

    Args:
        coordinator: Where they are mounted.
        config: The keys of `FolderSettings`.

    Raises:
        SettingError: The root is not a path.
        OSError: The root does not exist or cannot be opened.
    """
    await mount_tools(coordinator, config, "tool-search", (Glob, Grep))
