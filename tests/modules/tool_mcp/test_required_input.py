"""What a server needs before it answers outlives the process: its state goes back with the answer."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, PartialApproval, Question, Result, ScriptedProvider
from amplifier_modules.tools.mcp.call_rounds import CallRounds
from amplifier_modules.tools.mcp.required_input import RequiredInput

SERVER = Path(__file__).with_name("stateless_server.py")
STATE = "the \u00fcmlaut state"
ADA = {"action": "accept", "content": {"name": "Ada"}}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Desk:
    """Agents on the same sessions as of processes of their own, and what their server was sent."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "log"
        self.entry: dict[str, Any] = {
            "command": sys.executable,
            "args": ["-S", "-E", str(SERVER), str(self.log)],
        }
        self.store = {"module": "store-sqlite", "config": {"folder": str(folder / "sessions")}}
        self.model = ScriptedProvider([])
        self.session_id = ""

    def make_agent(self, *script: Any, approvals: Any = "wait") -> Agent[Any]:
        self.model = ScriptedProvider(script)
        tools = [{"module": "tool-mcp", "config": {"servers": {"desk": self.entry}}}]
        return Agent(self.model, tools=tools, store=self.store, approvals=approvals)

    async def leave(self, tool: str) -> Question:
        """A turn that ends with the question of a server."""
        agent = self.make_agent({"tool": f"desk__{tool}", "arguments": {}})
        result: Result[Any] = await agent.run("go")
        assert result.status == "awaiting_approval"
        self.session_id = result.session_id
        return result.questions[0]

    async def answer(self, question: Question, answer: bool | str | PartialApproval) -> None:
        """Answer a question in another process."""
        await self.make_agent().answer(self.session_id, question.id, answer)

    async def leave_again(self) -> Question:
        """The next question of the call; the process that has gone on with the turn leaves it."""
        async with self.make_agent().session(session_id=self.session_id) as session:
            turn = asyncio.create_task(session.resume_turn())
            while not session.questions:  # noqa: ASYNC110 -- nothing tells of it
                await asyncio.sleep(0)
        return (await turn).questions[0]

    async def go_on(self, **options: Any) -> str:
        """Go on with the turn in another process; returns what the model gets."""
        agent = self.make_agent("Done.", **options)
        async with agent.session(session_id=self.session_id) as session:
            await session.resume_turn()
        return str(self.model.requests[0].messages[-1].content)

    def list_sent(self) -> list[Any]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


# Holds: mcp-80
async def test_a_question_is_answered_in_another_process_and_goes_back_with_its_state(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    question = await desk.leave("greet")
    await desk.answer(question, "Ada")
    result = await desk.go_on()

    assert "who are you?" in question.action
    assert result == '{"who": {"name": "Ada"}}'
    assert desk.list_sent() == [["greet", None, None], ["greet", {"who": ADA}, STATE]]


# Holds: mcp-80
async def test_a_call_that_asks_for_several_things_is_gone_on_with_at_each_of_them(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path)
    first = await desk.leave("book")
    await desk.answer(first, "Ada")
    second = await desk.leave_again()
    await desk.answer(second, PartialApproval(parts=["window"]))
    third = await desk.leave_again()
    await desk.answer(third, "7")
    result = await desk.go_on()

    seat = {"window": True, "row": 7}
    assert json.loads(result) == {"who": {"name": "Ada"}, "seat": seat}
    answers = {"who": ADA, "seat": {"action": "accept", "content": seat}}
    assert desk.list_sent() == [["book", None, None], ["book", answers, STATE]]


# Holds: mcp-84
async def test_a_state_alone_is_gone_on_with_in_another_process_without_a_new_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, crashed = Desk(tmp_path), Desk(tmp_path / "crashed")
    keep = RequiredInput.keep

    async def keep_and_copy(self: RequiredInput) -> None:
        await keep(self)
        shutil.copytree(tmp_path / "sessions", tmp_path / "crashed" / "sessions")

    with monkeypatch.context() as patched:
        patched.setattr(RequiredInput, "keep", keep_and_copy)
        begun = {"tool": "desk__wait", "arguments": {}}
        result: Result[Any] = await desk.make_agent(begun, "Done.").run("go")
    assert result.status == "completed"
    assert desk.list_sent() == [["wait", None, None], ["wait", None, STATE]]

    crashed.entry, crashed.session_id = desk.entry, result.session_id
    assert await crashed.go_on() == "waited"
    assert desk.list_sent()[2:] == [["wait", None, STATE]]


# Holds: mcp-80
async def test_an_answer_that_may_have_been_sent_is_not_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, crashed = Desk(tmp_path), Desk(tmp_path / "crashed")
    send = CallRounds.run

    async def leave_copy(*given: Any) -> Any:
        shutil.copytree(tmp_path / "sessions", tmp_path / "crashed" / "sessions")
        return await send(*given)

    await desk.answer(await desk.leave("greet"), "Ada")
    with monkeypatch.context() as patched:
        patched.setattr(CallRounds, "run", leave_copy)
        await desk.go_on()
    crashed.entry, crashed.session_id = desk.entry, desk.session_id

    assert "it may have done what it was asked for" in await crashed.go_on()
    assert len(desk.list_sent()) == 2


# Holds: mcp-80
async def test_an_answer_goes_to_no_other_server_of_the_name(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    await desk.answer(await desk.leave("greet"), "Ada")
    desk.entry = {**desk.entry, "env": {"OTHER": "yes"}}
    await desk.make_agent("Hello.").run("what is there?")
    result = await desk.go_on()

    assert "the entry of the server has changed since the call began" in result
    assert desk.list_sent() == [["greet", None, None]]
