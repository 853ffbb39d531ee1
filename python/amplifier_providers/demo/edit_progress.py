"""How far the adding of a function has come, as the results of the tools say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from .edit_request import EditRequest
from .foreign import read_text, read_whole
from .source_change import Change, change_code, change_test, has_name, has_written
from .turn import Result, Turn

LOOK, WRITE, EDIT, RUN = "read_file", "write_file", "edit_file", "bash"
"""The tools that it uses."""
EDIT_TOOLS = frozenset({LOOK, WRITE})
"""Those that it cannot do without."""
_MISSING = re.compile(r"\bno (?:such )?file\b|\bnot found\b|\bdoes not exist\b", re.IGNORECASE)

_DENIED = re.compile(r"\bdenied\b|\brefused\b", re.IGNORECASE)


@dataclass(frozen=True)
class File:
    """A file as `read_file` has shown it."""

    path: str
    text: str | None
    """What it holds; None if it is not there."""
    problem: str = ""
    """Why that is not known."""


class EditProgress:
    """What is known, what has been done, and what would change what is not done yet."""

    def __init__(self, turn: Turn, request: EditRequest) -> None:
        """Read the results of a turn."""
        self.request = request
        self._turn = turn
        self.code = self._find_file(request.path)
        """The file; None while nobody has looked."""
        self.test = self._find_file(request.test_path)
        """The file of tests; None while nobody has looked."""
        code, test = (file.text or "" if file else "" for file in (self.code, self.test))
        self.had_function = has_name(code, request.function)
        """Whether something of its name was there before."""
        self.had_test = has_name(test, request.test)
        """Whether a test of its name was there before."""
        self.is_foreign = self.had_function and not has_written(code, request.function)
        """Whether the function that was there is another one than the demo model writes."""
        self.code_write = self._find_result({WRITE, EDIT}, request.path)
        self.test_write = self._find_result({WRITE, EDIT}, request.test_path)
        self.run = self._find_result({RUN}, None)

    @cached_property
    def code_change(self) -> Change | None:
        """The change that adds the function; None where there is none to make."""
        if self.code is None or self.code.problem or self.had_function:
            return None
        return change_code(self.request, self.code.text, edits=EDIT in self._turn.tools)

    @cached_property
    def test_change(self) -> Change | None:
        """The change that adds its test; None where there is none to make."""
        if self.test is None or self.test.problem or self.had_test or self.is_foreign:
            return None
        return change_test(self.request, self.test.text, edits=EDIT in self._turn.tools)

    @property
    def has_function(self) -> bool:
        """Whether the function is in its file now."""
        return self.had_function or is_done(self.code_write)

    @property
    def has_test(self) -> bool:
        """Whether its test is in its file now."""
        return self.had_test or is_done(self.test_write)

    def _find_result(self, tools: set[str], path: str | None) -> Result | None:
        """The last result of one of some tools, for a file if one is named."""
        for result in reversed(self._turn.results):
            if result.call.name in tools and path in (None, result.call.input.get("path")):
                return result
        return None

    def _find_file(self, path: str) -> File | None:
        result = self._find_result({LOOK}, path)
        if result is None:
            return None
        if result.failed:
            is_missing = _MISSING.search(result.text) and not _DENIED.search(result.text)
            return File(path, None, "" if is_missing else result.text.strip() or "no reason")
        content = result.data.get("content")
        if not isinstance(content, str):
            return File(path, None, f"the result of `{LOOK}` has an unknown form")
        if result.data.get("truncated"):
            lines = read_whole(result.data.get("total_lines"))
            return File(path, None, f"it is too long to be read at once ({lines or 'many'} lines)")
        return File(path, read_text(content).removeprefix("\ufeff").replace("\r\n", "\n"))


def is_done(result: Result | None) -> bool:
    """Whether a call was made and has not failed."""
    return result is not None and not result.failed
