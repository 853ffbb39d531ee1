"""The Rust engine behind `amplifier_core`."""

import builtins
from collections.abc import Sequence
from io import BufferedReader
from os import PathLike
from threading import Event
from typing import Final, Self, TypeAlias, final

StrPath: TypeAlias = str | PathLike[str]

__version__: Final[str]
RUST_AVAILABLE: Final[bool]

@final
class PathPolicy:
    """Keeps every read inside one directory, the root.

    Paths count from the root; an absolute path is taken if it lies inside. A link is followed as
    long as it stays inside. Whatever leads out raises `PathDenied`.
    """

    def __new__(cls, root: StrPath) -> Self: ...
    @property
    def root(self) -> str:
        """The canonical path of the root."""
    def resolve(self, path: StrPath) -> str:
        """Return the canonical path of something that exists, relative to the root."""
    def open(self, path: StrPath) -> BufferedReader:
        """Open a regular file for reading bytes."""
    def read(self, path: StrPath, limit: int) -> bytes:
        """Return the first `limit` bytes of a regular file."""
    def list(self, path: StrPath = ...) -> builtins.list[tuple[str, str, int]]:
        """Return the `(name, kind, bytes)` of a directory's entries, by name.

        The kind is `file`, `directory`, `link` or `other`; only files have bytes.
        """
    def lines(
        self,
        path: StrPath,
        *,
        first: int = 1,
        limit: int = 2000,
        max_bytes: int = 262_144,
        stop: Event | None = None,
    ) -> LineWindow:
        """Return the lines of a text file from number `first` on.

        `stop` is asked now and then; once it is set, `InterruptedError` is raised.
        """
    def walk(
        self,
        path: StrPath = ...,
        *,
        pattern: str | None = None,
        skip: Sequence[str] = ...,
        stop: Event | None = None,
    ) -> Walk:
        """Return the regular files beneath `path`, links not followed.

        `pattern` chooses files by a glob over their path from `path`; `skip` names directories
        that are not entered, at any depth.
        """
    def search(
        self,
        expression: str,
        path: StrPath = ...,
        *,
        pattern: str | None = None,
        skip: Sequence[str] = ...,
        ignore_case: bool = False,
        limit: int = 100,
        stop: Event | None = None,
    ) -> SearchReport:
        """Search the lines of the text files beneath `path` for a regular expression.

        At most `limit` matching lines are kept; all are counted.
        """

@final
class LineWindow:
    """Some lines of a text file, and the figures of the whole."""

    @property
    def bytes(self) -> int:
        """The size of the whole file."""
    @property
    def total_lines(self) -> int:
        """The newline characters of the whole file."""
    @property
    def shown_lines(self) -> int:
        """The lines in `content`, an unfinished last one among them."""
    @property
    def content(self) -> builtins.bytes:
        """The lines as they are in the file."""
    @property
    def truncated(self) -> bool:
        """Whether the file goes on after `content`."""

@final
class Walk:
    """The regular files beneath a directory."""

    @property
    def files(self) -> list[tuple[str, int, int]]:
        """The files as a new list of `(path, bytes, modified)`, by path; `modified` in nanoseconds."""
    @property
    def unreadable(self) -> int:
        """How many directories could not be read, so that their files are missing."""

@final
class SearchReport:
    """What a search found; its totals are complete, whatever the lines were limited to."""

    @property
    def lines(self) -> list[tuple[str, int, str]]:
        """The first matching lines as a new list of `(path, line number, text)`."""
    @property
    def files(self) -> list[tuple[str, int]]:
        """Every file with a match as a new list of `(path, matching lines)`, by path."""
    @property
    def total_matches(self) -> int:
        """Matching lines in all."""
    @property
    def searched_files(self) -> int:
        """Text files searched: files without a NUL byte."""
    @property
    def searched_lines(self) -> int:
        """Newline characters in the text files."""
    @property
    def binary_files(self) -> int:
        """Files with a NUL byte, whose matches do not count."""
    @property
    def unreadable(self) -> int:
        """Files and directories that could not be read."""
