"""Any sequence of answers ends as the rules of recovery say; the rules are written here plainly."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_core import _engine
from amplifier_core.coordinator import ModuleCoordinator
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock
from amplifier_core.models import ToolResult
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.loops.basic import BasicLoop
from amplifier_modules.loops.streaming import StreamingLoop

COORDINATORS = [_engine.RustCoordinator, ModuleCoordinator]
LOOPS = [BasicLoop, StreamingLoop]
EVENTS = ("agent:recoverable_error", "orchestrator:complete", "execution:end")
REMINDER = re.compile(r"<system-reminder>(.*?)</system-reminder>", re.DOTALL)


@dataclass(frozen=True)
class Piece:
    """A call as the model writes it, and what becomes of it."""

    written: str
    name: str
    result: str
    kind: str | None = None
    line: str = ""
    found: str = ""
    """How the reason of a turn quotes the error, if not as its result."""
    meant: str | None = None
    """The tool that an example calls; None where the error is not about the form of calls."""
    is_unreadable: bool = False


def call(name: str, **arguments: Any) -> str:
    return json.dumps({"tool_name": name, "arguments": arguments})


UNREADABLE = "expected a key in double quotes, found `bad` at byte 1"
MISFIT = (
    'argument `/x` of `look` must be of type integer, found "one"; correct the arguments and call'
)
PIECES = {
    "good": Piece(call("look", x=1), "look", "seen"),
    "finish": Piece(call("finish"), "finish", "the end"),
    "bad": Piece(
        "{bad",
        "",
        f"Error: the call cannot be used: {UNREADABLE}; write it again",
        "bad_payload",
        f"Write {{call}} again as one complete call. Found: the call cannot be read: {UNREADABLE}.",
        f"the call cannot be read: {UNREADABLE}",
        "",
        is_unreadable=True,
    ),
    "nameless": Piece(
        '{"arguments": {}}',
        "",
        "Error: the call has no tool name (mounted: `fail`, `finish`, `look`)",
        "no_tool_name",
        "Write {call} again with the name of a tool. It has none. The tools: `fail`, `finish`,"
        " `look`.",
        meant="",
        is_unreadable=True,
    ),
    "unknown": Piece(
        call("lok", x=1),
        "lok",
        "Error: unknown tool `lok` (mounted: `fail`, `finish`, `look`); did you mean `look`?",
        "unknown_tool",
        "Write {call} again with the name of an existing tool. There is no tool `lok`. Did you mean"
        " `look`?",
        meant="look",
    ),
    "misfit": Piece(
        call("look", x="one"),
        "look",
        f"Error: {MISFIT} `look` again",
        "bad_arguments",
        f"Write {{call}} again with arguments that fit the schema of `look`. Found: {MISFIT} `look`"
        " again.",
        meant="look",
    ),
    "fail": Piece(
        call("fail"),
        "fail",
        "Error: tool `fail` failed: ValueError: broken",
        "tool_failed",
        "Change the arguments of {call}, or go on without it. `fail` failed; its result says why.",
    ),
}
NO_CALL = Piece(
    "",
    "",
    "an answer without a tool call",
    "no_tool_call",
    "Call a tool now: your last message has no tool call, and only a tool can end the task.",
    meant="",
)
EXAMPLES = {"look": call("look", x=1), "": call("finish")}


@dataclass(frozen=True)
class Program:
    """The answers of a model: the names of their calls, none for an answer of text."""

    answers: list[list[str]]
    tag: str
    require_call: bool
    most: int


CALLS = st.lists(
    st.sampled_from([name for name in PIECES if name != "finish"]), min_size=1, max_size=3
)
ERRORS = st.sampled_from([["bad"], ["unknown"], ["misfit"], ["fail", "bad"], ["bad", "fail"]])
RUNS = st.lists(
    st.tuples(CALLS | ERRORS | ERRORS, st.integers(1, 5)).map(lambda run: [run[0]] * run[1]),
    max_size=4,
).map(lambda runs: [answer for run in runs for answer in run])
PROGRAMS = st.builds(
    lambda before, between, after, tag, require_call, most: Program(
        before + between + after, tag, require_call, most
    ),
    RUNS,
    st.sampled_from([[], [], [[]], [[]] * 6, [["good"]], [["fail", "finish"]]]),
    RUNS,
    st.sampled_from(["tool", "call"]),
    st.booleans(),
    st.sampled_from([2, 3, 4, 5, 5, -1]),
)


@dataclass
class Course:
    """What a turn did, or must do."""

    answer: str
    reason: str | None
    status: str
    reminders: list[str | None]
    """What each request told the model."""
    history: list[tuple[Any, ...]]
    told: list[tuple[str, str, int | None, int, int]]
    """Kind, tool, index, iteration and count of each error."""


def course_by_the_rules(program: Program) -> Course:
    course = Course("", None, "completed", [], [("user", "go")], [])
    latest: list[list[tuple[str, str, str]]] = []
    reminder: str | None = None
    for iteration, names in enumerate([*program.answers, ["finish"]], 1):
        course.reminders.append(reminder)
        reminder = None
        if names:
            pieces = [PIECES[name] for name in names]
            course.history.append(("assistant", "", [each.name for each in pieces]))
            for each in pieces:
                course.history.append(("tool", each.name, each.result, each.kind is not None))
            if "finish" in names:
                course.answer = "the end"
                course.history.append(("assistant", "the end", []))
                return course
        else:
            course.answer = "hello"
            course.history.append(("assistant", "hello", []))
            if not program.require_call:
                return course
            pieces = [NO_CALL]
        errors = [(index, each) for index, each in enumerate(pieces) if each.kind is not None]
        is_success = len(errors) < len(pieces)
        if is_success:
            latest = []
        else:
            latest.append([identity(each) for _, each in errors])
        counts: list[int] = []
        for _, each in errors:
            counts.append(0)
            for answer in reversed(latest):
                if identity(each) not in answer:
                    break
                counts[-1] += 1
        for (index, each), count in zip(errors, counts, strict=True):
            place = index if names else None
            course.told.append((str(each.kind), each.name, place, iteration, count))
        for (_, each), count in zip(errors, counts, strict=True):
            if count == program.most:
                found = each.found or each.result.removeprefix("Error: ")
                course.reason = f"{program.most} identical errors in a row: {found}"
                course.status = "error"
                if not course.answer:
                    course.answer = f"The turn was ended: {course.reason}."
                if names:
                    closing = f"The turn was ended: {course.reason}."
                    course.history.append(("assistant", closing, []))
                return course
        if errors:
            reminder = "\n".join(lines(program, pieces, errors, counts, is_success))
    raise AssertionError


def identity(piece: Piece) -> tuple[str, str, str]:
    return str(piece.kind), piece.name, "" if piece.is_unreadable else piece.result


def lines(
    program: Program,
    pieces: list[Piece],
    errors: list[tuple[int, Piece]],
    counts: list[int],
    is_success: bool,
) -> list[str]:
    total = len(pieces)
    told = [
        each.line.format(call="your call" if total == 1 else f"call {index + 1} of {total}")
        for index, each in errors
    ]
    if is_success:
        told.append("Do not repeat the other calls: they succeeded.")
    if program.most != -1 and max(counts) >= max(2, program.most - 2):
        told.append(
            f"The same error occurred {max(counts)} times in a row. After {program.most} times the"
            " task is ended."
        )
    meant = [each.meant for _, each in errors if each.meant is not None]
    if meant:
        example = EXAMPLES[next(filter(None, meant), "")]
        told.append(f"Example of a call: <{program.tag}>{example}</{program.tag}>")
    return told


class Model:
    """Writes its calls as text."""

    name = "model"

    def __init__(self, program: Program) -> None:
        self.tool_tags = (program.tag,)
        self.requests: list[ChatRequest] = []
        self._texts = [
            "".join(f"<{program.tag}>{PIECES[name].written}</{program.tag}>" for name in names)
            for names in [*program.answers, ["finish"]]
        ]

    async def complete(self, request: ChatRequest, **_options: Any) -> ChatResponse:
        text = self._texts[len(self.requests)] or "hello"
        self.requests.append(request)
        return ChatResponse(content=[TextBlock(text=text)])


class Tool:
    description = "A tool."

    def __init__(self, name: str, is_loop_breaking: bool = False) -> None:
        self.name = name
        self.is_loop_breaking = is_loop_breaking
        self.input_schema: dict[str, Any] = {"type": "object"}

    async def execute(self, _input: dict[str, Any]) -> ToolResult:
        if self.name == "fail":
            raise ValueError("broken")
        return ToolResult(output="the end" if self.name == "finish" else "seen")


async def course_of_the_turn(program: Program, coordinator: Any, loop_class: Any) -> Course:
    look = Tool("look")
    look.input_schema |= {"properties": {"x": {"type": "integer"}}, "required": ["x"]}
    tools = {"look": look, "fail": Tool("fail"), "finish": Tool("finish", True)}
    events: list[tuple[str, dict[str, Any]]] = []
    for event in EVENTS:
        coordinator.hooks.register(event, lambda name, data: events.append((name, data)))
    model, context = Model(program), SimpleContext()
    loop = loop_class({"max_equal_errors": program.most, "require_call": program.require_call})
    answer = await loop.execute(
        "go", context, {"model": model}, tools, coordinator.hooks, coordinator=coordinator
    )
    [complete] = [data for name, data in events if name == "orchestrator:complete"]
    [end] = [data for name, data in events if name == "execution:end"]
    keys = ("kind", "tool_name", "index", "iteration", "count")
    told = [tuple(data[key] for key in keys) for name, data in events if name == EVENTS[0]]
    history = await context.get_messages()
    assert_valid(history)
    return Course(
        answer,
        complete.get("reason"),
        end["status"],
        [reminder_in(request) for request in model.requests],
        [compared(message) for message in history],
        told,
    )


def reminder_in(request: ChatRequest) -> str | None:
    texts = [
        message.content
        if isinstance(message.content, str)
        else "\n".join(block.text for block in message.content if isinstance(block, TextBlock))
        for message in request.messages
    ]
    found = REMINDER.findall("\n".join(texts))
    assert len(found) < 2
    return found[0] if found else None


def compared(message: dict[str, Any]) -> tuple[Any, ...]:
    content = message["content"]
    if message["role"] == "user":
        return "user", content
    if message["role"] == "tool":
        return "tool", message["name"], content, message.get("is_error", False)
    texts = [block["text"] for block in content if block["type"] == "text"]
    return "assistant", "".join(texts), [each["tool"] for each in message.get("tool_calls", [])]


def assert_valid(history: list[dict[str, Any]]) -> None:
    """Check that each call has its result right behind it, and that nothing temporary is stored."""
    assert "system-reminder" not in str(history)
    waiting: list[str] = []
    for message in history:
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert waiting == []
        waiting = [each["id"] for each in message.get("tool_calls", [])]
    assert waiting == []
    assert history[-1]["role"] == "assistant"


# Holds: agent-26
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("coordinator", COORDINATORS, ids=["rust", "python"])
@settings(max_examples=40)
@given(program=PROGRAMS, loop_class=st.sampled_from(LOOPS))
def test_a_turn_goes_as_the_rules_say(
    backend: str, coordinator: Any, program: Program, loop_class: Any
) -> None:
    went = anyio.run(course_of_the_turn, program, coordinator(), loop_class, backend=backend)
    assert went == course_by_the_rules(program)
