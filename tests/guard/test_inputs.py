"""Every row of the security inputs goes to the policy of its surface, which handles it as expected."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from input_rows import BadRow, Row, expand, read_rows
from input_verdict import verdict
from surfaces import SURFACES, UnknownSurface, surface_of

DATA = Path(__file__).parents[1] / "data/security"
FILES = (
    [Path(os.environ["SECURITY_INPUTS"])]
    if os.environ.get("SECURITY_INPUTS")
    else [DATA / "inputs.jsonl", DATA / "variants.jsonl"]
)
ROWS = [pytest.param(row, id=row.id) for path in FILES for row in read_rows(path)]


# Holds: sink-1
@pytest.mark.parametrize("row", ROWS)
def test_the_input_is_handled_as_expected(row: Row) -> None:
    assert verdict(row, surface_of(row.surface)) is None, row.why


def a_row(surface: str, given: object, expected: str, **setup: object) -> Row:
    return Row("made-up", surface, given, expected, "", setup)


SHELL = {"allow_prefixes": ["ls"]}
SCHEMA = {"schema": {"type": "object", "required": ["a"]}}
URL = {"resolver": {"good.example": ["93.184.215.14"]}}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (a_row("path_read", "here", "reject", files=["here"]), "it passed"),
        (a_row("path_read", "away", "reject"), "nothing was decided"),
        (a_row("path_read", "away", "allow"), "it was refused: FileNotFoundError"),
        (a_row("path_write", "here", "reject"), "it passed"),
        (a_row("path_write", ".git/x", "allow"), "it was refused: PathProtected"),
        (a_row("shell_policy", "ls -l", "reject", **SHELL), "it passed"),
        (a_row("shell_policy", "id", "allow", **SHELL), "it was refused: ShellDenied"),
        (a_row("shell_call", {"command": "ls"}, "reject", **SHELL), "it passed"),
        (a_row("shell_call", {"command": "ls", "x": 1}, "allow", **SHELL), "refused: Unapproved"),
        (a_row("approval_answer", {"options": ["Yes"], "answer": "Yes"}, "reject"), "it passed"),
        (a_row("approval_answer", {"options": ["No"], "answer": "No"}, "allow"), "it was refused"),
        (a_row("approval_question", "a  b", "allow"), "it was changed"),
        (a_row("url_policy", "http://good.example/", "reject", **URL), "it passed"),
        (a_row("url_policy", "http://other.example/", "allow", **URL), "it was refused: UrlDenied"),
        (a_row("redactor", "password: hunter22222", "allow"), "it was changed"),
        (a_row("redactor", "hunter22222", "sanitize", secret="hunter22222"), "`hunter22` is left"),
        (a_row("redactor", "plain", "reject"), "it passed"),
        (a_row("display", "a\x1bb", "allow"), "it was changed"),
        (a_row("display", "plain", "sanitize"), "it passed unchanged"),
        (a_row("message", "hello", "reject"), "it passed"),
        (a_row("message", "hello", "allow", MESSAGE_MAX_CHARS=4), "it was refused: MessageReject"),
        (a_row("user_message", "hello", "reject"), "it passed"),
        (a_row("tool_args", {"a": 1}, "reject", **SCHEMA), "it passed"),
        (a_row("tool_args", {}, "allow", **SCHEMA), "it was refused: ToolInputDenied"),
        (a_row("tool_args_json", '{"a": 1}', "reject", **SCHEMA), "it passed"),
        (a_row("tool_args_json", "{", "allow", **SCHEMA), "it was refused: ToolInputDenied"),
        (a_row("tool_name", "look", "reject"), "it passed"),
        (a_row("tool_name", "lo ok", "allow"), "it was refused: NameDenied"),
    ],
)
def test_a_wrong_expectation_fails(row: Row, problem: str) -> None:
    assert problem in (verdict(row, surface_of(row.surface)) or "")


def test_an_unknown_surface_fails_by_its_name() -> None:
    with pytest.raises(UnknownSurface) as raised:
        surface_of("telepathy")
    assert (
        str(raised.value) == f"unknown surface `telepathy` (known: {', '.join(sorted(SURFACES))})"
    )


def test_macros_are_expanded_at_any_depth() -> None:
    given = {"a": [{"$join": ["x", {"$rep": ["ab", 2]}]}], "b": {"$b64": "/w=="}, "$rep": ["kept"]}
    assert expand(given) == {"a": ["xabab"], "b": b"\xff", "$rep": ["kept"]}
    assert expand({"$join": ["é", {"$b64": "/w=="}]}) == b"\xc3\xa9\xff"


GOOD = '{"id": "a", "surface": "s", "input": 1, "expected": "allow"}'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "`rows.jsonl` has no rows"),
        ("{", "line 1 of `rows.jsonl` is not JSON"),
        ("[]", "line 1 of `rows.jsonl` is not an object"),
        (f"{GOOD}\n\n{GOOD}", "line 3 of `rows.jsonl`: the id `a` comes twice"),
        ('{"id": "a", "surface": "s", "expected": "allow"}', "line 1 of `rows.jsonl` has no `input`"),
        (GOOD.replace("allow", "pass"), "`pass` is not one of reject, sanitize, allow"),
        (GOOD.replace("1", '{"$rep": ["a"]}'), "the macro `$rep` cannot be read"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_row_fails_by_its_number(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    with pytest.raises(BadRow) as raised:
        read_rows(path)
    assert problem in str(raised.value)
