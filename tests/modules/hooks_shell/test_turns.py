"""Hooks of prompts, answers and sessions."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_modules.hooks import shell

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("shell-hooks")]


def entry(**hooks: str) -> dict[str, Any]:
    """Return the settings of hooks, one line for each event."""
    return {
        event: [{"hooks": [{"type": "command", "command": line}]}] for event, line in hooks.items()
    }


def make_agent(folder: Path, model: Any, *, tools: Any = (), **hooks: str) -> Agent:
    config = {"root": str(folder), "hooks": entry(**hooks)}
    return Agent(model, tools=list(tools), hooks=[{"module": "hooks-shell", "config": config}])


# Holds: shellhooks-1
async def test_a_prompt_that_a_hook_blocks_reaches_no_model(case: Callable[..., Any]) -> None:
    c = await case().hook("UserPromptSubmit", "cat > input; echo secret >&2; exit 2")

    await c.run()

    assert c.turn.provider.requests == []
    assert c.read_input()["prompt"] == "go"
    [end] = c.turn.data("orchestrator:complete")
    assert end["denied"] == {"event": "prompt:submit", "reason": "secret"}


# Holds: shellhooks-8
async def test_what_the_hooks_of_a_prompt_and_a_start_print_the_model_reads(tmp_path: Path) -> None:
    model = ScriptedProvider(["one", "two"])
    agent = make_agent(
        tmp_path, model, SessionStart="cat > start; echo started", UserPromptSubmit="echo main"
    )

    async with agent.session() as session:
        await session.run("first")
        await session.run("second")

    texts = [
        [m.content for m in request.messages if m.role == "user"] for request in model.requests
    ]
    assert texts == [
        ["first", "started\n\nmain"],
        ["first", "started\n\nmain", "second", "main"],
    ]
    assert json.loads((tmp_path / "start").read_text())["source"] == "startup"


# Holds: shellhooks-10
async def test_a_blocked_stop_lets_the_turn_go_on_with_the_reason(tmp_path: Path) -> None:
    model = ScriptedProvider(["half", "whole"])
    line = "tee -a stops | grep -q 'active\":true' || { echo run the tests >&2; exit 2; }"
    agent = make_agent(tmp_path, model, Stop=f"{line}", UserPromptSubmit="cat >> prompts")

    result = await agent.run("work")

    assert result.text == "whole"
    assert str(model.requests[1].messages[-1].content) == "run the tests"
    stops = (tmp_path / "stops").read_text().replace("}{", "}\n{").splitlines()
    read = [json.loads(each) for each in stops]
    assert [(each["stop_hook_active"], each["last_assistant_message"]) for each in read] == [
        (False, "half"),
        (True, "whole"),
    ]
    # What a hook said is judged by no hook of prompts.
    assert json.loads((tmp_path / "prompts").read_text())["prompt"] == "work"


# Holds: shellhooks-10
async def test_a_hook_that_always_blocks_the_stop_does_not_go_on_for_ever(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedProvider([str(number) for number in range(20)])
    agent = make_agent(tmp_path, model, Stop="echo more >&2; exit 2")

    result = await agent.run("work")

    assert result.text == "8"
    assert "the turn ends, though a hook of `Stop` blocks that: more" in caplog.text


async def test_an_answer_with_calls_is_no_stop(tmp_path: Path) -> None:
    @tool
    def look() -> str:
        """Look."""
        return "seen"

    model = ScriptedProvider([{"tool": "look", "arguments": {}}, "done"])
    agent = make_agent(tmp_path, model, tools=[look], Stop="echo >> stops")

    await agent.run("work")

    assert (tmp_path / "stops").read_text() == "\n"


# Holds: shellhooks-10
async def test_an_answer_with_calls_in_its_text_is_no_stop(
    bench: Any, say: Any, tmp_path: Path
) -> None:
    call = '<tool>{"tool_name": "look", "arguments": {}}</tool>'
    turn = bench("tagged", say.text(call), say.text("done"))
    turn.tool("look", repr).input_schema = {"type": "object"}
    config = {"root": str(tmp_path), "hooks": entry(Stop="cat >> stops")}
    await shell.mount(turn.coordinator, config)

    await turn.run("work")

    assert json.loads((tmp_path / "stops").read_text())["last_assistant_message"] == "done"


async def test_the_end_of_a_session_is_heard(tmp_path: Path) -> None:
    agent = make_agent(tmp_path, ScriptedProvider(["hi"]), SessionEnd="cat > end")

    await agent.run("go")

    read = json.loads((tmp_path / "end").read_text())
    assert (read["hook_event_name"], read["reason"]) == ("SessionEnd", "other")


async def test_a_person_is_notified_before_a_question(case: Callable[..., Any]) -> None:
    ask = json.dumps({"decision": "ask", "reason": "sure?"})
    c = case()
    await c.mount(
        entry(PreToolUse=f"echo {shlex.quote(ask)}", Notification="cat > input"),
    )

    await c.run()

    assert c.read_input()["notification_type"] == "permission_prompt"
    assert c.read_input()["message"] == c.asked[0]


# Holds: shellhooks-11
async def test_calls_of_a_sub_agent_are_judged_too(tmp_path: Path) -> None:
    @tool
    def look() -> str:
        """Look."""
        return "seen"

    model = ScriptedProvider(
        [
            {"tool": "task", "arguments": {"prompt": "look"}},
            {"tool": "look", "arguments": {}},
            "could not",
            "done",
        ]
    )
    config = {
        "root": str(tmp_path),
        "hooks": {
            **entry(SubagentStop="cat > end", SubagentStart="cat > start"),
            "PreToolUse": [
                {"matcher": "look", "hooks": [{"type": "command", "command": "exit 2"}]}
            ],
        },
    }
    agent = Agent(
        model, tools=[look, "tool-task"], hooks=[{"module": "hooks-shell", "config": config}]
    )

    await agent.run("go")

    assert "Denied by hook" in str(model.requests[2].messages[-1].content)
    end = json.loads((tmp_path / "end").read_text())
    assert end["agent_id"] == end["session_id"]
    assert json.loads((tmp_path / "start").read_text())["agent_id"] == end["agent_id"]
