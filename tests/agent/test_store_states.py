"""States of stored sessions: in forks, in sessions without them, and with modules of others."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from amplifier_agent import Agent, Budget, ToolContext, hook, tool
from amplifier_modules.stores import NewSession
from amplifier_modules.stores.sqlite import SqliteStore

sys.path.insert(0, str(Path(__file__).parent))

from stories import StoryModel, read_states, store_in, verdict

GOAL = "each function has a test"


def talk(folder: Path, *script: Any, **options: Any) -> tuple[Agent[Any], StoryModel]:
    model = StoryModel(script, folder, None)
    return Agent(model, store=store_in(folder), **options), model


def say(number: int) -> str:
    return f"Question {number}: " + "why " * 100


def contents(model: StoryModel) -> list[list[Any]]:
    return [[each.content for each in request.messages] for request in model.requests]


# Holds: store-12
async def test_a_fork_has_the_states_of_its_last_event(tmp_path: Path) -> None:
    context = {"module": "context-simple", "config": {"max_tokens": 700}}
    answers = [f"Answer {number}: " + "because " * 50 for number in range(8)]
    agent, model = talk(tmp_path, *answers, *answers, context=context)
    async with agent.session(session_id="chat") as session:
        for number in range(8):
            await session.run(say(number))
        told = contents(model)
        store = SqliteStore(folder=str(tmp_path))
        ends = [
            each.number for each in await store.read("chat") if each.kind == "orchestrator:complete"
        ]
        await store.close()
        model.requests.clear()
        for number, end in enumerate(ends[:-1], start=1):
            async with await session.fork(at=end) as fork:
                await fork.run(say(number))
    assert contents(model) == told[1:]


# Holds: store-43
@pytest.mark.parametrize("has_list", [False, True])
async def test_a_to_do_list_goes_on(tmp_path: Path, has_list: bool) -> None:
    @tool
    def plan(context: ToolContext, what: str) -> str:
        """Add a task."""
        coordinator: Any = context.coordinator
        todos = getattr(coordinator, "todo_state", None) or []
        coordinator.todo_state = todos
        todos.append({"content": what, "status": "pending"})
        return f"{len(todos)} tasks"

    calls = [{"tool": "plan", "arguments": {"what": what}} for what in ("dig", "plant")]
    agent, _ = talk(tmp_path, *calls, "Planned.", tools=[plan])
    async with agent.session(session_id="chat") as session:
        await session.run("Plan.")
    again, _ = talk(
        tmp_path, {"tool": "plan", "arguments": {"what": "water"}}, "Done.", tools=[plan]
    )
    later = again.session(session_id="chat")
    coordinator: Any = later.session.coordinator
    if has_list:
        coordinator.todo_state = made = []  # as a tool does when it is mounted
    async with later:
        expected = [{"content": what, "status": "pending"} for what in ("dig", "plant")]
        assert coordinator.todo_state == expected
        assert not has_list or coordinator.todo_state is made
        result = await later.run("Water, too.")
    assert result.messages[-2]["content"] == "3 tasks"


# Holds: store-11
async def test_a_session_without_states_goes_on_as_before(tmp_path: Path) -> None:
    context = {"module": "context-simple", "config": {"max_tokens": 700}}
    agent, _ = talk(tmp_path / "new", *["because " * 50] * 4, context=context)
    async with agent.session(session_id="chat") as session:
        for number in range(4):
            await session.run(say(number))
    store = SqliteStore(folder=str(tmp_path / "new"))
    events = [each for each in await store.read("chat") if not each.kind.startswith("session:")]
    await store.close()
    old = SqliteStore(folder=str(tmp_path / "old"))
    claim = await old.claim("chat", "me", new=NewSession())
    claim = await old.append(
        claim, [(each.kind, each.body) for each in events if not each.kind.startswith("state:")]
    )
    await old.end(claim)
    await old.close()
    again, model = talk(tmp_path / "old", "Yes.", context=context)
    async with again.session(session_id="chat") as session:
        result = await session.run(say(4))
    assert len(result.messages) == 10
    assert len(model.requests[0].messages) < 9


class TinyContext:
    """A context of somebody else, which keeps nothing beside its messages."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    async def add_message(self, message: dict[str, Any]) -> None:
        self.messages.append(message)

    async def get_messages(self) -> list[dict[str, Any]]:
        return list(self.messages)

    async def get_messages_for_request(self, **_: Any) -> list[dict[str, Any]]:
        return list(self.messages)

    async def set_messages(self, messages: list[dict[str, Any]]) -> None:
        self.messages = list(messages)

    async def clear(self) -> None:
        self.messages = []


async def test_a_context_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    agent, _ = talk(tmp_path, "one")
    async with agent.session(session_id="chat") as session:
        await session.run("a")
    again, model = talk(tmp_path, "two", context=TinyContext())
    async with again.session(session_id="chat") as session:
        await session.run("b")
    assert [each.role for each in model.requests[0].messages] == ["user", "assistant", "user"]


