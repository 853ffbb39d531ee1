"""A change that adds a function to a file, and never touches one that is there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .edit_request import EditRequest
from .known_functions import write_function, write_test

_MAIN = re.compile(r"^if __name__ == [\"']__main__[\"']:.*$", re.MULTILINE)
_RUNNER = """\
if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
                print(name, "passed")
            except NotImplementedError as error:
                print(name, "did not pass:", error)
"""
"""What runs the tests of a file without anything that would have to be installed."""


@dataclass(frozen=True)
class Change:
    """A call that adds a function, and the lines that it will be in."""

    tool: str
    arguments: dict[str, Any]
    first_line: int
    last_line: int


def has_name(text: str, name: str) -> bool:
    """Whether a file defines or imports a name at its top level, as far as its lines tell."""
    defined = rf"(?:async\s+)?(?:def|class)\s+{name}\b|{name}\s*(?::[^=\n]+)?=(?!=)"
    imported = rf"(?:from\s+\S+\s+)?import\b.*\b{name}\b"
    return re.search(rf"^(?:{defined}|{imported})", text, re.MULTILINE) is not None


def has_written(text: str, name: str) -> bool:
    """Whether a file has the very function that the demo model writes."""
    return write_function(name).rstrip() in text


def change_code(request: EditRequest, text: str | None, *, edits: bool) -> Change:
    """Return the change that adds the function to its file.

    Args:
        request: The function and the file.
        text: What the file holds; None if it is not there.
        edits: Whether there is a tool that changes a part of a file.
    """
    function = write_function(request.function)
    if text is None or not text.strip():
        return _write_file(request.path, "", function, "")
    return _add(request.path, text, function, "", edits=edits)


def change_test(request: EditRequest, text: str | None, *, edits: bool) -> Change:
    """Return the change that adds the test of the function to the file of tests.

    Args:
        request: The function and the file.
        text: What the file of tests holds; None if it is not there.
        edits: Whether there is a tool that changes a part of a file.
    """
    module, path = request.module, request.test_path
    if text is None or not text.strip():
        head = f'"""Tests of `{module}`; run this file with Python."""\n\nimport {module}\n\n\n'
        test = write_test(request.function, module, imports=False)
        return _write_file(path, head, test, f"\n\n{_RUNNER}")
    has_import = re.search(rf"^import {module}$", text, re.MULTILINE) is not None
    test = write_test(request.function, module, imports=not has_import)
    return _add(path, text, test, f"\n\n{_RUNNER}", edits=edits)


def _write_file(path: str, head: str, function: str, tail: str) -> Change:
    arguments = {"path": path, "content": f"{head}{function}{tail}"}
    first = head.count("\n") + 1
    return Change("write_file", arguments, first, first + function.count("\n") - 1)


def _add(path: str, text: str, function: str, tail: str, *, edits: bool) -> Change:
    """Add a function before the part that runs only in a program, or at the end with `tail`."""
    mains = list(_MAIN.finditer(text))
    if mains:
        place, before, after = mains[-1].start(), "", "\n\n"
        is_once = text.count(mains[-1][0]) == 1
        start = place if is_once else _find_unique_end(text, place)
        end = mains[-1].end() if is_once else len(text)
    else:
        place, before, after = len(text.rstrip()), "\n\n\n", tail
        start, end = _find_unique_end(text, place), len(text)
    old = text[start:end]
    rest = text[place:end] if mains else ""
    new = f"{text[start:place]}{before}{function}{after}{rest}"
    first = f"{text[:place]}{before}".count("\n") + 1
    last = first + function.count("\n") - 1
    if edits:
        change = {"path": path, "edits": [{"old": old, "new": new}]}
        return Change("edit_file", change, first, last)
    whole = f"{text[:start]}{new}{text[end:]}"
    return Change("write_file", {"path": path, "content": whole}, first, last)


def _find_unique_end(text: str, place: int) -> int:
    """Return where lines before `place` begin that are in `text` only once, with all that follows."""
    start = place
    while start > 0:
        start = text.rfind("\n", 0, start - 1) + 1
        if text.find(text[start:]) == start:
            break
    return start
