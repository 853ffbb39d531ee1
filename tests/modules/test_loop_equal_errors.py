"""A call that fails in the same way again and again: the model is told, then the turn ends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.models import HookResult, ToolResult
from amplifier_modules.loops.answers.response import RequestedCall
from amplifier_modules.loops.call_errors import EqualErrors
from amplifier_modules.loops.streaming import StreamingLoop
from amplifier_modules.loops.tool_answer import Answer


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


def fail(_given: dict[str, Any]) -> str:
    raise ValueError("no such table")


def asks(say: Any, count: int, **given: Any) -> list[Any]:
    return [say.calls((str(number), "look", given)) for number in range(count)]


async def results(turn: Any) -> list[str]:
    return [each["content"] for each in await turn.history() if each["role"] == "tool"]


# Holds: agent-13
@pytest.mark.parametrize("kind", ["basic", "streaming"])
async def test_the_third_equal_error_is_told_and_the_fifth_ends_the_turn(kind, bench, say, valid):
    turn = bench(kind, *asks(say, 6, x=1), say.text("never"))
    turn.tool("look", fail)

    answer = await turn.run("hi")

    reason = "the same call of `look` failed 5 times in a row: ValueError: no such table"
    assert answer == f"The turn was ended: {reason}."
    complete = turn.data("orchestrator:complete")[0]
    assert (complete["status"], complete["reason"]) == ("incomplete", reason)
    assert complete["error"] == {"tool_name": "look", "msg": reason}
    assert turn.data("execution:end")[0]["status"] == "error"
    assert len(turn.provider.requests) == 5
    history = await turn.history()
    valid(history)
    assert history[-1]["role"] == "assistant"
    told = ["Do not repeat it" in text for text in await results(turn)]
    assert told == [False, False, True, True, False]


async def test_a_success_or_another_error_is_no_repetition(bench, say):
    outcomes = iter([fail, fail, lambda _given: "seen", fail, fail])
    turn = bench("basic", *asks(say, 5, x=1), say.text("done"), config={"max_equal_errors": 3})
    turn.tool("look", lambda given: next(outcomes)(given))
    assert await turn.run("hi") == "done"

    numbers = iter(range(9))

    def fail_anew(_given: dict[str, Any]) -> str:
        raise ValueError(f"error {next(numbers)}")

    turn = bench("basic", *asks(say, 9, x=1), say.text("done"))
    turn.tool("look", fail_anew)
    assert await turn.run("hi") == "done"

    script = [say.calls((str(number), "look", {"x": number})) for number in range(9)]
    turn = bench("basic", *script, say.text("done"))
    turn.tool("look", fail)
    assert await turn.run("hi") == "done"


async def test_equal_calls_of_one_answer_count_once(bench, say):
    calls = [(str(number), "look", {"x": 1}) for number in range(9)]
    turn = bench("basic", say.calls(*calls), say.text("done"))
    turn.tool("look", fail)
    assert await turn.run("hi") == "done"


@pytest.mark.parametrize("what", ["denied", "unknown", "unsuccessful", "misfit"])
async def test_every_kind_of_error_counts(what, bench, say):
    given: dict[str, Any] = {"x": "one"} if what == "misfit" else {"x": 1}
    turn = bench("basic", *asks(say, 9, **given), config={"max_equal_errors": 2})
    if what != "unknown":
        turn.tool("look", lambda _given: ToolResult(success=False, output="broken"))
    if what == "denied":
        turn.hook("tool:pre", lambda _event, _data: HookResult(action="deny", reason="not here"))
    await turn.run("hi")
    assert len(turn.provider.requests) == 2
    assert "`look` failed 2 times in a row" in turn.data("orchestrator:complete")[0]["reason"]


async def test_without_a_limit_no_turn_is_given_up(bench, say):
    turn = bench("basic", *asks(say, 20, x=1), say.text("done"), config={"max_equal_errors": -1})
    turn.tool("look", fail)
    assert await turn.run("hi") == "done"
    assert set(await results(turn)) == {"Error: tool `look` failed: ValueError: no such table"}


async def test_the_next_turn_begins_to_count_anew(bench, say):
    turn = bench("basic", *asks(say, 5, x=1), *asks(say, 4, x=1), say.text("done"))
    turn.tool("look", fail)
    await turn.run("hi")
    assert await turn.run("again") == "done"


@pytest.mark.parametrize("value", [1, 0, -2, "5"])
def test_a_limit_that_cannot_be_used_is_refused(value: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"`max_equal_errors` .* at least 2, or -1"):
        StreamingLoop({"max_equal_errors": value})


# Holds: agent-13
@given(
    st.integers(2, 6),
    st.lists(
        st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["", "e", "f"])), min_size=1)
    ),
)
def test_a_turn_is_given_up_when_and_only_when_a_call_failed_so_often(
    most: int, rounds: list[list[tuple[str, str]]]
) -> None:
    errors = EqualErrors(most)
    counts: dict[tuple[str, str], int] = {}
    for calls in rounds:
        errors.note(
            (RequestedCall("1", name, {}), Answer(error or "fine", is_error=bool(error)))
            for name, error in calls
        )
        if any(not error for _, error in calls):
            counts.clear()
        for failure in {each for each in calls if each[1]}:
            counts[failure] = counts.get(failure, 0) + 1
        assert (errors.given_up is not None) == (max(counts.values(), default=0) >= most)
        if errors.given_up is not None:
            return
