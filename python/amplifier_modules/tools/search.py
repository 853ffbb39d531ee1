"""`tool-search`: find files by name, lines by content."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import Any, Literal

from pydantic import Field

from amplifier_guard import PathPolicy
from amplifier_modules.tools.blocking import Arguments, BlockingTool
from amplifier_modules.tools.folder import FolderSettings, mount_tools, path_text
from amplifier_modules.tools.result_bytes import MAX_RESULT_BYTES, ResultBytes, echo_argument
from amplifier_modules.tools.secret_files import SecretFiles
from amplifier_providers.settings import read_settings

__amplifier_module_type__ = "tool"
__amplifier_settings__ = FolderSettings

_SKIPPED = (".git",)
_FILES = (
    "Files are regular files that git does not ignore (`.gitignore`, `.git/info/exclude`) and that"
    " are not in `.git`; hidden files count, links are not followed."
)
_IGNORED = "What git ignores was left out; with `include_ignored` it is looked at, too."
_PATTERNS = (
    "`*` and `?` stay inside one name, `**` crosses directories, `[a-z]` and `{one,two}` choose; a"
    " pattern without `/` means the name at any depth"
)
_ORDERS: dict[str, Literal["path", "largest", "latest"]] = {
    "path": "path",
    "size": "largest",
    "modified": "latest",
}
_OMITTED = "`omitted` counts what the limit of bytes left out."
_LIMIT = Field(default=100, ge=0, le=100_000, description="The most results to show.")
_INCLUDE_IGNORED = Field(
    default=False, description="Whether files count that git ignores, such as build output."
)


class _Glob(Arguments):
    pattern: str = Field(description=f"The files to find, from `path`: {_PATTERNS}.")
    path: str = Field(default=".", description="Where to look, from the working folder.")
    sort: Literal["path", "size", "modified"] = Field(
        default="path", description="The order: by path, largest first, or latest first."
    )
    limit: int = _LIMIT
    include_ignored: bool = _INCLUDE_IGNORED


class Glob(BlockingTool[_Glob]):
    """Finds files by name."""

    name = "glob"
    read_only = True
    description = (
        f"Find files of the working folder by a pattern over their paths. {_FILES} `total`,"
        " `total_bytes` and `extensions` count all that match, also where `files` is cut at"
        f" `limit`. {_OMITTED}"
    )

    def __init__(self, policy: PathPolicy, max_bytes: int = MAX_RESULT_BYTES) -> None:
        super().__init__(_Glob, max_bytes)
        self._policy = policy

    def run(self, arguments: _Glob, stop: Event) -> dict[str, Any]:
        """Walk the folder and count what matches."""
        walk = self._policy.walk(
            arguments.path,
            pattern=arguments.pattern,
            skip=_SKIPPED,
            skip_ignored=not arguments.include_ignored,
            order=_ORDERS[arguments.sort],
            limit=arguments.limit,
            max_bytes=self.max_bytes,
            stop=stop,
        )
        output: dict[str, Any] = {
            "pattern": echo_argument(arguments.pattern, self.max_bytes),
            "path": echo_argument(path_text(self._policy.resolve(arguments.path)), self.max_bytes),
            "total": walk.total,
            "total_bytes": walk.total_bytes,
            **_note_ignored(walk.has_ignored and not walk.total),
        }
        room = ResultBytes(self.max_bytes, output)
        ranked = sorted(walk.endings.items(), key=lambda item: (-item[1], item[0]))
        extensions = room.take_first(ranked, lambda item: (path_text(item[0]), item[1]), share=0.5)
        output["extensions"] = dict(extensions)
        output["files"] = room.take_first(
            walk.files, lambda file: {"path": path_text(file[0]), "bytes": file[1]}
        )
        output["truncated"] = walk.total > len(output["files"])
        omitted = {
            "files": min(arguments.limit, walk.total) - len(output["files"]),
            "files_by_extension": walk.total - sum(count for _, count in extensions),
        }
        return _add_omissions(output, omitted, walk.unreadable)


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
    include_ignored: bool = _INCLUDE_IGNORED


class Grep(BlockingTool[_Grep]):
    """Finds lines by content."""

    name = "grep"
    read_only = True
    description = (
        "Search the lines of the working folder's text files for a regular expression."
        f" {_FILES} Files that hold secrets, such as `.env`, are passed over and counted as"
        " `secret_files`, unless `path` names one: then a person is asked. A text file has no NUL byte. `total_matches` (matching lines), `total_files`,"
        " `searched_files` and `searched_lines` (newline characters) are complete, also where the"
        " results are cut at `limit`. A long line is clipped around the match, marked by `…`."
        f" {_OMITTED}"
    )

    def __init__(self, policy: PathPolicy, max_bytes: int = MAX_RESULT_BYTES) -> None:
        super().__init__(_Grep, max_bytes)
        self._secret_files = SecretFiles(self.name, policy)

    def needs_approval(self, input: Mapping[str, Any]) -> bool:
        """Whether a person must agree: what is to be searched holds secrets."""
        return self._secret_files.are_at(input.get("path", "."))

    def run(self, arguments: _Grep, stop: Event) -> dict[str, Any]:
        """Search the folder."""
        policy = self._secret_files.choose_policy(arguments.path)
        content = arguments.mode == "content"
        limit, max_files = (arguments.limit, 0) if content else (0, arguments.limit)
        report = policy.search(
            arguments.pattern,
            arguments.path,
            pattern=arguments.glob,
            skip=_SKIPPED,
            skip_ignored=not arguments.include_ignored,
            ignore_case=arguments.ignore_case,
            limit=limit,
            order="largest" if arguments.mode == "count" else "path",
            max_files=max_files,
            max_bytes=self.max_bytes,
            stop=stop,
        )
        output: dict[str, Any] = {
            "pattern": echo_argument(arguments.pattern, self.max_bytes),
            "path": echo_argument(path_text(policy.resolve(arguments.path)), self.max_bytes),
            "mode": arguments.mode,
            "total_matches": report.total_matches,
            "total_files": report.total_files,
            "searched_files": report.searched_files,
            "searched_lines": report.searched_lines,
            "binary_files": report.binary_files,
            **_note_ignored(report.has_ignored and not report.total_matches),
        }
        room = ResultBytes(self.max_bytes, output)
        if content:
            kind, total = "matches", report.total_matches
            output[kind] = room.take_first(
                report.lines,
                lambda found: {"path": path_text(found[0]), "line": found[1], "text": found[2]},
            )
        else:
            kind, total = "files", report.total_files
            output[kind] = room.take_first(
                report.files, lambda file: {"path": path_text(file[0]), "matches": file[1]}
            )
        output["truncated"] = total > len(output[kind])
        omitted = {kind: min(arguments.limit, total) - len(output[kind])}
        return _add_omissions(output, omitted, report.unreadable, report.secret_files)


def _note_ignored(matters: bool) -> dict[str, str]:
    return {"ignored": _IGNORED} if matters else {}


def _add_omissions(
    output: dict[str, Any], omitted: dict[str, int], unreadable: int, secret_files: int = 0
) -> dict[str, Any]:
    """Add what the limit of bytes left out, and the files that were not looked at, if there are any."""
    omitted = {kind: count for kind, count in omitted.items() if count}
    counts = {"unreadable": unreadable, "secret_files": secret_files}
    extra: dict[str, Any] = {kind: count for kind, count in counts.items() if count}
    return {**output, **extra, "omitted": omitted} if omitted else {**output, **extra}


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount `glob` and `grep`.

    Args:
        coordinator: Where they are mounted.
        config: The keys of `FolderSettings`.

    Raises:
        SettingError: The root is not a path.
        OSError: The root does not exist or cannot be opened.
    """
    settings = read_settings(FolderSettings, config, "tool-search")
    await mount_tools(coordinator, settings, (Glob, Grep))
