"""A command of an agent connects to a host that is not allowed: a person is asked while it runs.

Holds: sandbox-111, sandbox-112, sandbox-113, sandbox-114
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from amplifier_agent import Agent, Question, ScriptedProvider, hook
from amplifier_core import ApprovalResponse
from amplifier_modules.sandbox import runner as runners

sys.path.insert(0, str(Path(__file__).parents[1] / "modules"))

from proxied_commands import ProxiedRunner, connect, lead_to_server

CALL = {"tool": "bash", "arguments": {"command": connect("shop.example")}}
BASH = {"module": "tool-bash", "config": {"keep_changes": False}}
REACHED = "200 Connection established"


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(runners, "open_runner", ProxiedRunner)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        lead_to_server(monkeypatch, listener.getsockname()[1])
        yield


def make_agent(folder: Path, *script: Any, **options: Any) -> tuple[Agent, ScriptedProvider]:
    model = ScriptedProvider([*script, "Done."])
    return Agent(model, tools=[BASH], directory=folder, **options), model


def list_results(model: ScriptedProvider) -> list[str]:
    return [str(each.content) for each in model.requests[-1].messages if each.role == "tool"]


async def test_a_person_is_asked_by_default_and_the_connection_goes_through(tmp_path: Path) -> None:
    asked: list[Question] = []

    async def answer(question: Question) -> bool:
        asked.append(question)
        return True

    agent, model = make_agent(tmp_path, CALL, CALL, approvals=answer)
    await agent.run("go")
    assert all(REACHED in each for each in list_results(model))
    assert [(each.tool_name, each.arguments["host"], each.arguments["port"]) for each in asked] == [
        ("bash", "shop.example", 443)
    ] * 2


async def test_a_yes_for_the_session_is_for_the_host_and_not_for_the_tool(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(question: Question) -> ApprovalResponse:
        asked.append(question.action.splitlines()[0].partition(" (")[0])
        return ApprovalResponse(approved=True, remember="host" in question.arguments)

    other = {"tool": "bash", "arguments": {"command": connect("cdn.example")}}
    hooks = [{"module": "hooks-approval", "config": {"mode": "ask"}}]
    agent, _ = make_agent(tmp_path, CALL, CALL, other, approvals=answer, hooks=hooks)
    await agent.run("go")
    assert asked == [
        "run `bash`?",
        "let a command reach `shop.example`, port 443?",
        "run `bash`?",
        "run `bash`?",
        "let a command reach `cdn.example`, port 443?",
    ]


async def test_the_model_reads_what_the_person_says(tmp_path: Path) -> None:
    agent, model = make_agent(tmp_path, CALL, approvals=lambda _question: "use the mirror")
    await agent.run("go")
    (result,) = list_results(model)
    assert "403 shop.example is not allowed" in result
    assert "`shop.example` was not reached: a person said no: use the mirror; to allow" in result


@pytest.mark.parametrize("mode", ["read-only", "plan"])
async def test_nobody_is_asked_where_the_mode_lets_nothing_change(
    tmp_path: Path, mode: str
) -> None:
    asked: list[str] = []

    def answer(question: Question) -> bool:
        asked.append(question.action)
        return True

    hooks = [{"module": "hooks-approval", "config": {"mode": mode}}]
    agent, _ = make_agent(tmp_path, CALL, approvals=answer, hooks=hooks)
    await agent.run("go")
    assert asked == []


async def test_a_person_who_does_not_answer_in_time_has_said_no_for_this_command(
    tmp_path: Path,
) -> None:
    async def answer(_question: Question) -> bool:
        await anyio.sleep_forever()
        return True

    agent, model = make_agent(tmp_path, CALL, approvals=answer, approval_timeout=0.05)
    await agent.run("go")
    (result,) = list_results(model)
    assert "nobody could be asked, or has answered in time" in result


async def test_the_question_is_withdrawn_when_its_command_ends(tmp_path: Path) -> None:
    answers: list[bool] = []

    async def answer(_question: Question) -> bool:
        if not answers:
            answers.append(True)
            await anyio.sleep_forever()
        return True

    impatient = connect("shop.example").replace("read -r", "read -t 0.2 -r")
    call = {"tool": "bash", "arguments": {"command": impatient}}
    agent, model = make_agent(tmp_path, call, CALL, approvals=answer)
    with anyio.fail_after(30):
        await agent.run("go")
    first, second = list_results(model)
    assert "the command ended before a person had answered" in first
    assert REACHED in second


async def test_a_turn_that_is_cancelled_while_a_person_is_asked_ends_the_command(
    tmp_path: Path,
) -> None:
    os.mkfifo(tmp_path / "end")
    end = os.open(tmp_path / "end", os.O_RDONLY | os.O_NONBLOCK)
    asked = anyio.Event()

    async def answer(_question: Question) -> bool:
        asked.set()
        await anyio.sleep_forever()
        return True

    command = f"exec 8> end; {connect('shop.example')}; sleep 1000"
    call = {"tool": "bash", "arguments": {"command": command}}
    agent, _ = make_agent(tmp_path, call, approvals=answer)
    try:
        async with agent.session() as session:
            with anyio.fail_after(20):
                async with anyio.create_task_group() as group:
                    group.start_soon(session.run, "go")
                    await asked.wait()
                    session.cancel()
                await anyio.wait_readable(end)
            assert os.read(end, 1) == b""
    finally:
        os.close(end)


async def test_sub_agents_need_not_ask_about_what_was_agreed_for_the_session(
    tmp_path: Path,
) -> None:
    told: list[str] = []

    @hook("approval:granted")
    def note(_event: str, data: dict[str, Any]) -> None:
        told.append(data.get("grant", ""))

    task = {"tool": "task", "arguments": {"description": "Look", "prompt": "Look."}}
    model = ScriptedProvider([CALL, task, CALL, "Seen.", "Done."])
    agent = Agent(
        model,
        tools=[BASH, "tool-task"],
        directory=tmp_path,
        approvals=lambda _question: ApprovalResponse(approved=True, remember=True),
        hooks=[note],
    )
    await agent.run("go")
    of_sub_agent = [str(each.content) for each in model.requests[3].messages if each.role == "tool"]
    assert REACHED in of_sub_agent[0]
    assert told == ["session"]
