"""Which requests to add a function the demo model understands, and what it would write for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_providers.demo.edit_request import EditRequest, read_edit_request
from amplifier_providers.demo.known_functions import (
    KNOWN_FUNCTIONS,
    write_function,
    write_test,
)
from amplifier_providers.demo.source_change import Change, change_code, change_test

ADD = EditRequest("add", "calc.py")


@pytest.mark.parametrize(
    "prompt",
    [
        "Add a function add to calc.py and test it",
        "Add a function add to calc.py and test it.",
        "add a function add to calc.py",
        "Please add a function called `add` to `calc.py`, and test it!",
        "Could you add a new function named add(a, b) to the file calc.py and run the test?",
        "write a function add in calc.py",
        "Write me a small Python function add into ./calc.py with a test",
        "implement an add function in calc.py",
        "Write add() in calc.py and then test it, please",
        "define add in calc.py",
        "Add a function add to calc.py, and run its test",
        "In calc.py, add a function add and test it",
        "Create a file calc.py with a function add and write tests for it",
        "Add a function add to calc.py and test it\nAnd be quick.",
    ],
)
def test_a_function_and_its_file_are_read_out_of_a_request(prompt: str) -> None:
    assert read_edit_request(prompt) == ADD


@pytest.mark.parametrize(
    ("prompt", "request_"),
    [
        (
            "Add a function add that adds two numbers to calc.py and test it",
            EditRequest("add", "calc.py", "that adds two numbers"),
        ),
        (
            "Add a function add(a, b, c) to calc.py, which logs each sum",
            EditRequest("add", "calc.py", "add(a, b, c) … which logs each sum"),
        ),
        ("write a function multiply in calc.py", EditRequest("multiply", "calc.py")),
        ("add my_own to src/deep/calc.py", EditRequest("my_own", "src/deep/calc.py")),
        ("add `own` to calc.py", EditRequest("own", "calc.py")),
        ("add a function own to calc.py", EditRequest("own", "calc.py")),
    ],
)
def test_what_else_a_request_says_is_kept_apart(prompt: str, request_: EditRequest) -> None:
    assert read_edit_request(prompt) == request_


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "add",
        "Add a function to calc.py",
        "Add a function add",
        "Add a nice function to calc.py",
        "Add a line to calc.py",
        "Add a function add to calc.js",
        "Add a function add to calc.pyx",
        "Add the functions add and subtract to calc.py",
        "Do not add a function add to calc.py",
        "Add a function add to calc.py but do not test it",
        "Add a function add to calc.py, without a test",
        "How would you add a function add to calc.py?",
        "Explain this.\nAdd a function add to calc.py and test it",
        "Remove the function add from calc.py",
        "Add a function add to -c.py",
        f"Add a function add to {'a' * 500}.py",
    ],
)
def test_other_requests_change_nothing(prompt: str) -> None:
    assert read_edit_request(prompt) is None


WORDS = """
    add write a the function add own in to calc.py calc.js `add` add(a) and test it not that in
