"""How far the adding of a function has come, as the results of the tools say."""

from __future__ import annotations

from functools import cached_property

from .edit_request import EditRequest
from .seen_file import LOOK, find_file, find_result, is_done
from .source_change import Change, change_code, change_test, has_name, has_written
from .turn import Turn

WRITE, EDIT, RUN = "write_file", "edit_file", "bash"
"""The tools that it uses beside `LOOK`."""
EDIT_TOOLS = frozenset({LOOK, WRITE})
"""Those that it cannot do without."""


class EditProgress:
    """What is known, what has been done, and what would change what is not done yet."""

    def __init__(self, turn: Turn, request: EditRequest) -> None:
        """Read the results of a turn."""
        self.request = request
        self._turn = turn
        self.code = find_file(turn.results, request.path)
        """The file; None while nobody has looked."""
        self.test = find_file(turn.results, request.test_path)
        """The file of tests; None while nobody has looked."""
        code, test = (file.text or "" if file else "" for file in (self.code, self.test))
        self.had_function = has_name(code, request.function)
        """Whether something of its name was there before."""
        self.had_test = has_name(test, request.test)
        """Whether a test of its name was there before."""
        self.is_foreign = self.had_function and not has_written(code, request.function)
        """Whether the function that was there is another one than the demo model writes."""
        self.code_write = find_result(turn.results, {WRITE, EDIT}, request.path)
        self.test_write = find_result(turn.results, {WRITE, EDIT}, request.test_path)
        self.run = find_result(turn.results, {RUN}, None)

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
