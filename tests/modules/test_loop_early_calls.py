"""Calls that run while the model still writes its answer."""

from __future__ import annotations

import asyncio

import anyio
import anyio.lowlevel
import pytest

from amplifier_core.message_models import ChatResponse, TextBlock
from amplifier_modules.loops.answers.response import RequestedCall
from amplifier_modules.loops.boundary.cancellation import TurnCancellation
from amplifier_modules.loops.boundary.hook_points import HookPoints
from amplifier_modules.loops.settings import LoopSettings
from amplifier_modules.loops.tool_calls import INTERRUPTED, NOT_STARTED, ToolRound
from amplifier_modules.loops.turn_history import TurnHistory
from amplifier_modules.loops.turn_state import CallRules, LoopState, TurnState


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


class Streamed:
    """A round of a bench whose calls are handed over one by one."""

    def __init__(self, turn, **rules):
        self.turn = turn
        self.round = ToolRound(
            TurnState(
                LoopState("loop-basic", LoopSettings()),
                turn.tools,
                HookPoints(turn.coordinator.hooks, turn.coordinator),
                TurnCancellation(turn.coordinator),
                TurnHistory(turn.context),
                CallRules(**rules),
                LookupError("no model"),
            )
        )

    async def run(self, ask):
        """Await an answer, and run its calls, as a turn does."""
        async with self.round as calls:
            response = await calls.ask(ask)
            found = [
                RequestedCall(each.id, each.name, each.arguments) for each in response.tool_calls
            ]
            await calls.remember(response, found)
            await calls.finish()

    async def results(self):
        history = await self.turn.history()
        return [
            (each["tool_call_id"], each["content"]) for each in history if each["role"] == "tool"
        ]


def call(id, name, **arguments):
    return RequestedCall(id, name, arguments)


# Holds: sink-36
async def test_a_call_runs_while_the_answer_goes_on_and_is_not_run_again(bench, say, valid):
    turn = bench("basic")
    streamed = Streamed(turn, most_at_once=1)
    order = []
    look = turn.tool(
        "look", lambda given: order.append(f"look {given['x']}") or f"seen {given['x']}"
    )

    async def ask():
        streamed.round.start(call("1", "look", x=1))
        await anyio.wait_all_tasks_blocked()
        order.append("more of the answer")
        streamed.round.start(call("2", "look", x=2))
        order.append("the end of the answer")
        return say.calls(*[(str(x), "look", {"x": x}) for x in (1, 2, 3)], text="on it")

    await streamed.run(ask())
    assert order == [
        "look 1", "more of the answer", "the end of the answer", "look 2", "look 3",
    ]  # fmt: skip
    assert [given["x"] for given in look.inputs] == [1, 2, 3]
    assert await streamed.results() == [("1", "seen 1"), ("2", "seen 2"), ("3", "seen 3")]
    history = await turn.history()
    valid(history)
    assert history[0]["content"][0] == {"type": "text", "text": "on it"}
    assert len({data["parallel_group_id"] for data in turn.data("tool:pre")}) == 1


async def test_results_are_in_the_order_of_the_answer(bench, say, valid):
    turn = bench("basic")
    streamed = Streamed(turn)
    turn.tool("look", lambda given: f"seen {given['x']}")

    async def ask():
        for x in (3, 1):
            streamed.round.start(call(str(x), "look", x=x))
            await anyio.wait_all_tasks_blocked()
        return say.calls(*[(str(x), "look", {"x": x}) for x in (1, 2, 3)])

    await streamed.run(ask())
    assert await streamed.results() == [("1", "seen 1"), ("2", "seen 2"), ("3", "seen 3")]
    valid(await turn.history())


async def test_a_call_without_an_id_of_its_own_is_found_by_its_arguments(bench, say, valid):
    turn = bench("basic")
    streamed = Streamed(turn)
    look = turn.tool("look", lambda given: "seen")

    async def ask():
        streamed.round.start(call("call_new", "look", x=1))
        return say.calls(("call_other", "look", {"x": 1}), ("call_third", "look", {"x": 1}))

    await streamed.run(ask())
    assert len(look.inputs) == 2
    valid(await turn.history())