"""


@given(st.lists(st.sampled_from(WORDS.split())))
def test_any_words_are_read(words: list[str]) -> None:
    request = read_edit_request(" ".join(words))
    assert request is None or (request.function.isidentifier() and request.path == "calc.py")


def test_the_names_of_a_request_are_those_of_its_files() -> None:
    request = EditRequest("add", "src/calc.py")
    assert (request.module, request.test, request.test_path, request.command) == (
        "calc",
        "test_add",
        "src/test_calc.py",
        "python3 src/test_calc.py",
    )


def test_a_name_that_python_does_not_take_is_a_problem() -> None:
    assert EditRequest("class", "calc.py").problem == (
        "`class` is a word of Python, so no function can have this name."
    )
    assert EditRequest("add", "my-calc.py").problem == (
        "A test cannot import `my-calc.py`: `my-calc` is no name in Python. Name a file such as"
        " `calc.py`."
    )
    assert ADD.problem == ""


def test_the_functions_that_it_knows() -> None:
    assert sorted(KNOWN_FUNCTIONS) == [
        "add", "average", "count_words", "cube", "divide", "factorial", "fibonacci", "gcd", "greet",
        "is_even", "is_odd", "is_palindrome", "is_prime", "maximum", "minimum", "multiply", "reverse",
        "square", "subtract",
    ]  # fmt: skip


def test_the_functions_that_it_knows_pass_their_tests(tmp_path: Path) -> None:
    code = test = ""
    names = [*KNOWN_FUNCTIONS, "own"]
    for request in (EditRequest(name, "calc.py") for name in names):
        code = make(change_code(request, code, edits=True), code)
        test = make(change_test(request, test, edits=True), test)
    (tmp_path / "calc.py").write_text(code)
    (tmp_path / "test_calc.py").write_text(test)

    command = [sys.executable, "test_calc.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    passed = [f"test_{name} passed" for name in KNOWN_FUNCTIONS]
    lines = [*passed, "test_own did not pass: own is still to be written"]
    assert (done.returncode, done.stderr, done.stdout.splitlines()) == (0, "", lines)
    assert test.count("assert ") == sum(len(each.claims) for each in KNOWN_FUNCTIONS.values()) > 30


def test_a_function_that_it_does_not_know_is_still_to_be_written() -> None:
    assert write_function("own") == (
        "def own(*arguments):\n"
        '    """Still to be written."""\n'
        '    raise NotImplementedError("own is still to be written")\n'
    )
    assert write_test("own", "calc", imports=True) == (
        "def test_own():\n"
        "    import calc\n\n"
        "    calc.own()  # this test is still to be written, too\n"
    )


LINES = ["x = 1", "", "    return x", "def f():", "import calc", 'if __name__ == "__main__":', "    f()"]  # fmt: skip
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(st.sampled_from(LINES), min_size=1).filter(any),
    st.sampled_from(["", "\n", "\n\n\n", "  \n"]),
)


def make(change: Change, text: str) -> str:
    """The file after a change, made as `edit_file` makes it."""
    if change.tool == "write_file":
        return change.arguments["content"]
    (edit,) = change.arguments["edits"]
    places = [place for place in range(len(text)) if text.startswith(edit["old"], place)]
    assert len(places) == 1
    return text.replace(edit["old"], edit["new"])


@pytest.mark.parametrize(
    ("change", "function"),
    [(change_code, "def add(a, b):"), (change_test, "def test_add():")],
)
@given(TEXTS)
def test_a_function_is_added_to_any_file_and_its_lines_stay(
    change: Any, function: str, text: str
) -> None:
    edit = change(ADD, text, edits=True)
    after = make(edit, text)
    lines = after.split("\n")
    added = lines[edit.first_line - 1 : edit.last_line]
    assert (added[0], after.count("\n".join(added))) == (function, 1)
    before, _, behind = after.partition("\n".join(added))
    place = len(before.rstrip())
    assert text.startswith(before[:place])
    assert text[place:].strip() in behind
    assert make(change(ADD, text, edits=False), text) == after


@pytest.mark.parametrize("text", [None, "", "\n\n"])
def test_a_file_without_text_is_written_whole(text: str | None) -> None:
    assert change_code(ADD, text, edits=True) == Change(
        "write_file", {"path": "calc.py", "content": write_function("add")}, 1, 3
    )
    change = change_test(ADD, text, edits=True)
    content = change.arguments["content"]
    assert (change.tool, change.first_line, change.last_line) == ("write_file", 6, 8)
    assert content == (
        '"""Tests of `calc`; run this file with Python."""\n\n'
        "import calc\n\n\n"
        "def test_add():\n"
        "    assert calc.add(2, 3) == 5\n"
        "    assert calc.add(-1, 1) == 0\n\n\n"
        'if __name__ == "__main__":\n'
        "    for name, test in list(globals().items()):\n"
        '        if name.startswith("test_"):\n'
        "            try:\n"
        "                test()\n"
        '                print(name, "passed")\n'
        "            except NotImplementedError as error:\n"
        '                print(name, "did not pass:", error)\n'
    )
