"""The demo model looks at a folder through tools and reports what they said, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import ChatRequest, ChatResponse, Message, ToolCall, ToolSpec
from amplifier_providers.demo import DemoProvider
from amplifier_providers.demo.project_files import count_languages
from amplifier_providers.demo.report import write_report
from amplifier_providers.demo.survey import read_survey
from amplifier_providers.demo.turn import Call, Result, Turn

Tool = Callable[[dict[str, Any]], Any]

README = (
    "# Kettle\n\n[![build](b.svg)](ci)\n\nKettle boils water. It does so well. Really. And more.\n"
)
FILES = {
    "README.md": (README, 90),
    "pyproject.toml": ('[project]\nname = "kettle"\nversion = "4.2.1"\n', 3),
}


def list_directory(arguments: dict[str, Any]) -> dict[str, Any]:
    entries = [{"name": name, "type": "file", "bytes": 7} for name in FILES]
    entries += [{"name": "src", "type": "directory", "bytes": 0}]
    return {"path": arguments["path"], "total": 3, "entries": entries, "truncated": False}


def glob(arguments: dict[str, Any]) -> dict[str, Any]:
    if arguments["pattern"] != "**/*":
        return {"total": 0, "total_bytes": 0, "extensions": {}, "files": [], "truncated": False}
    assert arguments["sort"] == "size"
    return {
        "pattern": "**/*",
        "path": ".",
        "total": 1234,
        "total_bytes": 56789012,
        "extensions": {".py": 1000, ".pyi": 200, ".md": 30, "": 3, ".zzz": 1},
        "files": [{"path": "src/big.py", "bytes": 40404}, {"path": "a|b`c.md", "bytes": 303}],
        "truncated": True,
    }


def grep(arguments: dict[str, Any]) -> dict[str, Any]:
    assert arguments["mode"] == "content"
    if "TODO" not in arguments["pattern"]:
        matches: list[dict[str, Any]] = [{"path": "src/a.py", "line": 55, "text": "  boil()  "}]
        counts = {"total_matches": 8, "total_files": 5, "matches": matches}
    else:
        matches = [{"path": "src/b.py", "line": 77, "text": "# TODO: ``descale``"}]
        counts = {"total_matches": 21, "total_files": 13, "matches": matches}
    return {**counts, "searched_files": 1200, "searched_lines": 98765, "binary_files": 34}


def read_file(arguments: dict[str, Any]) -> dict[str, Any]:
    content, lines = FILES[arguments["path"]]
    return {"bytes": len(content), "total_lines": lines, "content": content, "truncated": False}


TOOLS: dict[str, Tool] = {
    "list_directory": list_directory, "glob": glob, "grep": grep, "read_file": read_file,
}  # fmt: skip


class Loop:
    """A client that runs the tools that the model calls until there is an answer without calls."""

    def __init__(self, tools: dict[str, Tool]) -> None:
        self.tools = tools
        self.messages: list[Message] = []
        self.thoughts: list[str] = []
        self.calls: list[list[str]] = []
        self.tool_choice: str | None = None
        self.is_failing = False
        self.provider = DemoProvider(pace=0)

    def ask(self) -> ChatResponse:
        tools = [ToolSpec(name=name, parameters={"type": "object"}) for name in self.tools]
        request = ChatRequest(messages=self.messages, tools=tools, tool_choice=self.tool_choice)
        response = anyio.run(self.provider.complete, request)
        self.messages.append(Message(role="assistant", content=response.content))
        self.thoughts += [each.thinking for each in response.content if each.type == "thinking"]
        return response

    def run(self, prompt: str) -> str:
        self.messages.append(Message(role="user", content=prompt))
        for _ in range(5):
            response = self.ask()
            if not response.tool_calls:
                return response.content[-1].text
            self.calls.append([call.name for call in response.tool_calls])
            self.messages += map(self.result, response.tool_calls)
        raise AssertionError("the model never comes to an end")

    def result(self, call: ToolCall) -> Message:
        output = self.tools[call.name](call.arguments)
        written = output if isinstance(output, str) else json.dumps(output)
        about = {"is_error": self.is_failing}
        return Message(role="tool", tool_call_id=call.id, content=written, metadata=about)


def start(tools: dict[str, Tool] = TOOLS) -> Loop:
    return Loop(tools)


def numbers_in(written: str) -> set[int]:
    return {int(found) for found in re.findall(r"\d+", re.sub(r"(?<=\d),(?=\d{3})", "", written))}


def test_a_tour_reports_exactly_what_the_tools_said() -> None:
    loop = start()

    report = loop.run("Give me a tour of this project")

    assert loop.calls == [["list_directory", "glob", "grep"], ["read_file", "read_file"]]
    assert len(loop.thoughts) == 3
    assert "1,234 files" in loop.thoughts[1]
    for row in (
        "| files | 1,234 |",
        "| bytes in all | 56,789,012 |",
        "| text files | 1,200 |",
        "| lines of text | 98,765 |",
        "| binary files | 34 |",
        "| lines with `TODO` | 21 |",
        "| Python | 1,200 |",
        "| Markdown | 30 |",
        "| `src/big.py` | 40,404 |",
        "| ``a\\|b`c.md`` | 303 |",
        "21 lines in 13 files contain the word. The first:",
        "- `src/b.py:77` ``` # TODO: ``descale`` ```",
        "Its title is “Kettle”.",
        "> Kettle boils water. It does so well. Really.",
        "- `pyproject.toml`: Python project `kettle`; version `4.2.1`",
        "Other extensions: without an extension 3, `.zzz` 1.",
        "- folders: `src`",
    ):
        assert row in report
    assert "could not" not in report


def test_a_question_is_answered_with_the_places_of_its_words() -> None:
    loop = start()

    report = loop.run("Where does it boil?")

    assert loop.calls[0] == ["list_directory", "glob", "grep", "grep", "glob"]
    assert report.startswith("# What this folder says about `boil`")
    assert "8 lines in 5 files contain `boil`:" in report
    assert "- `src/a.py:55` `boil()`" in report


def test_a_second_question_of_a_conversation_is_looked_up_anew() -> None:
    loop = start()
    loop.run("Give me a tour")

    report = loop.run("And where does it boil?")

    assert [len(calls) for calls in loop.calls] == [3, 2, 5, 2]
    assert report.startswith("# What this folder says about `boil`")
    assert loop.thoughts[3].startswith("The request is: “And where does it boil?”")


@pytest.mark.parametrize("missing", [*TOOLS, None])
def test_a_tool_that_is_not_offered_is_named_and_nothing_invented(missing: str | None) -> None:
    tools = {name: tool for name, tool in TOOLS.items() if missing not in (None, name)}
    loop = start(tools)

    report = loop.run("Give me a tour")

    absent = set(TOOLS) - set(tools)
    for name in TOOLS:
        assert (f"there is no tool `{name}`" in report) == (name in absent)
    if "glob" in absent:
        assert "1,234" not in report
    if "grep" in absent:
        assert "98,765" not in report
    if "read_file" in absent:
        assert "Kettle" not in report


def test_a_tour_of_a_large_folder_says_what_the_tools_left_out() -> None:
    left_out = {"left_out": "The folder is too large: `b` is left out. Set `path` to look there."}
    tools = TOOLS | {
        "glob": lambda arguments: glob(arguments) | left_out,
        "grep": lambda arguments: grep(arguments) | left_out,
    }
    loop = start(tools)
    report = loop.run("Give me a tour of this project")
    assert "This covers only a part of the folder." in report
    assert "- files: The folder is too large: `b` is left out.\n" in report
    assert "- lines: The folder is too large: `b` is left out.\n" in report
    assert "| files looked at | 1,234 |" in report
    assert "could not be searched" not in report
    assert "The folder is large; I looked at 1,234 files" in loop.thoughts[1]


def test_files_that_were_not_searched_are_mentioned() -> None:
    loop = start({**TOOLS, "glob": lambda asked: glob(asked) | {"total": 1235}})
    assert "some files: they could not be searched" in loop.run("Give me a tour")


@pytest.mark.parametrize("answer", ["Denied by hook: not now", "", "[1]", '{"total": "many"}', {}])
def test_an_answer_without_figures_is_reported_as_such(answer: Any) -> None:
    loop = start({**TOOLS, "glob": lambda _: answer})

    report = loop.run("Give me a tour")

    assert "`glob **/*` failed" in report
    assert ("Denied by hook: not now" in report) == (answer == "Denied by hook: not now")
    assert "1,234" not in report
    assert "98,765" in report


def test_an_empty_folder_is_reported_as_empty_without_reading_on() -> None:
    nothing: dict[str, Any] = {"total": 0, "total_bytes": 0, "extensions": {}, "files": []}
    counts = ("total_matches", "total_files", "searched_files", "searched_lines", "binary_files")
    none_found: dict[str, Any] = {**dict.fromkeys(counts, 0), "matches": []}
    loop = start(
        {
            "list_directory": lambda _: {"total": 0, "entries": []},
            "glob": lambda _: nothing,
            "grep": lambda _: none_found,
            "read_file": read_file,
        }
    )

    report = loop.run("Give me a tour")

    assert len(loop.calls) == 1
    assert report == "# A tour of this folder\n\nThe folder is empty: there are no files here."


def test_only_parameters_that_a_tool_declares_are_sent() -> None:
    schema = {"type": "object", "properties": {"pattern": {"type": "string"}}}
    request = ChatRequest(
        messages=[Message(role="user", content="tour")],
        tools=[ToolSpec(name="glob", parameters=schema)],
    )

    response = anyio.run(DemoProvider(pace=0).complete, request)

    assert [call.arguments for call in response.tool_calls or ()] == [{"pattern": "**/*"}]


def test_a_request_that_forbids_tools_gets_the_report_so_far() -> None:
    loop = start()
    loop.messages.append(Message(role="user", content="Give me a tour"))
    loop.messages += map(loop.result, loop.ask().tool_calls or ())
    reminder = "<system-reminder>Stop now.</system-reminder>"
    loop.messages.append(Message(role="user", content=reminder))
    loop.tool_choice = "none"

    response = loop.ask()

    assert response.finish_reason == "end_turn"
    assert "| files | 1,234 |" in response.content[-1].text


def test_a_request_after_a_cut_off_round_begins_anew() -> None:
    loop = start()
    loop.messages.append(Message(role="user", content="Give me a tour"))
    loop.is_failing = True
    loop.messages += map(loop.result, loop.ask().tool_calls or ())
    loop.messages.append(Message(role="user", content="Where does it boil?"))

    loop.ask()

    assert loop.thoughts[-1].startswith("The request is: “Where does it boil?”")


def test_text_beside_every_round_of_results_does_not_keep_it_going() -> None:
    loop = start()
    loop.is_failing = True
    loop.messages.append(Message(role="user", content="Give me a tour"))
    for _ in range(4):
        calls = loop.ask().tool_calls
        if not calls:
            return
        loop.messages += map(loop.result, calls)
        loop.messages.append(Message(role="user", content="go"))
    raise AssertionError("the model never comes to an end")


COUNT = st.integers(0, 10**9)
EXTENSION = st.sampled_from([".py", ".pyi", ".rs", ".md", ".unknown", ""])


@given(
    files=st.tuples(COUNT, COUNT, st.dictionaries(EXTENSION, COUNT)),
    search=st.tuples(COUNT, COUNT, COUNT, COUNT, COUNT),
    entries=st.integers(0, 5),
    largest=st.lists(COUNT, max_size=5),
    prompt=st.sampled_from(["tour", "where is the kettle"]),
    missing=st.sets(st.sampled_from(["list_directory", "glob", "grep"])),
)
def test_every_number_of_a_report_was_given_by_a_tool(
    files: tuple[int, int, dict[str, int]],
    search: tuple[int, int, int, int, int],
    entries: int,
    largest: list[int],
    prompt: str,
    missing: set[str],
) -> None:
    names = [{"name": f"f{'x' * index}", "type": "file"} for index in range(entries)]
    keys = ("total_matches", "total_files", "searched_files", "searched_lines", "binary_files")
    outputs: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("list_directory", {}, {"total": entries, "entries": names}),
        (
            "glob",
            {"pattern": "**/*", "sort": "size"},
            {
                "total": files[0],
                "total_bytes": files[1],
                "extensions": files[2],
                "files": [{"path": "some", "bytes": size} for size in largest],
            },
        ),
        ("grep", {"pattern": r"\bTODO\b"}, dict(zip(keys, search, strict=True)) | {"matches": []}),
        (
            "grep",
            {"pattern": r"\bkettle\b"},
            dict(zip(keys, search, strict=True)) | {"matches": [{"path": "a", "line": 3}]},
        ),
    ]
    turn = Turn(
        prompt=prompt,
        rounds=2,
        results=[
            Result(Call(str(index), name, asked), json.dumps(output), failed=False)
            for index, (name, asked, output) in enumerate(outputs)
            if name not in missing
        ],
    )

    report = write_report(turn, read_survey(turn))

    known, other = count_languages(files[2])
    given = [*known.values(), *other.values()]
    for result in turn.results:
        given += numbers_in(result.text.replace(",", " "))
    assert numbers_in(report) <= set(given)