async def test_a_call_that_the_answer_takes_back_keeps_its_result(bench, say, valid):
    turn = bench("basic")
    streamed = Streamed(turn)
    turn.tool("look", lambda given: f"seen {given['x']}")

    async def ask():
        streamed.round.start(call("1", "look", x=1))
        return say.calls(("2", "look", {"x": 2}))

    await streamed.run(ask())
    assert await streamed.results() == [("2", "seen 2"), ("1", "seen 1")]
    valid(await turn.history())


# Holds: sink-37
async def test_a_call_that_is_taken_back_while_it_waits_never_runs(bench, say, valid):
    turn = bench("basic")
    streamed = Streamed(turn, most_at_once=1)
    go = anyio.Event()

    async def look(given):
        await go.wait()
        return f"seen {given['x']}"

    tool = turn.tool("look", look)

    async def ask():
        for x in (1, 2, 3):
            streamed.round.start(call(str(x), "look", x=x))
        await anyio.wait_all_tasks_blocked()
        streamed.round.withdraw("2")
        go.set()
        return say.calls(("1", "look", {"x": 1}))

    await streamed.run(ask())
    assert tool.inputs == [{"x": 1}], "the third is not in the answer either"
    assert await streamed.results() == [("1", "seen 1")]
    valid(await turn.history())


async def test_a_call_that_is_taken_back_while_it_is_judged_never_runs(bench, say, valid):
    turn = bench("basic")
    streamed = Streamed(turn)
    tool = turn.tool("look", lambda given: f"seen {given['x']}")

    async def judge(event, data):
        if data["tool_input"]["x"] == 1:
            await anyio.sleep_forever()

    turn.hook("tool:pre", judge)

    async def ask():
        streamed.round.start(call("1", "look", x=1))
        await anyio.wait_all_tasks_blocked()
        streamed.round.withdraw("1")
        streamed.round.start(call("2", "look", x=2))
        return say.calls(("2", "look", {"x": 2}))

    with anyio.fail_after(10):
        await streamed.run(ask())
    assert tool.inputs == [{"x": 2}]
    assert await streamed.results() == [("2", "seen 2")]
    valid(await turn.history())


# Holds: sink-37
async def test_an_equal_call_of_the_answer_that_starts_again_has_the_result_of_the_first(
    bench, say, valid
):
    turn = bench("basic")
    streamed = Streamed(turn)
    tool = turn.tool("look", lambda given: f"seen {given['x']}")

    async def ask():
        streamed.round.start(call("1", "look", x=1))
        await anyio.wait_all_tasks_blocked()
        streamed.round.withdraw("1")
        streamed.round.start(call("9", "look", x=1))
        return say.calls(("9", "look", {"x": 1}))

    await streamed.run(ask())
    assert tool.inputs == [{"x": 1}]
    assert await streamed.results() == [("9", "seen 1")]
    valid(await turn.history())


async def test_limits_and_exclusive_tools_hold_for_early_calls(bench, say, valid):
    turn = bench("basic")
    streamed = Streamed(turn, most_at_once=2)
    running, most = [], []

    async def run(given):
        running.append(given["x"])
        most.append(list(running))
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        running.remove(given["x"])
        return "done"

    turn.tool("look", run)
    turn.tool("write", run).parallel = False

    async def ask():
        for x in range(4):
            streamed.round.start(call(str(x), "look", x=x))
        streamed.round.start(call("4", "write", x=4))
        await anyio.lowlevel.checkpoint()
        names = ["look"] * 4 + ["write", "look"]
        return say.calls(*[(str(x), name, {"x": x}) for x, name in enumerate(names)])

    await streamed.run(ask())
    assert max(map(len, most)) == 2
    assert [4] in most
    assert all(each == [4] for each in most if 4 in each)
    valid(await turn.history())


# Holds: sink-36
async def test_an_answer_that_fails_undoes_nothing_that_ran(bench, say, valid):
    turn = bench("basic")
    streamed = Streamed(turn, most_at_once=3)
    go = anyio.Event()

    async def slow(given):
        await go.wait()
        return "written"

    async def look(given):
        await anyio.sleep_forever()

    turn.tool("quick", lambda given: "seen")
    turn.tool("write", slow)
    turn.tool("look", look).read_only = True

    written: list[str] = []
    streamed.round.text_so_far = lambda: "".join(written)

    async def ask():
        for id, name in (
            ("1", "quick"),
            ("2", "write"),
            ("3", "look"),
            ("4", "look"),
            ("5", "quick"),
        ):
            streamed.round.start(call(id, name))
            written.append(f"{name} ")
        while len(turn.token.running_tools) < 3:
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        raise ConnectionError("cut off")

    async with anyio.create_task_group() as group:

        async def run():
            with pytest.raises(ConnectionError, match="cut off"):
                await streamed.run(ask())

        group.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        assert await turn.history() == [], "it waits for what has effects"
        go.set()
    history = await turn.history()
    valid(history)
    assert history[0]["content"][0] == {"type": "text", "text": "quick write look look quick "}
    cancelled = "Cancelled: the turn was ended while this tool ran; it has changed nothing."
    assert await streamed.results() == [
        ("1", "seen"), ("2", "written"), ("3", cancelled), ("4", cancelled), ("5", NOT_STARTED.content),
    ]  # fmt: skip


