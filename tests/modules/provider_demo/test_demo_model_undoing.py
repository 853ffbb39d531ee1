"""The demo model takes back what it did when it is asked to, and says what it cannot take back."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent
from amplifier_core.message_models import ChatRequest, Message, ToolCallBlock, ToolSpec
from amplifier_providers.demo.decision import decide
from amplifier_providers.demo.own_changes import remove_compiled
from amplifier_providers.demo.turn import read_turn
from amplifier_providers.demo.undo_request import asks_to_undo

ADD = "Add a function add to calc.py and test it"
CALC = b"x = 1\r\n"


def make_agent(folder: Path, **config: Any) -> Agent[None]:
    plan = {"providers": [{"module": "provider-demo", "config": {"pace": 0}}]}
    files = {"module": "tool-filesystem", "config": config}
    return Agent(plan=plan, tools=[files], directory=folder)


def read_files(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir()}


@pytest.mark.parametrize(
    "prompt",
    ["Undo that", "undo", "please undo it.", "Can you take that back?", "Revert your last change!",
     "undo what you just did", "Take all of it back please", "roll back the last changes",
     "undo all the changes you made", "Undo that again"],
)  # fmt: skip
def test_requests_to_take_back_are_understood(prompt: str) -> None:
    assert asks_to_undo(prompt)


@pytest.mark.parametrize(
    "prompt",
    ["do not undo that", "undo the parser", "How does undo work?", "undo everything but calc.py",
     "Where is `undo`?", "Add a function undo to calc.py", "take back control", "", "redo that"],
)  # fmt: skip
def test_other_requests_take_nothing_back(prompt: str) -> None:
    assert not asks_to_undo(prompt)


# Holds: changes-66
async def test_each_request_takes_back_the_change_before(tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_bytes(CALC)
    async with make_agent(tmp_path).session() as session:
        await session.run(ADD)
        first = read_files(tmp_path)
        await session.run("Add a function cube to calc.py")
        assert read_files(tmp_path) != first
        report = (await session.run("Undo that")).text
        assert read_files(tmp_path) == first
        assert "- `calc.py` is as it was before\n- `test_calc.py` is as it was before" in report
        report = (await session.run("undo that, please")).text
        assert read_files(tmp_path) == {"calc.py": CALC}
        assert report.startswith(
            f"# Taken back: “{ADD}”\n\n- `calc.py` is as it was before\n- `test_calc.py` is deleted: it was new"
        )
        report = (await session.run("undo that")).text
    assert report.startswith("I have changed nothing in this conversation. `/undo` in a conver")


# Holds: changes-66
async def test_what_somebody_has_changed_since_is_left(tmp_path: Path) -> None:
    async with make_agent(tmp_path).session() as session:
        await session.run(ADD)
        (tmp_path / "calc.py").write_bytes(CALC)
        (tmp_path / "test_calc.py").unlink()
        report = (await session.run("undo that")).text
    assert read_files(tmp_path) == {"calc.py": CALC}
    assert "- `calc.py` stays: it is not as I left it\n" in report
    assert "- `test_calc.py` stays: it is not there any more\n" in report


async def test_what_a_person_took_back_is_no_request(tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_bytes(CALC)
    async with make_agent(tmp_path).session() as session:
        await session.run(ADD)
        await session.undo()
        report = (await session.run("Undo that")).text
        said = (await session.run("What did I say?")).text
    assert "- `calc.py` stays: it is not as I left it\n" in report
    assert said == f"You said, in this order:\n\n> {ADD}\n\n> Undo that"


async def test_a_whole_file_that_was_written_anew_gets_its_content_back(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt").write_text("two\n")
    async with make_agent(tmp_path).session() as session:
        await session.run("call read_file with path a.txt")
        await session.run("call write_file with path a.txt and content three")
        report = (await session.run("undo that")).text
    assert "- `a.txt` stays: I do not know what it held before\n" in report
    assert read_files(tmp_path) == {"a.txt": b"three", "b.txt": b"two\n"}


def ask_after(*calls: tuple[str, dict[str, Any], str], tools: tuple[str, ...]) -> Any:
    """What the model answers to a request to undo a turn in which these calls were made."""
    blocks = [
        ToolCallBlock(id=f"t{number}", name=name, input=given)
        for number, (name, given, _) in enumerate(calls)
    ]
    messages = [
        Message(role="user", content="go"),
        Message(role="assistant", content=blocks),
        *(
            Message(role="tool", tool_call_id=f"t{number}", content=output)
            for number, (_, _, output) in enumerate(calls)
        ),
        Message(role="assistant", content="Done."),
        Message(role="user", content="Undo that"),
    ]
    specs = [ToolSpec(name=name, parameters={"type": "object"}) for name in tools]
    return decide(read_turn(ChatRequest(messages=messages, tools=specs)))


def test_what_a_command_did_is_not_known() -> None:
    answer = ask_after(
        ("bash", {"command": "make"}, '{"exit_code": 0}'), tools=("read_file", "bash")
    )
    assert answer.calls == []
    assert answer.text.startswith(
        "I do not know what `make` has changed, so I cannot take it back."
    )


def test_without_a_tool_that_reads_nothing_is_taken_back() -> None:
    wrote = ("write_file", {"path": "a", "content": "a"}, '{"path": "a", "kind": "created"}')
    answer = ask_after(wrote, tools=("write_file",))
    assert answer.text.startswith("I have changed `a`, but cannot take it back: there is no tool")


def test_what_python_compiled_goes_and_nothing_else(tmp_path: Path) -> None:
    compiled = tmp_path / "a b" / "__pycache__"
    compiled.mkdir(parents=True)
    for name in ("calc.cpython-311.pyc", "calculus.cpython-311.pyc"):
        (compiled / name).touch()
    call = remove_compiled(["a b/calc.py", "notes.txt"])
    assert call is not None
    subprocess.run(["bash", "-ec", call.input["command"]], check=True, cwd=tmp_path)
    assert [each.name for each in compiled.iterdir()] == ["calculus.cpython-311.pyc"]
    (compiled / "calculus.cpython-311.pyc").unlink()
    subprocess.run(["bash", "-ec", call.input["command"]], check=True, cwd=tmp_path)
    assert not compiled.exists()
    assert remove_compiled(["notes.txt"]) is None
