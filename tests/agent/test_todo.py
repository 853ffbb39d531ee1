"""`tools=["tool-todo"]`: the list that a model keeps, and what becomes of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider

sys.path.insert(0, str(Path(__file__).parent))

from stories import store_in

DIG = {"content": "dig", "status": "completed"}
PLANT = {"content": "plant", "status": "in_progress", "active_form": "planting"}
WATER = {"content": "water", "status": "pending"}


def todo(**arguments: Any) -> dict[str, Any]:
    return {"tool": "todo", "arguments": arguments}


def todo_agent(*script: Any, **options: Any) -> tuple[Agent[Any], ScriptedProvider]:
    model = ScriptedProvider(script)
    options = {"tools": ["tool-todo"], **options}
    return Agent(model, **options), model


def results(model: ScriptedProvider) -> list[Any]:
    """What the calls have returned, as the last request has it."""
    contents = [str(each.content) for each in model.requests[-1].messages if each.role == "tool"]
    return [json.loads(each) if each.startswith("{") else each for each in contents]


# Holds: todo-1
@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
async def test_each_call_replaces_the_list_and_one_without_reads_it(loop: str) -> None:
    calls = [todo(todos=[DIG, PLANT]), todo(todos=[PLANT, WATER]), todo()]
    agent, model = todo_agent(*calls, "Done.", loop=loop)
    async with agent.session() as session:
        await session.run("Plant a tree")
        coordinator: Any = session.session.coordinator
        assert coordinator.todo_state == [PLANT, WATER]
    counts = {"pending": 1, "in_progress": 1, "completed": 0}
    assert results(model) == [
        {"pending": 0, "in_progress": 1, "completed": 1},
        counts,
        {"todos": [PLANT, WATER], **counts},
    ]


# Holds: todo-1
@pytest.mark.parametrize(
    "todos",
    [
        [{"content": "dig", "status": "done"}],
        [{"content": "", "status": "pending"}],
        [{"content": "dig"}],
        [DIG] * 101,
        "dig",
    ],
)
async def test_a_list_that_is_none_leaves_the_one_before(todos: Any) -> None:
    agent, model = todo_agent(todo(todos=[DIG]), todo(todos=todos), "Done.")
    async with agent.session() as session:
        result = await session.run("Plant a tree")
        coordinator: Any = session.session.coordinator
        assert coordinator.todo_state == [DIG]
    assert "todos" in str(model.requests[-1].messages[-1].content)
    assert result.text == "Done."


# Holds: todo-2
async def test_the_list_goes_on_in_another_process(tmp_path: Path) -> None:
    agent, _ = todo_agent(todo(todos=[DIG, PLANT]), "Begun.", store=store_in(tmp_path))
    async with agent.session(session_id="tree") as session:
        await session.run("Plant a tree")
    again, model = todo_agent(todo(), "Done.", store=store_in(tmp_path))
    async with again.session(session_id="tree") as session:
        await session.run("Go on")
    assert results(model)[-1]["todos"] == [DIG, PLANT]


# Holds: todo-2
@pytest.mark.parametrize(("last", "is_said"), [(PLANT, True), (DIG, False)])
async def test_an_open_list_is_said_again_after_a_compaction(last: Any, *, is_said: bool) -> None:
    context = {"module": "context-simple", "config": {"max_tokens": 700}}
    talk = ["because " * 120] * 5
    agent, model = todo_agent(todo(todos=[DIG, last]), "Begun.", *talk, context=context)
    async with agent.session() as session:
        for _ in range(6):
            await session.run("And then? " * 20)
        messages = await session.session.coordinator.get("context").get_messages()
    text = "Your to-do list, as it is now:\n[x] dig\n[>] plant"
    said = [each for each in messages if text in str(each["content"])]
    assert bool(said) is is_said
    assert len(model.requests) == 7


# Holds: todo-3
async def test_nobody_is_asked_and_a_sub_agent_has_a_list_of_its_own() -> None:
    hooks = [{"module": "hooks-approval", "config": {"mode": "read-only"}}]
    task = {"tool": "task", "arguments": {"prompt": "Look."}}
    calls = [todo(todos=[WATER]), task, todo(todos=[DIG]), "Nothing.", todo()]
    tools = ["tool-todo", "tool-task"]
    agent, model = todo_agent(*calls, "Done.", hooks=hooks, tools=tools)
    result = await agent.run("Plant a tree")
    assert results(model)[-1]["todos"] == [WATER]
    assert result.text == "Done."