async def test_a_call_that_is_still_judged_when_the_answer_fails_is_not_run(bench, valid):
    turn = bench("basic")
    streamed = Streamed(turn)
    look = turn.tool("look", lambda given: "seen")

    async def judge(event, data):
        await anyio.sleep_forever()

    turn.hook("tool:pre", judge)

    async def ask():
        streamed.round.start(call("1", "look"))
        await anyio.wait_all_tasks_blocked()
        raise ConnectionError("cut off")

    with anyio.fail_after(10), pytest.raises(ConnectionError):
        await streamed.run(ask())
    assert look.inputs == []
    assert await streamed.results() == [("1", NOT_STARTED.content)]
    valid(await turn.history())


async def test_an_answer_that_fails_before_any_call_leaves_no_message(bench):
    turn = bench("basic")

    async def ask():
        raise ConnectionError("cut off")

    with pytest.raises(ConnectionError):
        await Streamed(turn).run(ask())
    assert await turn.history() == []


async def test_a_cancellation_while_the_answer_arrives_leaves_a_valid_history(bench, say, valid):
    turn = bench("basic")
    streamed = Streamed(turn, most_at_once=2)

    async def slow(given):
        await anyio.sleep_forever()

    turn.tool("quick", lambda given: "seen")
    turn.tool("slow", slow)

    async def ask():
        for id, name in (("1", "quick"), ("2", "slow"), ("3", "slow"), ("4", "slow")):
            streamed.round.start(call(id, name))
        await anyio.sleep_forever()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            group.start_soon(streamed.run, ask())
            await anyio.wait_all_tasks_blocked()
            group.cancel_scope.cancel()
    valid(await turn.history())
    assert await streamed.results() == [
        ("1", "seen"), ("2", INTERRUPTED.content), ("3", INTERRUPTED.content),
        ("4", NOT_STARTED.content),
    ]  # fmt: skip
    assert turn.token.running_tools == set()


async def test_ctrl_c_in_an_early_call_ends_the_answer(bench, valid):
    turn = bench("basic")
    streamed = Streamed(turn)

    def pressed(given):
        raise KeyboardInterrupt

    turn.tool("run", pressed)

    async def ask():
        streamed.round.start(call("1", "run"))
        await anyio.sleep_forever()

    with anyio.fail_after(10), pytest.raises(KeyboardInterrupt):
        await streamed.run(ask())
    valid(await turn.history())
    assert await streamed.results() == [("1", INTERRUPTED.content)]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_turn_cancelled_at_any_suspension_leaves_a_valid_history(bench, say, valid):
    for place in range(1, 60):
        turn = bench("basic")
        streamed = Streamed(turn)

        async def look(given):
            await anyio.lowlevel.checkpoint()
            return "seen"

        turn.tool("look", look)

        async def ask(streamed=streamed):
            for x in range(2):
                streamed.round.start(call(str(x), "look"))
                await anyio.lowlevel.checkpoint()
            return say.calls(*[(str(x), "look", {}) for x in range(3)])

        running = asyncio.create_task(streamed.run(ask()))
        for _ in range(place):
            await asyncio.sleep(0)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        valid(await turn.history())
        assert turn.token.running_tools == set()
        if not running.cancelled():
            break
    assert 3 < place < 59


async def test_a_model_that_asks_no_tool_is_answered_as_before(bench):
    turn = bench("basic")

    async def ask():
        await anyio.lowlevel.checkpoint()
        return ChatResponse(content=[TextBlock(text="hi")], tool_calls=[])

    await Streamed(turn).run(ask())
    assert await turn.history() == [
        {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}
    ]
