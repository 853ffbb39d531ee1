"""Hooks of tool calls: they deny, change, ask, and tell the model something."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("shell-hooks")]


def say(**fields: Any) -> str:
    """A line that answers with JSON."""
    return f"echo {shlex.quote(json.dumps(fields))}"


def decide(decision: str, **fields: Any) -> str:
    return say(hookSpecificOutput={"permissionDecision": decision, **fields})


def change(**arguments: Any) -> str:
    return say(hookSpecificOutput={"updatedInput": arguments})


# Holds: shellhooks-1, shellhooks-4
async def test_a_hook_reads_a_call_with_the_names_of_claude_code(case: Callable[..., Any]) -> None:
    c = await case().hook("PreToolUse", "cat > input", matcher="Bash")

    assert await c.run() == ["did it"]
    assert c.read_input() == {
        "session_id": "",
        "transcript_path": "",
        "cwd": str(c.folder),
        "permission_mode": "acceptEdits",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "1",
    }


# Holds: shellhooks-1
async def test_exit_code_2_denies_a_call_with_its_reason(case: Callable[..., Any]) -> None:
    c = await case().hook("PreToolUse", "echo not here >&2; exit 2")

    assert await c.run() == ["Denied by hook: not here"]
    assert c.ran == []


# Holds: shellhooks-2
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("./missing", "was not found"),
        ("exit 1", "ended with exit code 1"),
        ("kill -9 $$", "was killed by SIGKILL"),
        ("echo '{'", "wrote JSON that cannot be read"),
        ("sleep 60", "did not end in time"),
    ],
)
async def test_a_judge_that_fails_denies_the_call(
    case: Callable[..., Any], line: str, said: str
) -> None:
    c = await case().hook("PreToolUse", line, timeout=1 if "sleep" in line else 30)

    [denied] = await c.run()

    assert said in denied
    assert c.ran == []


# Holds: shellhooks-5
@pytest.mark.parametrize(
    ("lines", "ran", "asked"),
    [
        ((decide("allow"), decide("allow")), [{"command": "ls"}], 0),
        ((decide("allow"), decide("ask")), [{"command": "ls"}], 1),
        ((decide("ask"), "exit 2", decide("allow")), [], 0),
        ((decide("allow"), change(command="pwd")), [{"command": "pwd"}], 0),
        ((decide("ask"), change(command="pwd")), [{"command": "pwd"}], 1),
        ((change(command="pwd"), change(command="pwd")), [{"command": "pwd"}], 0),
        ((change(command="pwd"), change(command="id")), [], 0),
        ((change(command="pwd"), "exit 2"), [], 0),
        ((change(command="rm x"), "! grep -q rm || exit 2"), [], 0),
        ((change(command="ls"), decide("allow")), [{"command": "ls"}], 0),
    ],
)
async def test_of_several_hooks_the_strictest_answer_wins(
    case: Callable[..., Any], lines: tuple[str, ...], ran: list[Any], asked: int
) -> None:
    c = await case().hook("PreToolUse", *lines)

    await c.run()

    assert (c.ran, len(c.asked)) == (ran, asked)


# Holds: shellhooks-5
async def test_a_person_sees_what_a_hook_asks_and_may_refuse(case: Callable[..., Any]) -> None:
    c = await case().hook("PreToolUse", decide("ask", permissionDecisionReason="sure?"))
    c.answer = "Deny"

    await c.run()

    assert c.ran == []
    assert c.asked == ["run `bash`? (a hook asks: sure?)\n| `command`: `ls`"]


# Holds: shellhooks-5
async def test_allow_takes_no_question_away(case: Callable[..., Any]) -> None:
    c = await case().hook("PreToolUse", decide("allow"))
    c.judge_later("tool:pre", action="ask_user", approval_prompt="really?")

    await c.run()

    assert (c.ran, len(c.asked)) == ([{"command": "ls"}], 1)


# Holds: shellhooks-5
async def test_hooks_of_one_event_run_side_by_side(case: Callable[..., Any]) -> None:
    # Each waits for the other.
    meet = "touch {0}; until [ -e {1} ]; do sleep 0.01; done"
    c = await case().hook("PreToolUse", meet.format("a", "b"), meet.format("b", "a"))

    assert await c.run() == ["did it"]


# Holds: shellhooks-8
async def test_what_a_hook_adds_is_in_the_next_request(case: Callable[..., Any]) -> None:
    context = say(hookSpecificOutput={"additionalContext": "use tabs"})
    c = await case().mount(
        {
            "PreToolUse": [{"hooks": [{"type": "command", "command": context}]}],
            "PostToolUse": [{"hooks": [{"type": "command", "command": "echo lint >&2; exit 2"}]}],
        }
    )

    assert await c.run() == ["did it"]
    assert c.turn.provider.requests[1].messages[-1].content == (
        "use tabs\n\nA hook objects to `bash`: lint"
    )


async def test_the_hook_of_a_result_reads_it(case: Callable[..., Any]) -> None:
    c = await case().hook("PostToolUse", "cat > input", matcher="mcp__.*|Bash")

    await c.run()

    read = c.read_input()
    assert read["tool_input"] == {"command": "ls"}
    assert read["tool_response"] == {"success": True, "output": "did it", "error": None}


async def test_the_hook_of_a_failure_reads_why(case: Callable[..., Any]) -> None:
    c = await case().hook("PostToolUseFailure", "cat > input")
    c.judge_later("tool:pre", action="deny", reason="never")

    await c.run()

    read = c.read_input()
    assert read["hook_event_name"] == "PostToolUseFailure"
    assert "never" in read["error"]


# Holds: shellhooks-1
@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
async def test_continue_false_ends_the_turn(case: Callable[..., Any], event: str) -> None:
    c = await case().hook(event, say(**{"continue": False, "stopReason": "enough"}))

    await c.run()

    assert len(c.turn.provider.requests) == 1
    [end] = c.turn.data("orchestrator:complete")
    assert end["denied"] == {"event": "provider:request", "reason": "enough"}


# Holds: shellhooks-4
async def test_each_file_of_a_patch_is_judged(case: Callable[..., Any]) -> None:
    c = case()

    def list_paths(_given: dict[str, Any]) -> list[str]:
        return ["a.txt", "secret.txt"]

    c.add_tool("apply_patch", list_paths=list_paths)
    c.script(c.say.calls(("1", "apply_patch", {"patch": "…"})), c.say.text("done"))
    await c.hook("PreToolUse", "! grep -q secret || exit 2", matcher="Write|Edit")

    await c.run()

    assert c.ran == []


# Holds: shellhooks-4
async def test_a_changed_edit_has_our_keys_again(case: Callable[..., Any]) -> None:
    c = case()
    c.add_tool("edit_file")
    edit = {"path": "a.py", "edits": [{"old": "x", "new": "y"}]}
    c.script(c.say.calls(("1", "edit_file", edit)), c.say.text("done"))
    line = """sed -E 's/.*"tool_input":(\\{[^}]*\\}).*/{"hookSpecificOutput":{"updatedInput":\\1}}/; s/"y"/"z"/'"""
    await c.hook("PreToolUse", f"tee input | {line}", matcher="Edit")

    await c.run()

    assert c.read_input()["tool_input"] == {
        "file_path": str(c.folder / "a.py"),
        "old_string": "x",
        "new_string": "y",
    }
    assert c.ran == [{"path": "a.py", "edits": [{"old": "x", "new": "z"}]}]


# Holds: shellhooks-9
async def test_no_key_of_ours_is_in_the_environment_of_a_hook(
    case: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1")
    monkeypatch.setenv("MY_TOKEN", "t")
    c = await case().hook("PreToolUse", "env > env", pass_environment=["MY_TOKEN"])

    await c.run()

    names = {line.partition("=")[0] for line in (c.folder / "env").read_text().splitlines()}
    assert "ANTHROPIC_API_KEY" not in names
    assert {"MY_TOKEN", "CLAUDE_PROJECT_DIR", "PATH"} <= names
