"""A request to add a function to a Python file: `add a function add to calc.py and test it`."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from shlex import quote

from .foreign import write_code
from .known_functions import KNOWN_FUNCTIONS, write_function

_MAX_CHARS = 500
_QUOTES = "`\"'“”"
POLITE = (
    r"(?:(?:please|now|then|next|also|okay|ok|hey|let's|(?:can|could|would|will) you"
    r"|i want you to|i(?:'d| would) like you to)[\s,]+)*"
)
_VERB = r"(?:add|append|put|write|create|make|implement|define|generate)\s+"
_FILLER = r"(?:(?:me|us|a|an|the|another|new|simple|small|short|little|python|file|module|called|named)\s+)*"
_FUNCTION = r"function\s+(?:called\s+|named\s+)?"
_NAME = rf"(?P<mark>[{_QUOTES}]?)(?P<name>[^\W\d]\w*)(?P<arguments>\([^()]*\))?[{_QUOTES}]?"
_FILE = rf"{_FILLER}[{_QUOTES}]?(?P<path>(?!-)[\w./-]*\w\.py)(?![\w/-])[{_QUOTES}]?"
_INTO = r"\s+(?:to|in|into|inside|at the end of)\s+"
_PURPOSE = r"(?P<purpose>,?\s+(?:that|which|for|to)\s.+?)??"
_REST = r"(?P<rest>.*)"

_CERTAIN = (
    rf"{_VERB}{_FILLER}{_FUNCTION}{_NAME}{_PURPOSE}{_INTO}{_FILE}{_REST}",
    rf"(?:in|to)\s+{_FILE},?\s+{_VERB}{_FILLER}{_FUNCTION}{_NAME}{_REST}",
    rf"{_VERB}{_FILE}\s+(?:with|that has|which has)\s+{_FILLER}{_FUNCTION}{_NAME}{_REST}",
)
_UNCERTAIN = (
    rf"{_VERB}{_FILLER}{_NAME}(?:\s+function)?{_INTO}{_FILE}{_REST}",
    rf"(?:in|to)\s+{_FILE},?\s+{_VERB}{_FILLER}{_NAME}(?:\s+function)?{_REST}",
    rf"{_VERB}{_FILE}\s+(?:with|that has|which has)\s+{_FILLER}{_NAME}(?:\s+function)?{_REST}",
)
"""Forms in which the word before `function` may be any word, such as `add a nice function to x.py`."""
_FORMS = [
    (re.compile(POLITE + form, re.IGNORECASE | re.DOTALL), is_certain)
    for forms, is_certain in ((_CERTAIN, True), (_UNCERTAIN, False))
    for form in forms
]
LIMITED = re.compile(
    r"\b(?:not|don'?t|doesn'?t|never|no|without|unless|instead|except|only|but)\b", re.IGNORECASE
)
"""Words after which a request may mean the contrary of what the rest of it says."""
_EXPECTED_REST = re.compile(
    r"(?:[\s,.!?;]|\b(?:and|then|also|please|it|its|them|this|that|works?|for|of|a|an|the|some|few|with|by)\b"
    r"|\b(?:test|tests|tested|testing|run|check|verify|try|write|add)\b)*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class EditRequest:
    """A function to add, the file that it is added to, and its test."""

    function: str
    path: str
    rest: str = ""
    """What else the request says; it is not understood."""

    @property
    def module(self) -> str:
        """The name by which a test imports the file."""
        return PurePosixPath(self.path).stem

    @property
    def test_path(self) -> str:
        """The file of its tests, next to it."""
        return str(PurePosixPath(self.path).with_name(f"test_{self.module}.py"))

    @property
    def test(self) -> str:
        """The function that tests it."""
        return f"test_{self.function}"

    @property
    def command(self) -> str:
        """What runs the tests."""
        return f"python3 {quote(self.test_path)}"

    @property
    def problem(self) -> str:
        """Why it cannot be done; empty if it can."""
        if keyword.iskeyword(self.function):
            return f"{write_code(self.function)} is a word of Python, so no function can have this name."
        if not self.module.isidentifier() or keyword.iskeyword(self.module):
            return (
                f"A test cannot import {write_code(self.path)}: {write_code(self.module)} is no name"
                " in Python. Name a file such as `calc.py`."
            )
        return ""


def read_edit_request(prompt: str) -> EditRequest | None:
    """Read what the first line of a prompt asks for; None if it is anything else."""
    line = prompt.strip().partition("\n")[0]
    if len(line) > _MAX_CHARS or LIMITED.search(line):
        return None
    for form, is_certain in _FORMS:
        found = form.fullmatch(line)
        if found is None:
            continue
        name = found["name"]
        is_marked = bool(found["mark"] or found["arguments"] or "_" in name)
        if is_certain or is_marked or name in KNOWN_FUNCTIONS:
            return EditRequest(name, str(PurePosixPath(found["path"])), _read_rest(found))
    return None


def _read_rest(found: re.Match[str]) -> str:
    """Return what was not understood: all but that the function is to be tested."""
    groups = found.groupdict()
    parts = [groups.get("purpose") or "", groups["rest"]]
    unknown = [each for each in parts if not _EXPECTED_REST.fullmatch(each)]
    arguments = re.sub(r"\s*,\s*", ", ", groups["arguments"] or "()")
    if arguments != "()" and f"{found['name']}{arguments}:" not in write_function(found["name"]):
        unknown.insert(0, f"{found['name']}{arguments}")
    return " … ".join(" ".join(each.split()).strip(" ,.;") for each in unknown)
