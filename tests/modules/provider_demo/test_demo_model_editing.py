"""The demo model adds a function, tests it, and reports what the tools said, also when they fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent
from amplifier_core.message_models import ChatRequest, Message, ToolCallBlock, ToolSpec
from amplifier_providers.demo.decision import decide
from amplifier_providers.demo.known_functions import write_function
from amplifier_providers.demo.turn import Answer, read_turn

ADD = "Add a function add to calc.py and test it"
CODE = write_function("add")
TEST = '"""Tests."""\n\nimport calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n'
TOOLS = ("read_file", "write_file", "edit_file", "bash")
PASSED = {"output": "test_add passed\n", "exit_code": 0}


class Refused(Exception):
    """A call that fails."""


class Project:
    """Files in memory, and tools that read and write them; a run of a command is only noted."""

    def __init__(self, files: dict[str, str], ended: Any = PASSED) -> None:
        self.files = dict(files)
        self.ended = ended
        self.thoughts: list[str] = []
        self.calls: list[list[tuple[str, Any]]] = []
        self.refused: dict[tuple[str, str], str] = {}
        """Why a tool refuses a path."""

    def ask(self, prompt: str, *, tools: tuple[str, ...] = TOOLS) -> str:
        """Run the tools that the model calls until it answers."""
        messages = [Message(role="user", content=prompt)]
        specs = [ToolSpec(name=name, parameters={"type": "object"}) for name in tools]
        for _ in range(7):
            request = ChatRequest(messages=messages, tools=specs)
            answer = decide(read_turn(request, thinks=True))
            assert known(answer) == known(decide(read_turn(request, thinks=True)))
            self.thoughts.append(answer.thinking)
            if not answer.calls:
                return answer.text
            self.calls.append(
                [(call.name, call.input.get("path", call.input)) for call in answer.calls]
            )
            blocks = [
                ToolCallBlock(id=call.id, name=call.name, input=call.input) for call in answer.calls
            ]
            messages.append(Message(role="assistant", content=blocks))
            messages += [self.answer(call) for call in blocks]
        raise AssertionError("the model never comes to an end")

    def answer(self, call: ToolCallBlock) -> Message:
        try:
            output = self.run(call.name, call.input)
        except Refused as error:
            about = {"is_error": True}
            return Message(role="tool", tool_call_id=call.id, content=str(error), metadata=about)
        written = output if isinstance(output, str) else json.dumps(output)
        return Message(role="tool", tool_call_id=call.id, content=written)

    def run(self, tool: str, arguments: dict[str, Any]) -> Any:
        path = arguments.get("path", "")
        if reason := self.refused.get((tool, path)):
            raise Refused(reason)
        match tool:
            case "read_file":
                if path not in self.files:
                    raise Refused(f"no file or directory `{path}` in `/project`")
                content = self.files[path]
                lines = content.count("\n")
                return {"content": content, "total_lines": lines, "truncated": lines > 50}
            case "write_file":
                self.files[path] = arguments["content"]
                return {"path": path, "kind": "created"}
            case "edit_file":
                (edit,) = arguments["edits"]
                assert self.files[path].count(edit["old"]) == 1
                self.files[path] = self.files[path].replace(edit["old"], edit["new"])
                return {"path": path, "kind": "modified"}
            case _:
                if isinstance(self.ended, Refused):
                    raise self.ended
                return self.ended


def known(answer: Answer) -> Any:
    return answer.thinking, answer.text, [(call.name, call.input) for call in answer.calls]


def test_it_looks_then_writes_then_tests_then_reports() -> None:
    project = Project({})
    report = project.ask(ADD)

    assert report == (
        "# `add` in `calc.py`\n\n"
        "- `calc.py` is new, with `add` in lines 1 to 3\n"
        "- `test_calc.py` is new, with `test_add` in lines 6 to 8\n\n"
        "`python3 test_calc.py` ended with exit code 0 and wrote:\n\n"
        "```\ntest_add passed\n```"
    )
    assert project.calls == [
        [("read_file", "calc.py"), ("read_file", "test_calc.py")],
        [("write_file", "calc.py")],
        [("write_file", "test_calc.py")],
        [("bash", {"command": "python3 test_calc.py"})],
    ]
    assert project.thoughts == [
        (
            f"The request is: “{ADD}”. Before I change anything, I look whether `calc.py` and"
            " `test_calc.py` are there."
        ),
        "`calc.py` is not there, so I write it.",
        "`add` is in `calc.py`. Its test belongs into `test_calc.py`, which is not there yet.",
        "Whether `add` works is to be seen: I run its test.",
        "Now I report what has changed, and nothing that the tools did not say.",
    ]
    assert project.files["calc.py"] == CODE


def test_what_is_in_the_files_stays() -> None:
    old = "LIMIT = 3\n\n\ndef limit():\n    return LIMIT\n"
    project = Project({"calc.py": old, "test_calc.py": TEST})

    report = project.ask("write a function multiply in calc.py")

    assert report.startswith(
        "# `multiply` in `calc.py`\n\n"
        "- `calc.py` has `multiply` in lines 8 to 10 now; the rest is as it was\n"
        "- `test_calc.py` has `test_multiply` in lines 10 to 12 now; the rest is as it was\n\n"
    )
    assert report.endswith("This does not say that `test_multiply` was run.")
    assert [[name for name, _ in round] for round in project.calls] == [
        ["read_file", "read_file"], ["edit_file"], ["edit_file"], ["bash"],
    ]  # fmt: skip
    assert project.files["calc.py"] == f"{old}\n\n{write_function('multiply')}"
    assert project.files["test_calc.py"].startswith(
        f"{TEST}\n\ndef test_multiply():\n    assert calc.multiply(2, 3) == 6\n"
    )


def test_without_a_tool_that_edits_a_file_is_written_whole() -> None:
    files = {"calc.py": "x = 1\n", "test_calc.py": TEST}
    edited, written = Project(files), Project(files)
    prompt = "write a function multiply in calc.py"

    assert edited.ask(prompt) == written.ask(prompt, tools=("read_file", "write_file", "bash"))
    assert edited.files == written.files


def test_the_second_time_it_only_runs_the_test() -> None:
    project = Project({})
    project.ask(ADD)
    files, project.calls = dict(project.files), []

    assert project.ask(ADD) == (
        "# `add` in `calc.py`\n\n"
        "- `calc.py` already has `add`, which I leave as it is\n"
        "- `test_calc.py` already has `test_add`, which I leave as it is\n\n"
        "`python3 test_calc.py` ended with exit code 0 and wrote:\n\n"
        "```\ntest_add passed\n```"
    )
    assert [[name for name, _ in round] for round in project.calls] == [
        ["read_file", "read_file"],
        ["bash"],
    ]
    assert project.files == files


def test_a_function_of_its_own_gets_the_test_that_is_missing() -> None:
    project = Project({"calc.py": CODE})
    assert "- `test_calc.py` is new, with `test_add` in lines 6 to 8" in project.ask(ADD)


@pytest.mark.parametrize(
    "code",
    [
        "def add(a):\n    return a\n",
        "async def add(a):\n    return a\n",
        "class add:\n    pass\n",
        "add = sum\n",
        "add: object = sum\n",
        "from operator import add\n",
    ],
)
def test_a_function_of_someone_else_is_left_as_it_is(code: str) -> None:
    project = Project({"calc.py": code})

    assert project.ask(ADD) == (
        "# `add` in `calc.py`\n\n"
        "- `calc.py` already has `add`, which I leave as it is\n"
        "- `test_calc.py` has no `test_add`, and I write none: I do not know what it is to do, as I"
        " have not written `add`\n\n"
        "Nothing was run, as there is no test to run."
    )
    assert project.files == {"calc.py": code}


def test_names_that_only_begin_alike_are_others() -> None:
    project = Project({"calc.py": "def add_all(a):\n    add = a\n    return add == 1\n"})
    assert "`calc.py` has `add` in lines 6 to 8 now" in project.ask(ADD)


def test_a_function_that_it_does_not_know_is_said_to_be_still_to_be_written() -> None:
    ended = {"output": "test_own did not pass: own is still to be written\n", "exit_code": 0}
    report = Project({}, ended).ask("Add a function own(x) that owns x to calc.py and test it")
    _, _, behind = report.partition("did not pass: own is still to be written\n```\n\n")
    assert behind == (
        "I am a program, not a language model, and do not know what `own` is to do: it raises"
        " `NotImplementedError`, and its test is still to be written, too. These are the functions"
        " that I can write: `add`, `average`, `count_words`, `cube`, `divide`, `factorial`,"
        " `fibonacci`, `gcd`, `greet`, `is_even`, `is_odd`, `is_palindrome`, `is_prime`, `maximum`,"
        " `minimum`, `multiply`, `reverse`, `square`, `subtract`.\n\n"
        "This part of the request I did not understand: “own(x) … that owns x”."
    )


RUN = "`python3 test_calc.py`"


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (
            {"output": "AssertionError\n", "exit_code": 1},
            (
                f"{RUN} ended with exit code 1 and wrote:\n\n```\nAssertionError\n```\n\n"
                "The test fails, and I do not know how to repair that."
            ),
        ),
        (
            {"output": "", "exit_code": 0},
            (
                f"{RUN} ended with exit code 0 and wrote nothing.\n\n"
                "This does not say that `test_add` was run."
            ),
        ),
        (
            {"output": "", "timed_out": True},
            f"{RUN} was ended at its time limit and wrote nothing.",
        ),
        ({"output": "", "killed": True}, f"{RUN} was ended and wrote nothing."),
        (
            {"output": "", "signal": "SIGKILL"},
            f"{RUN} was ended by `SIGKILL` and wrote nothing.",
        ),
        ("all well", f"{RUN} ran and wrote:\n\n```\nall well\n```\n\nHow it ended is not said."),
        (
            Refused("Denied by hook: no commands"),
            f"{RUN} did not run:\n\n```\nDenied by hook: no commands\n```",
        ),
        (Refused(""), f"{RUN} did not run:\n\n```\nno reason\n```"),
    ],
)
def test_the_report_says_how_the_test_ended(ended: Any, said: str) -> None:
    assert Project({}, ended).ask(ADD).partition("lines 6 to 8\n\n")[2] == said


def test_without_a_tool_that_runs_commands_it_stops_after_the_files() -> None:
    project = Project({})
    report = project.ask(ADD, tools=("read_file", "write_file"))
    assert report.endswith(
        "- `test_calc.py` is new, with `test_add` in lines 6 to 8\n\n"
        "I could not run the test, as there is no tool `bash`. This runs it: `python3 test_calc.py`."
    )
    assert sorted(project.files) == ["calc.py", "test_calc.py"]


LONG = "x = 1\n" * 51
NO_TEST = "Nothing was run, as there is no test to run."


@pytest.mark.parametrize(
    ("files", "refused", "said"),
    [
        (
            {},
            {("read_file", "calc.py"): "Denied by hook: no such file is shown"},
            ["- `calc.py` was not changed: Denied by hook: no such file is shown"],
        ),
        ({"calc.py": LONG}, {}, [
            "- `calc.py` was not changed: it is too long to be read at once (51 lines)"
        ]),
        (
            {"calc.py": "x = 1\n"},
            {("edit_file", "calc.py"): "`calc.py` has changed since it was read:\n-x"},
            ["- `calc.py` was not changed: `calc.py` has changed since it was read:"],
        ),
        ({}, {("write_file", "calc.py"): " "}, [
            "- `calc.py` was not changed: no reason"
        ]),
        (
            {},
            {("write_file", "test_calc.py"): "the disk is full"},
            [
                "- `calc.py` is new, with `add` in lines 1 to 3",
                "- `test_calc.py` was not changed: the disk is full",
            ],
        ),
        (
            {"test_calc.py": LONG},
            {},
            [
                "- `calc.py` is new, with `add` in lines 1 to 3",
                "- `test_calc.py` was not changed: it is too long to be read at once (51 lines)",
            ],
        ),
    ],
)  # fmt: skip
def test_a_step_that_failed_is_reported_and_ends_the_work(
    files: dict[str, str], refused: dict[tuple[str, str], str], said: list[str]
) -> None:
    project = Project(files)
    project.refused = refused
    lines = "\n".join(said)
    assert project.ask(ADD) == f"# `add` in `calc.py`\n\n{lines}\n\n{NO_TEST}"
    assert "bash" not in {name for round in project.calls for name, _ in round}


@pytest.mark.parametrize(
    ("prompt", "tools", "text"),
    [
        (
            ADD,
            ("read_file", "bash"),
            "I cannot add `add` to `calc.py`, as there is no tool `write_file`.",
        ),
        (
            ADD,
            ("bash",),
            "I cannot add `add` to `calc.py`, as there is no tool `read_file` and no tool `write_file`.",
        ),
        (
            "Add a function class to calc.py",
            TOOLS,
            "`class` is a word of Python, so no function can have this name.",
        ),
    ],
)
def test_what_cannot_be_done_is_said_at_once(
    prompt: str, tools: tuple[str, ...], text: str
) -> None:
    project = Project({})
    assert project.ask(prompt, tools=tools) == text
    assert (project.calls, project.thoughts) == (
        [],
        [f"The request is: “{prompt}”. It asks for a change that I cannot make."],
    )


def test_a_request_that_forbids_tools_changes_nothing() -> None:
    tools = [ToolSpec(name=name, parameters={"type": "object"}) for name in TOOLS]
    request = ChatRequest(
        messages=[Message(role="user", content=ADD)], tools=tools, tool_choice="none"
    )
    assert decide(read_turn(request)) == Answer(
        "", "I cannot add `add` to `calc.py`: I may not call a tool now.", []
    )


async def test_in_a_session_the_files_are_there_and_the_test_has_run(tmp_path: Path) -> None:
    commands: list[str] = []

    def bash(command: str) -> dict[str, Any]:
        """Run a command."""
        commands.append(command)
        line = [sys.executable, "-B", *command.split()[1:]]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
        return {"output": done.stdout + done.stderr, "exit_code": done.returncode}

    (tmp_path / "calc.py").write_bytes(b"LIMIT = 3\r\n")
    files = {"module": "tool-filesystem", "config": {"root": str(tmp_path)}}
    plan = {"providers": [{"module": "provider-demo", "config": {"pace": 0}}]}
    async with Agent(plan=plan, tools=[files, bash]).session() as session:
        first = await session.run(ADD)
        second = await session.run("Now write a function square in calc.py, please")
        third = await session.run(ADD)

    assert first.text == (
        "# `add` in `calc.py`\n\n"
        "- `calc.py` has `add` in lines 4 to 6 now; the rest is as it was\n"
        "- `test_calc.py` is new, with `test_add` in lines 6 to 8\n\n"
        "`python3 test_calc.py` ended with exit code 0 and wrote:\n\n"
        "```\ntest_add passed\n```"
    )
    assert second.text.endswith("```\ntest_add passed\ntest_square passed\n```")
    assert "`calc.py` already has `add`, which I leave as it is" in third.text
    assert commands == ["python3 test_calc.py"] * 3
    code = f"LIMIT = 3\n\n\n{CODE}\n\n{write_function('square')}"
    assert (tmp_path / "calc.py").read_bytes() == code.replace("\n", "\r\n").encode()
    assert sorted(os.listdir(tmp_path)) == ["calc.py", "test_calc.py"]
