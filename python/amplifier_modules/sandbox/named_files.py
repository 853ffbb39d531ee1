"""The files of a project that the words of a command name, and their hashes."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_MAX_FILE_BYTES = 8 * 1024 * 1024
_MAX_WORDS = 1000
_PROJECT = re.compile(r"\$\{?(?:CLAUDE_PROJECT_DIR|PWD)\}?")
_OUTPUT = frozenset({">", ">>", ">|", "&>", "&>>"})
_PLAIN = re.compile(r"[A-Za-z0-9_./@%+-]+")
"""A word in which a shell finds nothing to run or to fill in."""
_BETWEEN = re.compile(r"[\s;&|<>()'\"`=:,{}]+")


class NamedFileError(ValueError):
    """A command to which nobody can agree."""


def hash_named_files(
    texts: Iterable[str], project: Path, *, is_shell: bool = False
) -> list[tuple[str, str | None]]:
    """Return each path in a project that texts may mean, with the hash of the file; None without one.

    Links are followed, and each file is opened once. Reads files.

    Args:
        texts: The command, or its parts.
        project: The root of the project, links followed.
        is_shell: Whether each is a line for a shell.

    Raises:
        NamedFileError: They name too much, or a file that cannot be read.
    """
    return [
        (path, _hash_file(path)) for path in find_named_paths(texts, project, is_shell=is_shell)
    ]


def find_named_paths(texts: Iterable[str], project: Path, *, is_shell: bool = False) -> list[str]:
    """Return the paths in a project that texts may mean, also of files that are not there.

    A file to which a line for a shell only sends output, as by `>>`, is none of them.

    Words are counted from the project and from each folder that another word names, so that
    `cd folder && ./script` names the script.

    Raises:
        NamedFileError: There are too many.
    """
    root = str(project)
    written: list[str] = []
    for text in map(_leave_out_targets, texts) if is_shell else texts:
        written += _split(_PROJECT.sub(lambda _: root, text))
        written += _split(_PROJECT.sub(".", text))
    # `/check.sh` may be the rest of `$(git rev-parse --show-toplevel)/check.sh`.
    words = list(dict.fromkeys([*written, *(each.lstrip("/") for each in written)]))
    if len(words) > _MAX_WORDS:
        raise NamedFileError(f"it has more than {_MAX_WORDS:,} words")
    found = _join_all([root], words, root)
    folders = [each for each in found if each != root and os.path.isdir(each)]
    if len(folders) * len(words) > _MAX_WORDS:
        raise NamedFileError("it names too many folders")
    found |= _join_all(folders, words, root)
    return sorted(each for each in found if each != root)


def _leave_out_targets(text: str) -> str:
    """Return a command without the files that its output goes to: what is in them does not run.

    Where one is named a second time, that stays. So does all of a command that is not plain.
    """
    if ">" not in text or "\\" in text:
        return text
    lexer = shlex.shlex(text, posix=False, punctuation_chars=True)  # keeps quotes
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return text
    return " ".join(
        word
        for before, word in zip(["", *words], words, strict=False)
        if before not in _OUTPUT or not _PLAIN.fullmatch(word)
    )


def _split(text: str) -> Iterator[str]:
    with suppress(ValueError):  # what a quote without an end hides is found below
        yield from shlex.split(text)
    yield from filter(None, _BETWEEN.split(text))


def _join_all(folders: Iterable[str], words: Iterable[str], root: str) -> set[str]:
    joined = {os.path.normpath(os.path.join(each, word)) for each in folders for word in words}
    return {each for each in joined if each == root or each.startswith(root + os.sep)}


def _hash_file(path: str) -> str | None:
    """Return the hash of what a path leads to; None where that is no file.

    Raises:
        NamedFileError: It cannot be read, or is too large.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        if os.path.isdir(path):
            return None
        with open(os.open(path, flags), "rb") as file:
            if not os.path.isfile(file.fileno()):
                raise NamedFileError(f"`{path}` is no file")
            content = file.read(_MAX_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        if isinstance(error, NamedFileError):
            raise
        if isinstance(error, OSError) and len(os.path.basename(path)) > 255:
            return None  # it is no name, but a text that is given to a program
        raise NamedFileError(f"`{path}` cannot be read: {error}") from error
    if len(content) > _MAX_FILE_BYTES:
        raise NamedFileError(f"`{path}` has more than {_MAX_FILE_BYTES:,} bytes")
    return hashlib.sha256(content).hexdigest()