# Holds: store-14
async def test_a_goal_stays_reached_if_the_program_gives_it_again(tmp_path: Path) -> None:
    agent, _ = talk(tmp_path, "Done.", verdict(True, "it is"))
    async with agent.session(session_id="chat", goal=GOAL) as session:
        await session.run("Write tests.")
        assert session.goal is None
    again, model = talk(tmp_path, "Yes.", verdict(True, "it is"))
    async with again.session(session_id="chat", goal=GOAL) as session:
        assert session.goal is None
        session.goal = GOAL
        result = await session.run("Again?")
    assert result.goal is not None
    assert result.goal.verdict == "reached"
    assert len(model.requests) == 2


# Holds: store-14
async def test_the_goal_of_a_session_is_there_before_its_first_turn(tmp_path: Path) -> None:
    script = ["Done.", verdict(False, "a test is missing"), RuntimeError("the line is dead")]
    agent, _ = talk(tmp_path, *script)
    async with agent.session(session_id="chat", goal=GOAL) as session:
        with pytest.raises(RuntimeError, match="the line is dead"):
            await session.run("Write tests.")
    again, _ = talk(tmp_path, "Fine.")
    async with again.session(session_id="chat") as session:
        assert session.goal == GOAL
        session.goal = None
        await session.run("Never mind.")
    last, _ = talk(tmp_path)
    for given in (None, GOAL):
        async with last.session(session_id="chat", goal=given) as session:
            assert session.goal is None
    async with last.session(session_id="chat", goal="something else") as session:
        assert session.goal == "something else"


# Holds: store-15
async def test_a_round_that_had_ended_is_read_as_it_would_have_been(tmp_path: Path) -> None:
    now, crashed = tmp_path / "now", tmp_path / "crashed"

    @tool
    def fail(reason: str) -> str:
        """Fail."""
        raise ValueError(reason)

    results = 0
    sessions: list[Any] = []

    @hook("context:message")
    async def crash(event: str, data: dict[str, Any]) -> None:
        nonlocal results
        results += data["message"]["role"] == "tool"
        if results == 5 and not crashed.exists():
            await sessions[0].session.coordinator.get_capability("session.journal").flush()
            shutil.copytree(now, crashed)

    def calls(number: int) -> list[dict[str, Any]]:
        return [
            {"tool": "fail", "arguments": {"reason": each}, "id": f"{each}{number}"}
            for each in ("no", "never")
        ]

    script = [calls(1), calls(2), calls(3), "It fails."]
    agent, _ = talk(now, *script, tools=[fail], hooks=[crash])
    async with agent.session(session_id="chat") as session:
        sessions.append(session)
        told = await session.run("Try.")
    again, _ = talk(crashed, "It fails.", tools=[fail])
    async with again.session(session_id="chat") as session:
        result = await session.resume_turn()

    def plain(messages: Any) -> list[Any]:
        return [(each["role"], each["content"]) for each in messages]

    assert "has failed 3 times" in str(told.messages[8]["content"])
    assert plain(result.messages) == plain(told.messages)


class Number(BaseModel):
    """A number."""

    value: int


async def test_an_answer_of_a_turn_that_goes_on_is_repaired(tmp_path: Path) -> None:
    now, crashed = tmp_path / "now", tmp_path / "crashed"

    def crash(request: Any) -> str:
        shutil.copytree(now, crashed)
        return '{"value": 1}'

    agent, _ = talk(now, crash, output=Number)
    async with agent.session(session_id="chat") as session:
        await session.run("One?")
    again, model = talk(crashed, "one", '{"value": 1}', output=Number)
    async with again.session(session_id="chat") as session:
        result = await session.resume_turn()
    assert result.value == Number(value=1)
    assert [each.role for each in model.requests[1].messages] == ["user", "assistant", "user"]


# Holds: store-13
async def test_a_repair_that_goes_on_is_a_part_of_its_turn(tmp_path: Path) -> None:
    now, crashed = tmp_path / "now", tmp_path / "crashed"

    def crash(request: Any) -> str:
        shutil.copytree(now, crashed)
        return '{"value": 1}'

    options: dict[str, Any] = {"output": Number, "budget": Budget(model_calls=9)}
    agent, _ = talk(now, "one", crash, **options)
    async with agent.session(session_id="chat") as session:
        await session.run("One?")
    again, _ = talk(crashed, '{"value": 1}', **options)
    async with again.session(session_id="chat") as session:
        assert (await session.resume_turn()).value == Number(value=1)
    told, found = [(await read_states(each))["state:spending"] for each in (now, crashed)]
    assert told["model_calls"] == found["model_calls"] == 2


async def test_a_session_of_which_only_the_goal_is_known_leaves_nothing(tmp_path: Path) -> None:
    agent, _ = talk(tmp_path / "sessions")
    async with agent.session(goal=GOAL):
        pass
    assert os.listdir(tmp_path) == []
