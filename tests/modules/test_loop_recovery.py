"""Errors that a model with calls in tags can correct: what it is told, and what is stored."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_core.llm_errors import AuthenticationError, ConfigurationError
from amplifier_core.models import HookResult
from amplifier_modules.loops.call_errors import NO_NAME
from amplifier_modules.loops.recoverable_errors import ErrorKind, RecoverableError
from amplifier_modules.loops.recovery import RECOVERABLE_ERROR
from amplifier_stream import ToolCallParser

REMINDER = re.compile(r"<system-reminder>(.*?)</system-reminder>", re.DOTALL)
LOOK = 'Example of a call: <tool>{"tool_name": "look", "arguments": {"x": 1}}</tool>'


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def written(name: str, **arguments: Any) -> str:
    call = json.dumps({"tool_name": name, "arguments": arguments})
    return f"<tool>{call}</tool>"


def tagged(bench: Any, say: Any, kind: str, *texts: Any, **config: Any) -> Any:
    """A turn of a model that writes its calls as text, with a tool that works and one that fails."""
    script = [say.text(text) if isinstance(text, str) else text for text in texts]
    turn = bench(kind, *script, config=config)
    turn.provider.tool_tags = ("tool",)
    turn.hook(RECOVERABLE_ERROR, lambda event, data: turn.events.append((event, data)))

    def fail(_given: dict[str, Any]) -> str:
        raise ValueError("no such table")

    turn.tool("look", lambda _given: "seen").input_schema |= {"required": ["x"]}
    turn.tool("fail", fail)
    return turn


def told(turn: Any) -> list[str | None]:
    """Return the reminder in each request; None without one."""
    found: list[str | None] = []
    for request in turn.provider.requests:
        texts = REMINDER.findall("\n".join(str(each.content) for each in request.messages))
        assert len(texts) < 2
        found.append(texts[0].replace("\\n", "\n") if texts else None)
    return found


async def results(turn: Any) -> list[str]:
    return [each["content"] for each in await turn.history() if each["role"] == "tool"]


UNREADABLE = "expected a key in double quotes, found `bad` at byte 1"


# Holds: agent-25
@pytest.mark.parametrize(
    ("text", "reminder", "result"),
    [
        (
            "<tool>{bad</tool>",
            f"Write your call again as one complete call. Found: the call cannot be read: {UNREADABLE}.\n{LOOK}",
            f"Error: the call cannot be used: {UNREADABLE}; write it again",
        ),
        (
            '<tool>{"tool_name": "look", "argum',
            (
                "Write your call again as one complete call. Found: the call cannot be read: the call has"
                f" no closing tag.\n{LOOK}"
            ),
            (
                "Error: the arguments of `look` cannot be used: the call has no closing tag; call it"
                " again with one complete JSON object"
            ),
        ),
        (
            '<tool>{"arguments": {}}</tool>',
            (
                "Write your call again with the name of a tool. It has none. The tools: `fail`,"
                f" `look`.\n{LOOK}"
            ),
            "Error: the call has no tool name (mounted: `fail`, `look`)",
        ),
        (
            written("lok", x=1),
            (
                "Write your call again with the name of an existing tool. There is no tool `lok`. Did"
                f" you mean `look`?\n{LOOK}"
            ),
            "Error: unknown tool `lok` (mounted: `fail`, `look`); did you mean `look`?",
        ),
        (
            written("send", x=1),
            (
                "Write your call again with the name of an existing tool. There is no tool `send`. The"
                f" tools: `fail`, `look`.\n{LOOK}"
            ),
            "Error: unknown tool `send` (mounted: `fail`, `look`)",
        ),
        (
            written("fail"),
            (
                "Change the arguments of your call, or go on without it. `fail` failed; its result says"
                " why."
            ),
            "Error: tool `fail` failed: ValueError: no such table",
        ),
    ],
)
async def test_the_model_is_told_what_to_do_in_a_message_that_is_not_stored(
    text, reminder, result, kind, bench, say, valid
):
    turn = tagged(bench, say, kind, text, "done")

    assert await turn.run("hi") == "done"
    assert told(turn) == [None, reminder]
    history = await turn.history()
    valid(history)
    assert await results(turn) == [result]
    assert "system-reminder" not in str(history)


async def test_arguments_that_do_not_fit_are_told_with_what_would(bench, say):
    turn = tagged(bench, say, "basic", written("look", x="one"), "done")

    await turn.run("hi")

    assert told(turn)[1] == (
        "Write your call again with arguments that fit the schema of `look`. Found: argument `/x` of"
        ' `look` must be of type integer, found "one"; correct the arguments and call `look` again.'
        f"\n{LOOK}"
    )


async def test_a_denied_call_is_told_as_such(bench, say):
    turn = tagged(bench, say, "basic", written("look", x=1), "done")
    turn.hook("tool:pre", lambda _event, _data: HookResult(action="deny", reason="not here"))

    await turn.run("hi")

    assert told(turn)[1] == (
        "Go on without your call. The call of `look` was denied; its result says why."
    )


async def test_each_call_of_an_answer_has_its_number_and_its_own_error(kind, bench, say, valid):
    text = "".join([written("look", x=1), "<tool>{bad</tool>", written("fail"), written("lok")])
    turn = tagged(bench, say, kind, text, "done")

    await turn.run("hi")

    lines = [
        f"Write call 2 of 4 again as one complete call. Found: the call cannot be read: {UNREADABLE}.",
        (
            "Change the arguments of call 3 of 4, or go on without it. `fail` failed; its result says"
            " why."
        ),
        (
            "Write call 4 of 4 again with the name of an existing tool. There is no tool `lok`. Did you"
            " mean `look`?"
        ),
    ]
    assert (told(turn)[1] or "").split("\n") == [
        *lines, "Do not repeat the other calls: they succeeded.", LOOK
    ]  # fmt: skip
    history = await turn.history()
    valid(history)
    ids = [each["tool_call_id"] for each in history if each["role"] == "tool"]
    assert turn.data(RECOVERABLE_ERROR) == [
        {
            "kind": what, "tool_name": name, "tool_call_id": ids[index], "index": index,
            "iteration": 1, "count": 0, "message": line,
        }
        for index, what, name, line in zip(
            (1, 2, 3), ("bad_payload", "tool_failed", "unknown_tool"), ("", "fail", "lok"), lines,
            strict=True,
        )
    ]  # fmt: skip


async def test_five_identical_errors_end_the_turn_with_an_error(kind, bench, say, valid):
    turn = tagged(bench, say, kind, *[written("lok", x=number) for number in range(6)])

    answer = await turn.run("hi")

    reason = (
        "5 identical errors in a row: unknown tool `lok` (mounted: `fail`, `look`); did you mean"
        " `look`?"
    )
    assert answer == f"The turn was ended: {reason}."
    assert len(turn.provider.requests) == 5
    complete = turn.data("orchestrator:complete")[0]
    assert (complete["status"], complete["reason"]) == ("incomplete", reason)
    assert complete["error"] == {"tool_name": "lok", "msg": reason}
    assert turn.data("execution:end")[0]["status"] == "error"
    history = await turn.history()
    valid(history)
    assert history[-1]["role"] == "assistant"
    repeated = [re.findall(r"occurred (\d) times in a row", each or "") for each in told(turn)]
    assert repeated == [[], [], [], ["3"], ["4"]]
    assert [data["count"] for data in turn.data(RECOVERABLE_ERROR)] == [1, 2, 3, 4, 5]


async def test_the_result_of_an_agent_has_the_status_error():
    @tool
    def look() -> str:
        """Look."""
        return "seen"

    model = ScriptedProvider(["<tool>{bad</tool>"], repeat=True)
    model.tool_tags = ("tool",)  # pyright: ignore[reportAttributeAccessIssue] -- read by name
    result = await Agent(model, tools=[look]).run("Hi")
    reason = f"5 identical errors in a row: the call cannot be read: {UNREADABLE}"
    assert (result.status, result.reason) == ("error", reason)
    assert result.model_calls == 5


async def test_a_success_forgets_all_errors_and_so_does_a_success_beside_an_error(bench, say):
    bad = "<tool>{bad</tool>"
    four = [bad] * 4
    turn = tagged(
        bench, say, "basic", *four, written("look", x=1), *four, bad + written("look", x=1), *four,
        "done",
    )  # fmt: skip
    assert await turn.run("hi") == "done"


async def test_an_answer_that_only_steering_continues_forgets_all_errors(bench, say):
    four = ["<tool>{bad</tool>"] * 4

    def hello(_request: Any) -> Any:
        steer("More.")
        return say.text("hello")

    turn = tagged(bench, say, "streaming", *four, hello, *four, "done")
    steer = (await turn.loop()).steer
    assert await turn.run("hi") == "done"


async def test_a_cancelled_turn_is_told_nothing(kind, bench, say, valid):
    turn = tagged(bench, say, kind, written("stop"))

    def stop(_given: dict[str, Any]) -> str:
        turn.token.request_graceful()
        raise ValueError("stopped")

    turn.tool("stop", stop)
    await turn.run("hi")
    assert turn.data(RECOVERABLE_ERROR) == []
    assert turn.data("execution:end")[0]["status"] == "cancelled"
    valid(await turn.history())


async def test_bad_payloads_that_differ_in_their_details_are_identical(bench, say):
    turn = tagged(bench, say, "basic", *[f"<tool>{{bad{number}</tool>" for number in range(6)])
    await turn.run("hi")
    assert len(turn.provider.requests) == 5


async def test_equal_calls_of_one_answer_are_one_entry(bench, say):
    turn = tagged(bench, say, "basic", "<tool>{bad</tool>" * 9, "done")
    assert await turn.run("hi") == "done"


@pytest.mark.parametrize(("most", "calls"), [(2, 2), (3, 3), (-1, 12)])
async def test_max_equal_errors_is_the_size_of_the_ring(most, calls, bench, say):
    script = ["<tool>{bad</tool>"] * 11
    turn = tagged(bench, say, "basic", *script, "done", max_equal_errors=most)
    await turn.run("hi")
    assert len(turn.provider.requests) == calls


# Holds: agent-27
async def test_an_answer_without_a_call_ends_the_turn_unless_one_is_required(kind, bench, say):
    turn = tagged(bench, say, kind, "hello", "never")
    assert await turn.run("hi") == "hello"

    turn = tagged(
        bench, say, kind, "hello", written("look", x=1), "hello again", written("finish"),
        require_call=True,
    )  # fmt: skip
    turn.tool("finish", lambda _given: "the end").is_loop_breaking = True
    assert await turn.run("hi") == "the end"
    call = (
        "Call a tool now: your last message has no tool call, and only a tool can end the task.\n"
        'Example of a call: <tool>{"tool_name": "finish", "arguments": {"x": 1}}</tool>'
    )
    assert told(turn) == [None, call, None, call]
    texts = [
        block["text"]
        for message in await turn.history()
        if message["role"] == "assistant"
        for block in message["content"]
        if block["type"] == "text"
    ]
    assert texts == ["hello", "hello again", "the end"]


async def test_a_model_with_native_calls_is_told_so_too_without_an_example(kind, bench, say):
    turn = bench(
        kind, say.text("hello"), say.calls(("1", "finish", {})), config={"require_call": True}
    )
    turn.tool("finish", lambda _given: "the end").is_loop_breaking = True
    assert await turn.run("hi") == "the end"
    assert told(turn) == [
        None,
        "Call a tool now: your last message has no tool call, and only a tool can end the task.",
    ]


async def test_five_answers_without_a_required_call_end_the_turn(kind, bench, say):
    turn = bench(
        kind, *[say.text(f"no {each}") for each in range(6)], config={"require_call": True}
    )
    turn.tool("finish", lambda _given: "the end").is_loop_breaking = True
    assert await turn.run("hi") == "no 4"
    reason = "5 identical errors in a row: an answer without a tool call"
    complete = turn.data("orchestrator:complete")[0]
    assert complete["error"] == {"tool_name": "", "msg": reason}
    assert turn.data("execution:end") == [{"response": "no 4", "status": "error"}]


# Holds: agent-27
async def test_a_required_call_without_a_tool_that_ends_turns_is_refused(bench, say):
    turn = bench("basic", say.text("never"), config={"require_call": True})
    turn.tool("look", lambda _given: "seen")
    with pytest.raises(ConfigurationError, match="mount `tool-conversation`, or set"):
        await turn.run("hi")
    assert turn.provider.requests == []
    assert await turn.history() == []


async def test_errors_that_cannot_be_corrected_end_the_turn(kind, bench, say, valid):
    error = AuthenticationError("no key", provider="scripted")
    turn = tagged(bench, say, kind, "<tool>{bad</tool>", error)
    with pytest.raises(AuthenticationError):
        await turn.run("hi")
    valid(await turn.history())


async def test_the_closing_call_at_the_limit_is_told_of_no_error(bench, say):
    turn = tagged(bench, say, "basic", "<tool>{bad</tool>", "so far", max_iterations=1)
    assert await turn.run("hi") == "so far"
    assert "cannot be read" not in str(told(turn)[1])


async def test_native_calls_are_counted_as_before_and_told_nothing_more(bench, say):
    turn = bench("basic", *[say.calls((str(each), "lok", {})) for each in range(6)])
    await turn.run("hi")
    assert told(turn) == [None] * 5
    assert (
        "the same call of `lok` failed 5 times" in turn.data("orchestrator:complete")[0]["reason"]
    )


def test_the_parser_reports_a_call_without_a_name_as_recovery_expects() -> None:
    for text in ('<tool>{"arguments": {}}</tool>', "<tool></tool>", "<tool><arguments/></tool>"):
        parser = ToolCallParser(["tool"])
        [call] = [event.call for event in parser.feed(text) + parser.flush() if event.call]
        assert (call.name, (call.error or "")[: len(NO_NAME)]) == ("", NO_NAME)


def test_what_a_tool_said_is_part_of_what_makes_its_errors_identical() -> None:
    one = RecoverableError(ErrorKind.TOOL_FAILED, "no table a", "look", "1", 0)
    assert (
        one.identity == RecoverableError(ErrorKind.TOOL_FAILED, "no table a", "look", "2").identity
    )
    assert one.identity != RecoverableError(ErrorKind.TOOL_FAILED, "no table b", "look").identity
