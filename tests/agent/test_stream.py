"""A turn as a stream of events."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from amplifier_agent import (
    Agent,
    Budget,
    Event,
    QuestionAsked,
    Result,
    ScriptedProvider,
    Status,
    TextDelta,
    ThinkingDelta,
    ToolContext,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    tool,
)
from amplifier_modules.loops.boundary import cancellation

COLOUR: ContextVar[str] = ContextVar("colour", default="none")


@tool
async def count(context: ToolContext, n: int) -> str:
    """Count."""
    for each in range(n):
        context.progress(f"at {each}", each / n)
    return COLOUR.get()


@tool
def count_in_a_thread(context: ToolContext) -> str:
    """Count."""
    context.progress("half", 0.5)
    return "done"


SCRIPT: list[Any] = [
    [{"type": "thinking", "thinking": "hm"}, {"tool": "count", "arguments": {"n": 2}}],
    "It is done.",
]


def plain(event: Any) -> Any:
    if isinstance(event, Result):
        return event.status
    fields = {key: value for key, value in vars(event).items() if key != "raw"}
    return type(event).__name__, *fields.values()


# Holds: agent-3
async def test_the_events_of_a_turn_end_with_its_result() -> None:
    COLOUR.set("blue")
    stream = Agent(ScriptedProvider(SCRIPT), tools=[count]).stream("go")
    events = [event async for event in stream]
    assert [plain(event) for event in events] == [
        ("ThinkingDelta", "hm"),
        ("ToolStarted", "call_1", "count", {"n": 2}),
        ("ToolProgress", "call_1", "count", "at 1", 0.5),
        ("ToolFinished", "call_1", "count", "blue", False),
        ("TextDelta", "It "),
        ("TextDelta", "is "),
        ("TextDelta", "done."),
        "completed",
    ]
    assert stream.result is events[-1]
    assert all(isinstance(event.raw[0], str) for event in events if isinstance(event, Event))


async def test_an_answer_of_text_and_other_blocks_shows_them_all() -> None:
    script = [[{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "so"}]]
    events = [plain(event) async for event in Agent(ScriptedProvider(script)).stream("go")]
    assert events == [("ThinkingDelta", "hm"), ("TextDelta", "so"), "completed"]


async def test_a_tool_in_a_thread_tells_its_progress_before_it_ends() -> None:
    model = ScriptedProvider([{"tool": "count_in_a_thread"}, "ok"])
    kinds = [
        type(event).__name__ async for event in Agent(model, tools=[count_in_a_thread]).stream("go")
    ]
    assert kinds == ["ToolStarted", "ToolProgress", "ToolFinished", "TextDelta", "Result"]


async def test_a_refused_call_has_no_start_and_a_failed_one_is_an_error() -> None:
    @tool
    def fail() -> str:
        raise ValueError("broken")

    model = ScriptedProvider([[{"tool": "fail"}, {"tool": "gone"}], "ok"])
    events = [event async for event in Agent(model, tools=[fail]).stream("go")]
    started = [event.name for event in events if isinstance(event, ToolStarted)]
    finished = {event.name: event for event in events if isinstance(event, ToolFinished)}
    assert started == ["fail"]
    assert [finished[name].is_error for name in ("fail", "gone")] == [True, True]
    assert "broken" in finished["fail"].output


# Holds: agent-4
async def test_the_turn_runs_ahead_of_its_reader_but_no_step_does() -> None:
    ran: list[str] = []

    @tool
    def note(what: str) -> str:
        """Note."""
        ran.append(what)
        return "noted"

    call = {"tool": "note", "arguments": {"what": "it"}}
    words = "".join(f"{number} " for number in range(200))
    model = ScriptedProvider([[{"type": "text", "text": words}, call], "all of it", "next"])
    async with Agent(model, tools=[note]).session() as session:
        reached: list[tuple[str, int, int, bool]] = []
        async with session.stream("go") as stream:
            async for event in stream:
                is_over = session.last is not None
                step = (type(event).__name__, len(model.requests), len(ran), is_over)
                if step not in reached:
                    reached.append(step)
                for _ in range(20):
                    await anyio.lowlevel.checkpoint()
                if isinstance(event, TextDelta):  # nothing follows a piece that was not taken
                    assert (len(model.requests), len(ran)) == step[1:3]
        assert reached == [
            ("TextDelta", 1, 0, False),
            ("ToolStarted", 1, 0, False),
            ("ToolFinished", 1, 1, False),
            ("TextDelta", 2, 1, False),
            ("Result", 2, 1, True),
        ]
        async with session.stream("on") as stream:
            await anext(stream)
        assert session.last is not None
        assert session.last.status == "cancelled"


# Holds: agent-3
async def test_a_dropped_stream_cancels_its_turn() -> None:
    model = ScriptedProvider(["one two three", "next"])
    async with Agent(model).session() as session:
        async for event in session.stream("go"):
            assert isinstance(event, TextDelta)
            break
        gc.collect()
        assert (await session.run("on")).text == "next"


async def test_a_closed_stream_has_no_more_items_and_no_result() -> None:
    stream = Agent(ScriptedProvider(["one two"])).stream("go")
    await anext(stream)
    await stream.aclose()
    await stream.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    with pytest.raises(RuntimeError, match="the stream has no result yet"):
        _ = stream.result


async def test_a_stream_that_was_never_begun_runs_nothing() -> None:
    model = ScriptedProvider(["one"])
    stream = Agent(model).stream("go")
    await stream.aclose()
    assert model.requests == []


async def test_what_the_turn_raises_is_raised_where_the_items_are_taken() -> None:
    stream = Agent(ScriptedProvider([KeyError("gone")])).stream("go")
    with pytest.raises(KeyError, match="gone"):
        await anext(stream)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_another_turn_cannot_run_in_the_body_of_a_stream() -> None:
    async with Agent(ScriptedProvider(["one two", "next"])).session() as session:
        stream = session.stream("go")
        await anext(stream)
        later = session.stream("later")
        with pytest.raises(RuntimeError, match="in the body of a stream of the same session"):
            await session.run("now")
        with pytest.raises(RuntimeError, match="in the body of a stream of the same session"):
            await anext(later)
        assert [plain(event) async for event in stream][-1] == "completed"
        assert (await session.run("on")).text == "next"


async def test_a_limit_that_ends_a_turn_is_told_before_the_result() -> None:
    agent = Agent(ScriptedProvider(SCRIPT), tools=[count], budget=Budget(model_calls=1))
    *_, status, result = [event async for event in agent.stream("go")]
    assert isinstance(status, Status)
    assert status.text == "the turn was ended: the budget of 1 model call is used up"
    assert isinstance(result, Result)
    assert (result.status, result.text) == ("limit", "It is done.")


async def test_steering_reaches_the_model_before_its_next_call() -> None:
    model = ScriptedProvider([{"tool": "count", "arguments": {"n": 0}}, "ok"])
    async with Agent(model, tools=[count]).session() as session:
        async for event in session.stream("go"):
            if isinstance(event, ToolFinished):
                session.steer("Only in src.")
            if isinstance(event, Status):
                assert event.text == "a message to the model: Only in src."
    assert model.requests[1].messages[-1].content == "Only in src."


async def test_a_function_is_asked_and_the_stream_tells_it() -> None:
    @tool(needs_approval=True)
    def wipe(path: str) -> str:
        return f"{path} is gone"

    for answer, output in ((True, "old is gone"), (False, "User denied: ")):
        asked: list[Any] = []

        def decide(question: Any, asked: list[Any] = asked, answer: bool = answer) -> bool:
            asked.append(question)
            return answer

        model = ScriptedProvider([{"tool": "wipe", "arguments": {"path": "old"}}, "ok"])
        agent = Agent(model, tools=[wipe], approvals=decide)
        events = [event async for event in agent.stream("go")]
        [told] = [event for event in events if isinstance(event, QuestionAsked)]
        [finished] = [event for event in events if isinstance(event, ToolFinished)]
        assert told.question.id == asked[0].id
        assert (asked[0].tool_name, asked[0].arguments) == ("wipe", {"path": "old"})
        assert asked[0].action == "run `wipe`?\n| `path`: `old`"
        assert str(finished.output).startswith(output)
        assert finished.is_error is not answer


async def test_a_question_can_wait_and_be_answered_by_its_id() -> None:
    @tool(needs_approval=True)
    def wipe(path: str) -> str:
        return f"{path} is gone"

    model = ScriptedProvider([{"tool": "wipe", "arguments": {"path": "old"}}, "ok"])
    async with Agent(model, tools=[wipe], approvals="wait").session() as session:
        async for event in session.stream("go"):
            if isinstance(event, QuestionAsked):
                assert session.questions == (event.question,)
                session.answer(event.question.id, True)
                with pytest.raises(LookupError, match="waits for an answer"):
                    session.answer(event.question.id, False)
            if isinstance(event, ToolFinished):
                assert event.output == "old is gone"
        assert session.questions == ()
        with pytest.raises(LookupError, match="no question `x` waits for an answer"):
            session.answer("x", True)


async def test_events_of_sub_agents_are_not_the_answer() -> None:
    child = Agent(ScriptedProvider(["inner words"]))
    model = ScriptedProvider([{"tool": "ask", "arguments": {"prompt": "?"}}, "outer"])
    agent = Agent(model, tools=[child.as_tool("ask", "Asks.")])
    texts = [event.text async for event in agent.stream("go") if isinstance(event, TextDelta)]
    assert texts == ["outer"]


@pytest.mark.parametrize("kind", [ThinkingDelta, ToolProgress])
def test_events_are_frozen(kind: Callable[..., Any]) -> None:
    values = dict.fromkeys(("text", "id", "name", "message", "fraction"))
    names = getattr(kind, "__dataclass_fields__")  # noqa: B009
    event = kind(**{name: values.get(name) for name in names})
    with pytest.raises(AttributeError):
        event.raw = ("x", {})


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_stream_that_outlives_its_loop_is_not_waited_for_and_dropped_in_silence(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancellation, "GRACE_SECONDS", math.inf)

    async def begin() -> Any:
        stream = Agent(ScriptedProvider(["one two three"])).stream("go")
        await anext(stream)
        return stream

    stream = anyio.run(begin, backend=backend)
    del stream
    gc.collect()
