"""The results of the tools as typed findings; missing values are never guessed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from amplifier_guard import TerminalText

from .foreign import read_items, read_mapping, read_text, read_whole
from .turn import Result, Turn

_MAX_REASON_CHARS = 200
EVERY_FILE = "**/*"
TODO = "TODO"
TODO_PATTERN = rf"\b{TODO}\b"


@dataclass(frozen=True)
class Listing:
    """The entries of the folder itself."""

    total: int
    files: list[str]
    directories: list[str]
    truncated: bool


@dataclass(frozen=True)
class FileCount:
    """All files below the folder that match a pattern; sizes in bytes."""

    pattern: str
    total: int
    total_bytes: int
    extensions: dict[str, int]
    files: list[tuple[str, int]]
    """Some of them, with their sizes, in the order of the search."""
    by_size: bool
    left_out: str = ""
    """What of the folder was not looked at, in a sentence; the figures are without it."""


@dataclass(frozen=True)
class Search:
    """The lines that match a pattern, and how much text was searched for them."""

    pattern: str
    total_matches: int
    total_files: int
    searched_files: int
    searched_lines: int
    binary_files: int
    places: list[tuple[str, int, str]]
    """The first of them: path, line number, line."""
    left_out: str = ""
    """What of the folder was not searched, in a sentence; the figures are without it."""


@dataclass(frozen=True)
class FileText:
    """A file that was read, or the beginning of it."""

    path: str
    total_lines: int
    size: int
    content: str
    truncated: bool


@dataclass
class Survey:
    """All findings of a turn."""

    listing: Listing | None = None
    files: FileCount | None = None
    todos: Search | None = None
    words: dict[str, Search] = field(default_factory=dict[str, Search])
    """Searches for words of the prompt, by pattern."""
    names: dict[str, FileCount] = field(default_factory=dict[str, FileCount])
    """Searches for file names, by pattern."""
    texts: dict[str, FileText] = field(default_factory=dict[str, FileText])
    """Files that were read, by path."""
    problems: list[str] = field(default_factory=list[str])
    """What could not be found out, and why."""

    @property
    def is_empty(self) -> bool:
        """Whether it is known that there is no file."""
        if self.files is not None:
            return self.files.total == 0 and not self.files.left_out
        return self.listing is not None and self.listing.total == 0


def read_survey(turn: Turn) -> Survey:
    """Read all results of the turn."""
    survey = Survey()
    for result in turn.results:
        if not _add_result(survey, result):
            reason = (
                _first_line(result.text) if not result.data else "its result has an unknown form"
            )
            survey.problems.append(f"`{_write_result(result)}` failed: {reason}")
    return survey


def _add_result(survey: Survey, result: Result) -> bool:
    """Add one result; return whether it has the form of its tool's results."""
    data = result.data
    match result.call.name:
        case "list_directory":
            survey.listing = _read_listing(data) or survey.listing
            return _read_listing(data) is not None
        case "glob":
            count = _file_count(data, result.call.input)
            if count is not None and count.pattern == EVERY_FILE:
                survey.files = count
            elif count is not None:
                survey.names[count.pattern] = count
            return count is not None
        case "grep":
            search = _search(data, result.call.input)
            if search is not None and search.pattern == TODO_PATTERN:
                survey.todos = search
            elif search is not None:
                survey.words[search.pattern] = search
            return search is not None
        case "read_file":
            file = _file_text(data, result.call.input)
            if file is not None:
                survey.texts[file.path] = file
            return file is not None
        case _:
            return False


def _read_listing(data: dict[str, Any]) -> Listing | None:
    total = read_whole(data.get("total"))
    if total is None or not isinstance(data.get("entries"), list):
        return None
    entries = [read_mapping(entry) for entry in read_items(data["entries"])]
    return Listing(
        total=total,
        files=[read_text(e.get("name")) for e in entries if e.get("type") == "file"],
        directories=[read_text(e.get("name")) for e in entries if e.get("type") == "directory"],
        truncated=bool(data.get("truncated")),
    )


def _file_count(data: dict[str, Any], requested: dict[str, Any]) -> FileCount | None:
    total, total_bytes = read_whole(data.get("total")), read_whole(data.get("total_bytes"))
    if total is None or total_bytes is None:
        return None
    counts = {key: read_whole(value) for key, value in read_mapping(data.get("extensions")).items()}
    files = [read_mapping(entry) for entry in read_items(data.get("files"))]
    return FileCount(
        pattern=read_text(requested.get("pattern")),
        total=total,
        total_bytes=total_bytes,
        extensions={key: count for key, count in counts.items() if count is not None},
        files=[
            (read_text(file.get("path")), size)
            for file in files
            if (size := read_whole(file.get("bytes"))) is not None
        ],
        by_size=requested.get("sort") == "size",
        left_out=read_text(data.get("left_out")),
    )


def _search(data: dict[str, Any], requested: dict[str, Any]) -> Search | None:
    keys = ("total_matches", "total_files", "searched_files", "searched_lines", "binary_files")
    counts = {key: count for key in keys if (count := read_whole(data.get(key))) is not None}
    if len(counts) < len(keys):
        return None
    matches = [read_mapping(match) for match in read_items(data.get("matches"))]
    return Search(
        pattern=read_text(requested.get("pattern")),
        places=[
            (read_text(match.get("path")), line, read_text(match.get("text")))
            for match in matches
            if (line := read_whole(match.get("line"))) is not None
        ],
        **counts,
        left_out=read_text(data.get("left_out")),
    )


def _file_text(data: dict[str, Any], requested: dict[str, Any]) -> FileText | None:
    total_lines, size = read_whole(data.get("total_lines")), read_whole(data.get("bytes"))
    if total_lines is None or size is None or not isinstance(data.get("content"), str):
        return None
    return FileText(
        path=read_text(requested.get("path")),
        total_lines=total_lines,
        size=size,
        content=read_text(data["content"]),
        truncated=bool(data.get("truncated")),
    )


def _write_result(result: Result) -> str:
    target = read_text(result.call.input.get("pattern")) or read_text(result.call.input.get("path"))
    return f"{result.call.name} {target}".strip().replace("`", "'")


def _first_line(written: str) -> str:
    line = next((line for line in written.splitlines() if line.strip()), "no answer")
    return TerminalText.line(line, _MAX_REASON_CHARS)
