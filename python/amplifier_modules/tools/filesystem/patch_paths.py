"""The paths in the heads of a diff: quoted as git does, and with prefixes such as `a/`."""

from __future__ import annotations

import os
import re

NO_FILE = "/dev/null"
"""Where a file is that is not there."""

_ESCAPED = re.compile(r"\\([0-7]{3}|.)")
_CHARACTERS = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PREFIX = re.compile(r"(\w)/(.+)", re.DOTALL)


def read_path(written: str) -> str:
    """Return a path as it is after `--- ` or `rename from `: without a time, and not quoted."""
    found = _QUOTED.match(written)
    return _unquote(found[1]) if found else written.split("\t", 1)[0]


def read_header_paths(written: str) -> tuple[str | None, str | None]:
    """Return the two paths after `diff --git ` without prefixes; None where they cannot be told."""
    first, second = _QUOTED.match(written), _QUOTED.search(written[1:])
    if first:
        pair = _unquote(first[1]), read_path(written[first.end() :].strip())
    elif second:
        pair = written[: second.start()].strip(), _unquote(second[1])
    else:
        # Blanks may be in a path; where only this line names it, it is the same twice.
        middle = len(written) // 2
        pair = written[:middle], written[middle + 1 :]
    old, new = strip_prefixes(*pair)
    return (old, new) if old == new else (None, None)


def strip_prefixes(
    old: str, new: str, known: tuple[str | None, str | None] = (None, None)
) -> tuple[str, str]:
    """Return two paths of one file without what tools put before them.

    Args:
        old: Where it was, or `/dev/null`.
        new: Where it is to be, or `/dev/null`.
        known: Both without prefixes, if another line says so.
    """
    if NO_FILE in (old, new):
        return _strip_prefix(old, "a/", known[0]), _strip_prefix(new, "b/", known[1])
    one, other = _PREFIX.fullmatch(old), _PREFIX.fullmatch(new)
    if one and other and one[1] != other[1] and one[2] == other[2]:
        return one[2], other[2]
    if old.startswith("a/") and new.startswith("b/"):
        return old[2:], new[2:]
    return old, new


def _strip_prefix(path: str, prefix: str, known: str | None) -> str:
    if known is not None and path[2:] == known:
        return known
    return path.removeprefix(prefix) if path != known else path


def _unquote(written: str) -> str:
    found = bytearray()
    done = 0
    for match in _ESCAPED.finditer(written):
        found += os.fsencode(written[done : match.start()])
        escaped = match[1]
        if len(escaped) == 3:
            found.append(int(escaped, 8) & 0xFF)
        else:
            found.append(_CHARACTERS.get(escaped, ord(escaped) & 0xFF))
        done = match.end()
    return os.fsdecode(bytes(found) + os.fsencode(written[done:]))
