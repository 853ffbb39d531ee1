"""Files that hold secrets are read by tools after a person agreed to exactly that call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, Question, ScriptedProvider, hook, tool
from amplifier_core import HookResult
from amplifier_core.message_models import ChatRequest
from amplifier_guard import PathPolicy
from amplifier_modules.tools.agreed_secrets import find_agreed_secrets
from amplifier_modules.tools.filesystem import ReadFile
from amplifier_modules.tools.search import Glob, Grep

Call = tuple[str, dict[str, Any]]

VALUE = "misty-harbor"
CALLS: list[Call] = [
    ("read_file", {"path": ".env"}),
    ("read_file", {"path": "notes"}),
    ("grep", {"pattern": "KEY", "path": ".env"}),
    ("grep", {"pattern": "KEY", "path": "./conf/../.env"}),
]


@pytest.fixture
def policy(tmp_path: Path) -> PathPolicy:
    (tmp_path / "conf").mkdir()
    for name in (".env", ".env.example"):
        (tmp_path / name).write_text(f"KEY={VALUE if name == '.env' else '<key>'}\n")
    (tmp_path / "notes").symlink_to(".env")
    return PathPolicy(tmp_path)


def agent_of(policy: PathPolicy, call: Call, **parts: Any) -> Agent[Any]:
    name, arguments = call
    model = ScriptedProvider([{"tool": name, "arguments": arguments}, "Done."])
    tools: list[Any] = [ReadFile(policy), Grep(policy), Glob(policy)]
    return Agent(model, tools=tools, **parts)


# Holds: sink-3
@pytest.mark.parametrize("call", CALLS, ids=str)
@pytest.mark.parametrize("agrees", [True, False])
async def test_a_person_is_asked_and_their_answer_counts(
    policy: PathPolicy, call: Call, agrees: bool
) -> None:
    questions: list[Question] = []

    def answer(question: Question) -> bool:
        questions.append(question)
        return agrees

    result = await agent_of(policy, call, approvals=answer).run("read it")

    assert [(each.tool_name, each.arguments) for each in questions] == [call]
    assert (VALUE in str(result.messages)) is agrees


# Holds: sink-3
@pytest.mark.parametrize("call", CALLS, ids=str)
async def test_without_a_person_nothing_is_read(policy: PathPolicy, call: Call) -> None:
    result = await agent_of(policy, call).run("read it")

    assert VALUE not in str(result.messages)


@pytest.mark.parametrize(
    "call",
    [
        ("read_file", {"path": ".env.example"}),
        ("read_file", {"path": "no/.env"}),
        ("grep", {"pattern": "KEY"}),
        ("glob", {"pattern": ".env*"}),
        ("read_file", {}),
    ],
    ids=str,
)
async def test_nobody_is_asked_about_anything_else(policy: PathPolicy, call: Call) -> None:
    questions: list[Question] = []

    def answer(question: Question) -> bool:
        questions.append(question)
        return True

    result = await agent_of(policy, call, approvals=answer).run("read it")

    assert questions == []
    assert VALUE not in str(result.messages)


async def test_a_yes_to_other_arguments_does_not_count(policy: PathPolicy) -> None:
    @hook("tool:pre")
    def change(_event: str, _data: dict[str, Any]) -> HookResult:
        return HookResult(
            action="modify", data={"tool_name": "read_file", "tool_input": {"path": ".env"}}
        )

    agent = agent_of(policy, ("read_file", {"path": ".env.example"}), hooks=[change])
    result = await agent.run("read it")

    assert VALUE not in str(result.messages)


async def test_outside_of_a_loop_the_tool_refuses(policy: PathPolicy) -> None:
    result = await ReadFile(policy).execute({"path": "notes"})

    assert result.error == {
        "message": "`notes` may not be read without approval: `.env` holds secrets",
        "type": "PathProtected",
    }


@tool
def agreed() -> list[str]:
    """Return what a person has agreed to in this session."""
    return sorted(find_agreed_secrets().paths())


def agreed_of(requests: list[ChatRequest]) -> list[list[str]]:
    """What the tool `agreed` returned, once for each call."""
    messages = [message for message in requests[-1].messages if message.name == "agreed"]
    return [json.loads(str(message.content)) for message in messages]


# Holds: sink-70
async def test_what_a_person_agreed_to_is_known_in_the_session(
    policy: PathPolicy,
) -> None:
    root = Path(policy.root)
    (root / ".ssh").mkdir()
    (root / ".ssh/config").write_text("Host x\n")
    calls: list[Any] = [
        ("read_file", {"path": ".env.example"}),
        ("read_file", {"path": "notes"}),
        ("grep", {"pattern": "Host", "path": ".ssh"}),
        ("read_file", {"path": "no/.env"}),
        ("write_file", {"path": "deep/.npmrc", "content": "x"}),
        ("apply_patch", {"patch": "*** Begin Patch\n*** Add File: CLAUDE.md\n+x\n*** End Patch"}),
    ]
    look: dict[str, Any] = {"tool": "agreed", "arguments": {}}
    script = [look, *({"tool": name, "arguments": given} for name, given in calls), look, "Done."]
    model = ScriptedProvider([*script, look, "Done."])
    tools: list[Any] = ["tool-filesystem", "tool-search", agreed]

    agent = Agent(model, tools=tools, directory=root, approvals=lambda _question: True)
    await agent.run("read them")
    expected = [str(root / name) for name in (".env", ".ssh", "deep/.npmrc")]
    assert agreed_of(model.requests) == [[], expected]

    await agent.run("what do you know?")
    assert agreed_of(model.requests) == [[]]


# Holds: sink-70
@pytest.mark.parametrize("call", CALLS, ids=str)
async def test_what_a_person_did_not_agree_to_is_not_known(policy: PathPolicy, call: Call) -> None:
    name, arguments = call
    look: dict[str, Any] = {"tool": "agreed", "arguments": {}}
    model = ScriptedProvider([{"tool": name, "arguments": arguments}, look, "Done."])
    tools: list[Any] = [ReadFile(policy), Grep(policy), agreed]

    await Agent(model, tools=tools, approvals=lambda _question: False).run("read it")

    assert agreed_of(model.requests) == [[]]


# Holds: sink-70
async def test_what_a_person_agreed_to_for_a_sub_agent_its_parent_does_not_know(
    policy: PathPolicy,
) -> None:
    task = {"tool": "task", "arguments": {"description": "Read", "prompt": "Read it."}}
    look: dict[str, Any] = {"tool": "agreed", "arguments": {}}
    read = {"tool": "read_file", "arguments": {"path": ".env"}}
    model = ScriptedProvider([task, read, look, "Read.", look, "Done."])
    tools: list[Any] = ["tool-filesystem", "tool-task", agreed]

    agent = Agent(model, tools=tools, directory=policy.root, approvals=lambda _question: True)
    await agent.run("read it")

    assert agreed_of(model.requests[:4]) == [[f"{policy.root}/.env"]]
    assert agreed_of(model.requests) == [[]]


def test_outside_of_a_session_nothing_is_kept() -> None:
    find_agreed_secrets().note("/etc/shadow")
    assert find_agreed_secrets().paths() == frozenset()
