"""The demo model looks at a folder through tools and reports what they said, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_app.demo_model import DemoModel
from amplifier_providers.demo.conversation import Result, Turn
from amplifier_providers.demo.languages import count_languages
from amplifier_providers.demo.report import write_report
from amplifier_providers.demo.survey import read_survey
from amplifier_providers.demo.wire import Call

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
    """A client that does what the model asks for until it has said its last word."""

    def __init__(self, demo: DemoModel, tools: dict[str, Tool]) -> None:
        self.tools = tools
        self.messages: list[dict[str, Any]] = []
        self.thoughts: list[str] = []
        self.calls: list[list[str]] = []
        self.changes: dict[str, Any] = {}
        self.is_failing = False
        self.client = httpx2.Client(
            base_url=demo.url, headers={"x-api-key": demo.api_key}, trust_env=False
        )

    def ask(self) -> dict[str, Any]:
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in self.tools]
        body = {"model": "m", "max_tokens": 4000, "messages": self.messages, "tools": tools}
        thinking = {"type": "adaptive"}
        answer = self.client.post("/v1/messages", json=body | {"thinking": thinking} | self.changes)
        assert answer.status_code == 200, answer.text
        message: dict[str, Any] = answer.json()
        self.messages.append({"role": "assistant", "content": message["content"]})
        self.thoughts += [b["thinking"] for b in message["content"] if b["type"] == "thinking"]
        return message

    def run(self, prompt: str) -> str:
        self.messages.append({"role": "user", "content": prompt})
        for _ in range(5):
            message = self.ask()
            calls = [block for block in message["content"] if block["type"] == "tool_use"]
            if not calls:
                return message["content"][-1]["text"]
            self.calls.append([call["name"] for call in calls])
            self.messages.append({"role": "user", "content": [self.result(c) for c in calls]})
        raise AssertionError("the model never comes to an end")

    def result(self, call: dict[str, Any]) -> dict[str, Any]:
        output = self.tools[call["name"]](call["input"])
        written = output if isinstance(output, str) else json.dumps(output)
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": written}
        return result | {"is_error": True} if self.is_failing else result


@pytest.fixture
def demo() -> Iterator[DemoModel]:
    with DemoModel(pace=0) as running:
        yield running


@pytest.fixture
def start(demo: DemoModel) -> Iterator[Callable[..., Loop]]:
    loops: list[Loop] = []

    def begin(tools: dict[str, Tool] = TOOLS) -> Loop:
        loops.append(Loop(demo, tools))
        return loops[-1]

    yield begin
    for loop in loops:
        loop.client.close()


def numbers_in(written: str) -> set[int]:
    return {int(found) for found in re.findall(r"\d+", re.sub(r"(?<=\d),(?=\d{3})", "", written))}


def test_a_tour_reports_exactly_what_the_tools_said(start: Callable[..., Loop]) -> None:
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


def test_a_question_is_answered_with_the_places_of_its_words(start: Callable[..., Loop]) -> None:
    loop = start()

    report = loop.run("Where does it boil?")

    assert loop.calls[0] == ["list_directory", "glob", "grep", "grep", "glob"]
    assert report.startswith("# What this folder says about `boil`")
    assert "8 lines in 5 files contain `boil`:" in report
    assert "- `src/a.py:55` `boil()`" in report


def test_a_second_question_of_a_conversation_is_looked_up_anew(
    start: Callable[..., Loop],
) -> None:
    loop = start()
    loop.run("Give me a tour")

    report = loop.run("And where does it boil?")

    assert [len(calls) for calls in loop.calls] == [3, 2, 5, 2]
    assert report.startswith("# What this folder says about `boil`")
    assert loop.thoughts[3].startswith("The request is: “And where does it boil?”")


@pytest.mark.parametrize("missing", [*TOOLS, None])
def test_a_tool_that_is_not_offered_is_named_and_nothing_invented(
    start: Callable[..., Loop], missing: str | None
) -> None:
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


def test_a_tour_of_a_large_folder_says_what_the_tools_left_out(start: Callable[..., Loop]) -> None:
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


def test_files_that_were_not_searched_are_mentioned(start: Callable[..., Loop]) -> None:
    loop = start({**TOOLS, "glob": lambda asked: glob(asked) | {"total": 1235}})
    assert "some files: they could not be searched" in loop.run("Give me a tour")


@pytest.mark.parametrize("answer", ["Denied by hook: not now", "", "[1]", '{"total": "many"}', {}])
def test_an_answer_without_figures_is_reported_as_such(
    start: Callable[..., Loop], answer: Any
) -> None:
    loop = start({**TOOLS, "glob": lambda _: answer})

    report = loop.run("Give me a tour")

    assert "`glob **/*` failed" in report
    assert ("Denied by hook: not now" in report) == (answer == "Denied by hook: not now")
    assert "1,234" not in report
    assert "98,765" in report


def test_an_empty_folder_is_reported_as_empty_without_reading_on(
    start: Callable[..., Loop],
) -> None:
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


def test_only_parameters_that_a_tool_declares_are_sent(demo: DemoModel) -> None:
    schema = {"type": "object", "properties": {"pattern": {"type": "string"}}}
    body = {
        "model": "m",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "tour"}],
        "tools": [{"name": "glob", "input_schema": schema}],
    }
    answer = httpx2.post(
        f"{demo.url}/v1/messages", json=body, headers={"x-api-key": "demo"}, trust_env=False
    ).json()

    assert answer["content"][-1]["input"] == {"pattern": "**/*"}


def test_a_request_that_forbids_tools_gets_the_report_so_far(start: Callable[..., Loop]) -> None:
    loop = start()
    loop.messages.append({"role": "user", "content": "Give me a tour"})
    calls = [block for block in loop.ask()["content"] if block["type"] == "tool_use"]
    reminder = {"type": "text", "text": "<system-reminder>Stop now.</system-reminder>"}
    results = [loop.result(call) for call in calls]
    loop.messages.append({"role": "user", "content": [*results, reminder]})
    loop.changes = {"tool_choice": {"type": "none"}}

    message = loop.ask()

    assert message["stop_reason"] == "end_turn"
    assert "| files | 1,234 |" in message["content"][-1]["text"]


def test_a_request_after_a_cut_off_round_begins_anew(start: Callable[..., Loop]) -> None:
    loop = start()
    loop.messages.append({"role": "user", "content": "Give me a tour"})
    calls = [block for block in loop.ask()["content"] if block["type"] == "tool_use"]
    cut_off = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": "cut off", "is_error": True}
        for call in calls
    ]
    said = {"type": "text", "text": "Where does it boil?"}
    loop.messages.append({"role": "user", "content": [*cut_off, said]})

    loop.ask()

    assert loop.thoughts[-1].startswith("The request is: “Where does it boil?”")


def test_text_beside_every_round_of_results_does_not_keep_it_going(
    start: Callable[..., Loop],
) -> None:
    loop = start()
    loop.is_failing = True
    loop.messages.append({"role": "user", "content": "Give me a tour"})
    for _ in range(4):
        calls = [block for block in loop.ask()["content"] if block["type"] == "tool_use"]
        if not calls:
            return
        results = [loop.result(call) for call in calls]
        loop.messages.append(
            {"role": "user", "content": [*results, {"type": "text", "text": "go"}]}
        )
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
