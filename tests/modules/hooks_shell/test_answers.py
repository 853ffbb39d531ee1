"""What a hook says by its exit code and its output: every answer, for events that judge and others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amplifier_modules.hooks.shell.answers import Answer, join_answers, read_answer
from amplifier_modules.hooks.shell.hook_files import ShellHook
from amplifier_modules.hooks.shell.hook_process import FinishedHook
from amplifier_modules.sandbox.command import Ending

JUDGING = ["PreToolUse", "UserPromptSubmit"]
OTHERS = ["PostToolUse", "Stop", "SessionStart", "Notification", "SessionEnd"]


def read(event: str, output: Any = b"", errors: bytes = b"", **ending: Any) -> Answer:
    """Return the answer of a hook of an event that has ended."""
    if not isinstance(output, bytes):
        output = json.dumps(output).encode()
    fields: dict[str, Any] = {"exit_code": 0, **ending}
    finished = FinishedHook(Ending(**fields), output, errors)
    return read_answer(ShellHook(event, "", "./check"), finished)


FAILURES: list[tuple[dict[str, Any], str]] = [
    ({"exit_code": 1}, "ended with exit code 1"),
    ({"exit_code": 1, "errors": b"line 3: oh\n"}, "ended with exit code 1: line 3: oh"),
    ({"exit_code": 3}, "ended with exit code 3"),
    ({"exit_code": 126}, "cannot be executed"),
    ({"exit_code": 127, "errors": b"sh: no"}, "was not found: sh: no"),
    ({"exit_code": 255}, "ended with exit code 255"),
    ({"exit_code": None, "signal": 9}, "was killed by SIGKILL"),
    ({"exit_code": None, "signal": 15, "timed_out": True}, "did not end in time"),
    ({"exit_code": None, "signal": 999}, "was killed by signal 999"),
    ({"exit_code": None}, "was killed"),
    ({"output": b"{"}, "wrote JSON that cannot be read: JSONDecodeError"),
    ({"output": b"{'decision': 'block'}"}, "wrote JSON that cannot be read: JSONDecodeError"),
    ({"output": b'{"decision": "\xff"}'}, "wrote JSON that cannot be read: UnicodeDecodeError"),
    ({"output": b'{"a": \0}'}, "wrote JSON that cannot be read: JSONDecodeError"),
    ({"output": b'{"a": ' * 100_000}, "wrote JSON that cannot be read: RecursionError"),
    ({"output": b'{"a": ' + b"9" * 5000 + b"}"}, "wrote JSON that cannot be read: ValueError"),
    ({"output": {"decision": "maybe"}}, "wrote a decision that is not known here"),
    ({"output": {"decision": ["block"]}}, "wrote a decision that is not known here"),
    ({"output": {"decision": "block", "reason": 5}}, "wrote a reason that is no text"),
    ({"output": {"continue": "no"}}, "wrote a `continue` that is neither true nor false"),
    ({"output": {"hookSpecificOutput": []}}, "wrote a `hookSpecificOutput` that is no object"),
    ({"output": {"hookSpecificOutput": {"hookEventName": "Setup"}}}, "answered another event"),
    (
        {"output": {"hookSpecificOutput": {"additionalContext": {}}}},
        "wrote `additionalContext` that is no text",
    ),
]


# Holds: shellhooks-2
@pytest.mark.parametrize("event", JUDGING)
@pytest.mark.parametrize(("ended", "said"), FAILURES)
def test_a_judging_hook_that_says_nothing_usable_denies(
    event: str, ended: dict[str, Any], said: str
) -> None:
    assert read(event, **ended) == Answer(denied=f"the hook `./check` of `{event}` {said}")


# Holds: shellhooks-3
@pytest.mark.parametrize("event", OTHERS)
@pytest.mark.parametrize(("ended", "said"), FAILURES)
def test_the_failure_of_another_hook_is_a_note(
    event: str, ended: dict[str, Any], said: str
) -> None:
    assert read(event, **ended) == Answer(notes=(f"the hook `./check` of `{event}` {said}",))


# Holds: shellhooks-1
@pytest.mark.parametrize("event", [*JUDGING, *OTHERS])
def test_exit_code_2_blocks_with_what_was_written_to_standard_error(event: str) -> None:
    answer = read(event, b'{"decision": "approve"}', b" no\x1b[2J \n", exit_code=2)

    assert answer == Answer(denied="no\\x1b[2J")
    assert read(event, exit_code=2) == Answer(denied="it gave no reason")


def specific(**fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **fields}}


# Holds: shellhooks-1
@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (b"", Answer()),
        (b"looks fine", Answer()),
        (b"[1]", Answer()),
        ({}, Answer()),
        ({"suppressOutput": True, "unknown": 1}, Answer()),
        (specific(permissionDecision="allow"), Answer()),
        (
            specific(permissionDecision="deny", permissionDecisionReason="no"),
            Answer(denied="no"),
        ),
        (specific(permissionDecision="ask", permissionDecisionReason="eh"), Answer(asked="eh")),
        ({"decision": "approve"}, Answer()),
        ({"decision": "block", "reason": "no"}, Answer(denied="no")),
        (
            {"decision": "approve", **specific(permissionDecision="deny")},
            Answer(denied="it gave no reason"),
        ),
        (
            specific(updatedInput={"command": "pwd"}, additionalContext="so"),
            Answer(changed=({"command": "pwd"},), contexts=("so",)),
        ),
        ({"continue": False}, Answer(stopped="a hook ended the turn")),
        ({"continue": False, "stopReason": "late"}, Answer(stopped="late")),
        ({"systemMessage": "look\x07"}, Answer(notes=("look\\x07",))),
    ],
)
def test_what_a_hook_of_pre_tool_use_says(output: Any, expected: Answer) -> None:
    assert read("PreToolUse", output) == expected


# Holds: shellhooks-2
@pytest.mark.parametrize("decision", ["defer", "Deny", "", 1])
def test_an_unknown_decision_about_a_call_denies_it(decision: Any) -> None:
    answer = read("PreToolUse", specific(permissionDecision=decision))

    assert answer.denied == (
        "the hook `./check` of `PreToolUse` wrote a decision that is not known here"
    )


# Holds: shellhooks-1
@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_plain_output_of_prompts_and_starts_is_for_the_model(event: str) -> None:
    assert read(event, b"main \xff\0 is red\n") == Answer(contexts=("main \ufffd\\x00 is red",))
    assert read(event, b"x" * 20_000) == Answer(contexts=(f"{'x' * 10_000}… (cut)",))


def test_json_that_is_cut_cannot_be_read() -> None:
    finished = FinishedHook(Ending(0), b'{"decision": "approve"}', is_cut=True)

    answer = read_answer(ShellHook("PreToolUse", "", "./check"), finished)

    assert answer == Answer(denied="the hook `./check` of `PreToolUse` wrote too much")


def test_several_answers_are_joined_and_none_is_lost() -> None:
    answers = [
        Answer(contexts=("a",), changed=({"x": 1},)),
        Answer(denied="no", notes=("n",)),
        Answer(denied="never", asked="eh", changed=({"x": 1},), contexts=("b",)),
        Answer(denied="no", stopped="late", changed=({"x": 2},)),
    ]

    assert join_answers(answers) == Answer(
        denied="no; never",
        asked="eh",
        changed=({"x": 1}, {"x": 2}),
        contexts=("a", "b"),
        stopped="late",
        notes=("n",),
    )
