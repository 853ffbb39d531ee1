"""Hooks as they are written, what their matchers mean, and calls with the names of Claude Code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import ModuleCoordinator
from amplifier_modules.hooks import shell
from amplifier_modules.hooks.claude_tools import (
    NAMES,
    ClaudeCall,
    list_names,
    restore_arguments,
    translate_call,
)
from amplifier_modules.hooks.shell.hook_files import HookFormatError, ShellHook, read_hooks
from amplifier_providers.settings import SettingError

PROJECT = Path("/project")


def group(*hooks: Any, **fields: Any) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": "x"}, *hooks], **fields}


def test_hooks_are_read_each_once() -> None:
    timed = {"type": "command", "command": "y", "timeout": 5}
    found = read_hooks({"PreToolUse": [group(timed, matcher="Bash"), group(matcher="Bash")]}, "it")

    assert found.hooks == [
        ShellHook("PreToolUse", "Bash", "x"),
        ShellHook("PreToolUse", "Bash", "y", 5.0),
    ]
    assert found.problems == []


UNKNOWN: list[tuple[Any, str, int]] = [
    (
        {"PreCompact": [group()], "Stop": [group()]},
        "`PreCompact` of it is no event here: its hooks never run",
        1,
    ),
    (
        {"PreToolUse": [group(matcher="(")]},
        (
            "the matcher `(` of `PreToolUse` of it is no regular expression, and means"
            " everything: missing ), unterminated subpattern at position 0"
        ),
        1,
    ),
    (
        {"Stop": [group(matcher="Bash")]},
        "the matcher `Bash` of `Stop` of it does nothing: the event has none",
        1,
    ),
    (
        {"SubagentStop": [group(matcher="Explore")]},
        (
            "the matcher `Explore` of `SubagentStop` of it means no sub-agent here: they have"
            " no types"
        ),
        1,
    ),
    (
        {"Stop": [group({"type": "prompt", "prompt": "ok?"})]},
        "a hook of `Stop` of it never runs: its type `prompt` is not known here",
        1,
    ),
    (
        {"Stop": [{"hooks": [{"type": "command", "command": "x", "args": [], "if": "a"}]}]},
        "a hook of `Stop` of it never runs: its type `command with `args`` is not known here",
        0,
    ),
    (
        {"Stop": [{"hooks": [{"command": "x", "async": True, "if": "Bash(a)"}]}]},
        "a hook of `Stop` of it has `async`, `if`, which does nothing here",
        1,
    ),
]


# Holds: shellhooks-12
@pytest.mark.parametrize(("written", "problem", "count"), UNKNOWN)
def test_what_is_not_known_here_is_one_warning(written: Any, problem: str, count: int) -> None:
    found = read_hooks(written, "it")

    assert (found.problems, len(found.hooks)) == ([problem], count)


WRONG: list[Any] = [
    [],
    {"Stop": {}},
    {"Stop": ["x"]},
    {"Stop": [{}]},
    {"Stop": [{"hooks": {}}]},
    {"Stop": [{"hooks": ["x"]}]},
    {"Stop": [{"hooks": [{"type": "command"}]}]},
    {"Stop": [{"hooks": [{"command": " "}]}]},
    {"Stop": [{"hooks": [{"command": "a\0b"}]}]},
    {"Stop": [{"hooks": [{"command": "x", "timeout": 0}]}]},
    {"Stop": [{"hooks": [{"command": "x", "timeout": True}]}]},
    {"Stop": [{"hooks": [{"command": "x", "timeout": float("nan")}]}]},
    {"Stop": [{"hooks": [{"command": "x", "timeout": 601}]}]},
    {"Stop": [{"matcher": 5, "hooks": []}]},
]


@pytest.mark.parametrize("written", WRONG)
def test_another_format_is_an_error(written: Any) -> None:
    with pytest.raises(HookFormatError):
        read_hooks(written, "it")


# Holds: shellhooks-12
@pytest.mark.anyio
@pytest.mark.parametrize("content", ["{", "[]", '{"hooks": []}', '{"hooks": {"Stop": 1}}'])
async def test_hooks_of_the_user_that_cannot_be_read_end_the_start(
    content: str, tmp_path: Path
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(content)

    with pytest.raises(SettingError, match="hooks-shell"):
        await shell.mount(ModuleCoordinator(), {"user_settings": str(path)})


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("content", "count"),
    [
        (None, 0),
        ({}, 0),
        ({"hooks": {"PreToolUse": [group()]}}, 1),
        ({"hooks": {"PreToolUse": [group()]}, "disableAllHooks": True}, 0),
    ],
)
async def test_hooks_of_the_users_file_are_mounted(
    content: Any, count: int, tmp_path: Path
) -> None:
    path = tmp_path / "settings.json"
    if content is not None:
        path.write_text(json.dumps(content))
    settings = shell.ShellHookSettings(user_settings=path)

    assert len(shell.read_hooks_of_user(settings).hooks) == count


# Holds: shellhooks-4
@pytest.mark.parametrize(
    ("matcher", "tools"),
    [
        ("", set(NAMES)),
        ("*", set(NAMES)),
        (".*", set(NAMES)),
        ("(", set(NAMES)),
        ("Bash", {"bash"}),
        ("bash", {"bash"}),
        ("Edit|Write", {"edit_file", "write_file", "apply_patch"}),
        ("Edit, Read", {"edit_file", "apply_patch", "read_file"}),
        ("Write", {"write_file", "apply_patch"}),
        ("write_file", {"write_file"}),
        ("^(Read|LS)$", {"read_file", "list_directory"}),
        ("Task", {"task"}),
        ("Notebook.*", set[str]()),
        ("Ba", set[str]()),
    ],
)
def test_a_matcher_means_tools_by_their_names_and_by_ours(matcher: str, tools: set[str]) -> None:
    hook = ShellHook("PreToolUse", matcher, "x")

    assert {each for each in NAMES if hook.is_about(list_names(each))} == tools


@pytest.mark.parametrize(
    ("matcher", "is_meant"),
    [("mcp__github__get_issue", True), ("mcp__github__.*", True), ("mcp__git", False)],
)
def test_a_matcher_means_tools_of_servers(matcher: str, *, is_meant: bool) -> None:
    hook = ShellHook("PreToolUse", matcher, "x")

    assert hook.is_about(list_names("mcp__github__get_issue")) is is_meant


# Holds: shellhooks-4, todo-5
@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("bash", {"command": "ls"}, ("Bash", {"command": "ls"})),
        ("read_file", {"path": "a"}, ("Read", {"file_path": "/project/a"})),
        (
            "write_file",
            {"path": "/x", "content": "c"},
            ("Write", {"file_path": "/x", "content": "c"}),
        ),
        (
            "edit_file",
            {"path": "a", "edits": [{"old": "x", "new": "y", "replace_all": True}]},
            (
                "Edit",
                {
                    "file_path": "/project/a",
                    "old_string": "x",
                    "new_string": "y",
                    "replace_all": True,
                },
            ),
        ),
        (
            "edit_file",
            {"path": "a", "edits": [{"old": "x", "new": "y"}, {"old": "z", "new": ""}]},
            (
                "MultiEdit",
                {
                    "file_path": "/project/a",
                    "edits": [
                        {"old_string": "x", "new_string": "y"},
                        {"old_string": "z", "new_string": ""},
                    ],
                },
            ),
        ),
        ("mcp__a__b", {"path": "a"}, ("mcp__a__b", {"path": "a"})),
        ("web_fetch", {"url": "https://a/"}, ("WebFetch", {"url": "https://a/"})),
        (
            "todo",
            {"todos": [{"content": "dig", "status": "pending", "active_form": "digging"}, 5]},
            (
                "TodoWrite",
                {"todos": [{"content": "dig", "status": "pending", "activeForm": "digging"}, 5]},
            ),
        ),
        ("todo", {"todos": "no"}, ("TodoWrite", {"todos": "no"})),
        ("edit_file", {"path": 5, "edits": "no"}, ("MultiEdit", {"file_path": 5, "edits": "no"})),
    ],
)
def test_a_call_has_their_names_and_gets_ours_back(
    tool: str, arguments: dict[str, Any], expected: tuple[str, dict[str, Any]]
) -> None:
    [call] = translate_call(tool, arguments, (), PROJECT)

    assert call == ClaudeCall(*expected)
    assert restore_arguments(tool, call.arguments, arguments, PROJECT) == arguments


@given(
    st.sampled_from(sorted(NAMES)),
    st.dictionaries(
        st.sampled_from(["path", "command", "patch", "content", "pattern"]), st.text(max_size=5)
    ),
)
def test_a_call_that_no_hook_changes_is_the_same_call(tool: str, arguments: dict[str, Any]) -> None:
    if tool == "edit_file":
        arguments = {**arguments, "edits": []}
    if tool in ("read_file", "write_file", "edit_file"):
        arguments = {"path": "p", **arguments}

    for call in translate_call(tool, arguments, ["a", "b"], PROJECT):
        assert restore_arguments(tool, call.arguments, arguments, PROJECT) == arguments
