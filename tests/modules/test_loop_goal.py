"""Goal mode of our loops: rounds, the judge, and how a turn with a goal ends."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_agent import Agent, ScriptedProvider
from amplifier_core import world
from amplifier_core.llm_errors import AbortError, ProviderUnavailableError
from amplifier_core.message_models import ChatResponse, TextBlock, Usage
from amplifier_core.models import HookResult
from amplifier_modules.loops import streaming
from amplifier_modules.loops.goal.rules import goal_of
from amplifier_modules.spending.budget import Budget
from amplifier_providers.anthropic import AnthropicProvider, read_config
from amplifier_providers.settings import SettingError, read_settings
from amplifier_testing.servers import AnthropicServer

sys.path.insert(0, str(Path(__file__).parent))

from virtual_time import BACKENDS, LoopWorld

GOAL = "each function has a test"
MANY = [f"{word} is missing" for word in ["one", "two", "three", "four", "five", "six", "seven"]]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def kind(request):
    return request.param


def verdict(reached, reason="", **more):
    return json.dumps({"reached": reached, "reason": reason, **more})


class Work:
    """A turn with a goal: the model that works, and the one that judges."""

    def __init__(self, bench, kind, answers, judgements, goal=GOAL, **config):
        config = {"models": {"fast": "judge"}, "goal_summary": False, **config}
        self.turn = bench(kind, config=config)
        self.turn.coordinator.hooks.register(
            "orchestrator:goal_progress", self.turn._record, priority=-100
        )
        self.turn.coordinator.session_state["goal"] = goal
        self.worker = ScriptedProvider(answers)
        self.judge = ScriptedProvider(judgements)

    async def run(self, prompt="go", **options):
        loop = await self.turn.loop()
        return await loop.execute(
            prompt,
            self.turn.context,
            {"worker": self.worker, "judge": self.judge},
            self.turn.tools,
            self.turn.coordinator.hooks,
            coordinator=self.turn.coordinator,
            **options,
        )

    @property
    def complete(self):
        (found,) = self.turn.data("orchestrator:complete")
        return found

    @property
    def final(self):
        return self.complete["goal_final"]

    def progress(self, *keys):
        return [
            tuple(each[key] for key in keys)
            for each in self.turn.data("orchestrator:goal_progress")
        ]


@pytest.fixture
def work(bench, kind):
    return lambda answers, judgements, **options: Work(bench, kind, answers, judgements, **options)


async def test_a_turn_goes_on_until_the_goal_is_reached(work, kind, valid):
    goal = work(
        ["I wrote one.", "I wrote the other."],
        [verdict(False, "two is missing"), verdict(True, "all are there")],
    )

    assert await goal.run("Write tests") == "I wrote the other."
    about = {"goal": GOAL, "max_rounds": 10}
    assert goal.turn.data("orchestrator:goal_progress") == [
        {**about, "round": 1, "state": "continuing", "reached": False, "reason": "two is missing"},
        {**about, "round": 2, "state": "reached", "reached": True, "reason": "all are there"},
    ]
    assert goal.complete == {
        "orchestrator": f"loop-{kind}",
        "turn_count": 2,
        "status": "success",
        "goal_final": {
            "goal": GOAL, "verdict": "reached", "reason": "all are there", "rounds": 2,
            "summary": None,
        },
    }  # fmt: skip
    assert goal.turn.data("prompt:complete") == [
        {"prompt": "Write tests", "response": "I wrote the other."}
    ]
    history = await goal.turn.history()
    valid(history)
    assert [message["role"] for message in history] == ["user", "assistant", "user", "assistant"]
    assert "two is missing" in history[2]["content"]
    assert GOAL in history[2]["content"]
    assert goal_of(goal.turn.coordinator) is None  # the next turn has no goal


async def test_without_a_goal_nothing_is_judged(work):
    goal = work(["Hi."], [], goal=None)

    assert await goal.run() == "Hi."
    assert "goal_final" not in goal.complete
    assert goal.turn.data("orchestrator:goal_progress") == []


@pytest.mark.parametrize("given", [3, ["a"], {"txt": "a"}])
async def test_what_is_no_goal_is_a_warning(work, given, caplog):
    goal = work(["Hi."], [], goal=given)
    with caplog.at_level(logging.WARNING):
        assert await goal.run() == "Hi."
    assert "of the session state is a" in caplog.text


async def test_a_mapping_names_the_goal_by_text(work):
    goal = work(["Hi."], [verdict(True)], goal={"text": f" {GOAL} ", "by": "me"})
    await goal.run()
    assert goal.final["goal"] == GOAL


async def test_the_judge_is_the_fast_model_and_its_events_say_what_it_is_for(work):
    goal = work(["Done."], [verdict(True)], models={"fast": "judge:small", "strong": "worker:big"})
    await goal.run()

    worker = {"provider": "worker", "model": "big", "role": "strong"}
    judge = {"provider": "judge", "model": "small", "role": "fast", "purpose": "goal_judge"}
    for event in ("provider:request", "llm:pre", "llm:post", "provider:response"):
        found = goal.turn.data(event)
        assert [{key: each[key] for key in judge if key in each} for each in found] == [
            worker,
            judge,
        ]
    assert goal.judge.requests[0].model == "small"


async def test_without_a_fast_model_the_one_of_the_turn_judges(work):
    goal = work(["Done.", verdict(True, "yes")], [], models={})

    assert await goal.run() == "Done."
    assert goal.final["verdict"] == "reached"


async def test_the_judge_sees_the_goal_the_answer_and_what_tools_did(work, say):
    call = {"tool": "read", "arguments": {"x": 1}}
    goal = work([call, "I read it."], [verdict(True)])
    goal.turn.tool("read", lambda _input: "the content")
    await goal.run()

    (request,) = goal.judge.requests
    (message,) = request.messages
    assert request.tools is None
    for part in (GOAL, "I read it.", 'read {"x": 1} -> the content'):
        assert part in message.content


async def test_the_text_of_the_judge_is_no_part_of_the_answer(work):
    goal = work(["Done."], [verdict(True, "it is")])
    await goal.run()

    blocks = [each["block"] for each in goal.turn.data("content_block:end")]
    assert blocks == [{"type": "text", "text": "Done."}]
    assert len(await goal.turn.history()) == 2


async def test_the_wire_of_a_judge_is_silent_too(bench, kind):
    with AnthropicServer() as server:
        server.answers = ["I did it.", verdict(True, "it is done")]
        turn = bench(kind)
        for event in ("llm:request", "llm:response"):
            turn.coordinator.hooks.register(event, turn._record, priority=-100)
        turn.coordinator.session_state["goal"] = GOAL
        hooks = turn.coordinator.hooks
        turn.provider = AnthropicProvider(
            read_config({"api_key": "key", "base_url": server.url}), hooks
        )
        assert await turn.run() == "I did it."
        await turn.provider.close()
        assert server.refusals == []

    shown = [each["block"]["text"] for each in turn.data("content_block:end")]
    assert shown == ["I did it."]
    assert [each.get("purpose") for each in turn.data("llm:request")] == [None, "goal_judge"]
    assert [each.get("purpose") for each in turn.data("llm:response")] == [None, "goal_judge"]


async def test_a_judge_that_writes_calls_in_tags_is_asked_for_text_alone(work):
    goal = work(["Done."], [verdict(True, "it is")])
    goal.judge.tool_tags = ("call",)
    await goal.run()

    (request,) = goal.judge.requests
    assert len(request.messages) == 1
    assert "<call>" not in request.messages[0].content
    assert goal.final["verdict"] == "reached"


async def test_what_the_model_is_told_names_its_source(work):
    goal = work(["one", "two"], [verdict(False, "more"), verdict(True)])
    goal.turn.coordinator.hooks.register("context:message", goal.turn._record, priority=-100)
    await goal.run()

    sources = [each["source"] for each in goal.turn.data("context:message")]
    assert sources == ["user", "model", "goal", "model"]


@pytest.mark.parametrize(
    ("config", "judgements", "ending"),
    [
        ({}, ["same"] * 3, ("stalled", 3)),
        ({"goal_stall_rounds": 2}, ["same"] * 2, ("stalled", 2)),
        ({"goal_max_rounds": 1}, ["same"], ("capped", 1)),
        ({"goal_max_rounds": 4}, MANY[:4], ("capped", 4)),
        ({"goal_max_rounds": -1, "max_iterations": 6}, MANY[:6], ("capped", 6)),
        ({"goal_stall_overlap": 0.3, "goal_stall_rounds": 2}, MANY[:2], ("stalled", 2)),
    ],
)
async def test_each_limit_ends_the_pursuit(work, config, judgements, ending):
    answers = [f"answer {number}" for number in range(len(judgements))]
    goal = work(answers, [verdict(False, each) for each in judgements], **config)

    assert await goal.run() == answers[-1]
    assert (goal.final["verdict"], goal.final["rounds"]) == ending
    assert goal.complete["status"] == "incomplete"
    assert goal.complete["reason"] == f"the goal was not reached: {goal.final['reason']}"
    assert (await goal.turn.history())[-1]["role"] == "assistant"
    assert goal_of(goal.turn.coordinator) == GOAL  # the next turn goes on with it


async def test_tools_that_change_nothing_are_a_busy_stall(work, valid):
    call = {"tool": "look", "arguments": {"x": 1}}
    goal = work(
        [call, "a", call, "b", call, "c"],
        [verdict(False, each) for each in MANY[:3]],
        goal_busy_stall_rounds=3,
    )
    goal.turn.tool("look", lambda _input: "nothing new")
    await goal.run()

    assert (goal.final["verdict"], goal.final["rounds"]) == ("busy_stalled", 3)
    valid(await goal.turn.history())


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("Well, who knows?", "the answer of the judge has no verdict: `Well, who knows?`"),
        (ProviderUnavailableError("down"), "the judge failed: ProviderUnavailableError: down"),
        (ValueError(), "the judge failed: ValueError"),
    ],
)
async def test_a_judge_without_a_verdict_never_loses_the_answer(work, bad, reason):
    goal = work(["one", "two"], [bad, bad])

    assert await goal.run() == "two"
    assert goal.final == {
        "goal": GOAL, "verdict": "failed", "reason": f"no verdict on the goal: {reason}",
        "rounds": 2, "summary": None,
    }  # fmt: skip
    assert goal.progress("reached", "state") == [(None, "continuing"), (None, "failed")]


async def test_a_judge_that_fails_once_is_asked_again_after_the_next_answer(work):
    goal = work(["one", "two"], ["Hm.", verdict(True, "now")])

    assert await goal.run() == "two"
    assert goal.final["verdict"] == "reached"


async def test_how_often_the_judge_may_fail_can_be_set(work):
    goal = work(["one"], ["Hm."], goal_judge_failures=1)
    await goal.run()
    assert (goal.final["verdict"], goal.final["rounds"]) == ("failed", 1)


async def test_several_rounds_are_summed_up(work):
    goal = work(
        ["one", "two"], [verdict(False, "more"), verdict(True), " Both are there. "],
        goal_summary=True,
    )  # fmt: skip

    assert await goal.run() == "two"
    assert goal.final["summary"] == "Both are there."
    told = goal.judge.requests[-1].messages[0].content
    assert '<round number="1">\none\nJudged: more' in told
    purposes = [each.get("purpose") for each in goal.turn.data("provider:request")]
    assert purposes == [None, "goal_judge", None, "goal_judge", "goal_summary"]


async def test_one_round_needs_no_summary(work):
    goal = work(["one"], [verdict(True)], goal_summary=True)
    await goal.run()
    assert goal.final["summary"] is None
    assert goal.judge.remaining == 0


async def test_a_summary_that_fails_changes_nothing_else(work):
    judgements = [verdict(False, "more"), verdict(True), ProviderUnavailableError("down")]
    goal = work(["one", "two"], judgements, goal_summary=True)

    assert await goal.run() == "two"
    assert (goal.final["verdict"], goal.final["summary"]) == ("reached", None)


async def test_hooks_may_deny_another_round(work):
    goal = work(["one"], [verdict(False, "more")])
    goal.turn.answer_hook("orchestrator:goal_progress", action="deny", reason="enough")

    assert await goal.run() == "one"
    assert goal.final["verdict"] == "failed"
    assert goal.final["reason"] == "a hook denied another round: enough"
    assert (
        goal.complete["reason"] == "the goal was not reached: a hook denied another round: enough"
    )


async def test_hooks_may_deny_the_call_of_the_judge(work):
    goal = work(["one"], [])

    def deny(_event, data):
        return HookResult(action="deny", reason="no") if "purpose" in data else None

    goal.turn.hook("provider:request", deny)

    assert await goal.run() == "one"
    assert goal.final["reason"] == "a hook denied the call of the judge: no"
    assert "denied" not in goal.complete  # the answer is there


async def test_hooks_may_deny_a_model_call_of_a_later_round(work):
    goal = work(["one"], [verdict(False, "more")])
    seen = []

    def deny(_event, data):
        seen.append(data)
        return HookResult(action="deny", reason="no") if len(seen) == 3 else None

    goal.turn.hook("provider:request", deny)

    assert await goal.run() == "Operation denied: no"
    assert (goal.final["verdict"], goal.final["reason"]) == ("failed", "no")


async def test_a_denied_prompt_pursues_nothing(work):
    goal = work([], [])
    goal.turn.answer_hook("prompt:submit", action="deny", reason="no")
    await goal.run()
    assert (goal.final["verdict"], goal.final["rounds"]) == ("failed", 0)


async def test_what_a_hook_injects_into_the_request_of_the_judge_stays_there(work):
    goal = work(["one", "two"], [verdict(False, "more"), verdict(True)])

    def inject(_event, data):
        if "purpose" not in data:
            return None
        return HookResult(action="inject_context", context_injection="Be strict.", ephemeral=True)

    goal.turn.hook("provider:request", inject)
    await goal.run()

    assert [len(request.messages) for request in goal.judge.requests] == [2, 2]
    assert goal.judge.requests[0].messages[-1].content == "Be strict."
    assert not any("Be strict." in str(request.messages) for request in goal.worker.requests)


@pytest.mark.parametrize(
    ("budget", "answer", "rounds"),
    [(1, "one", 0), (2, "one", 1), (3, "two", 1), (4, "two", 2)],
)
async def test_the_budget_counts_the_calls_of_the_judge_and_ends_the_pursuit(
    work, budget, answer, rounds
):
    judgements = [verdict(False, each) for each in MANY]
    goal = work(["one", "two", "three"], judgements, budget={"model_calls": budget})

    assert await goal.run() == answer
    assert (goal.final["verdict"], goal.final["rounds"]) == ("capped", rounds)
    assert f"{budget} model call" in goal.final["reason"]
    assert len(goal.worker.requests) + len(goal.judge.requests) == budget
    assert (await goal.turn.history())[-1]["role"] == "assistant"


async def test_the_cost_of_the_judge_counts():
    def priced(text, cost):
        usage = Usage(input_tokens=1, output_tokens=1, total_tokens=2, cost_usd=cost)
        return ChatResponse(content=[TextBlock(text=text)], usage=usage, finish_reason="end_turn")

    loop = streaming.StreamingLoop(
        {
            "models": {"fast": "other", "strong": "scripted"},
            "goal_max_rounds": 9,
            "goal_summary": False,
        }
    )
    strong = ScriptedProvider([priced("one", "0.30"), priced("two", "0.30")])
    fast = ScriptedProvider([priced('{"reached": false, "reason": "more"}', "0.05")], repeat=True)
    strong.reports_cost = fast.reports_cost = True
    agent = Agent(strong, loop=loop, budget=Budget(cost=0.6))
    session = agent.session(goal="done")
    fast.name = "other"
    await session.session.coordinator.mount("providers", fast, name="other")
    async with session:
        result = await session.run("go")

    assert (result.status, str(result.cost)) == ("limit", "0.65")
    assert result.model_calls == 3  # one, judge, two; the second judge is not paid any more
    assert result.reason == "the goal was not reached: the budget of $0.6 is used up"


@pytest.mark.parametrize("anyio_backend", [make() for make in BACKENDS.values()], ids=BACKENDS)
async def test_the_time_of_the_budget_ends_a_judge_that_hangs(work):
    class Hangs:
        name = "judge"

        async def complete(self, request, **options):
            await anyio.sleep_forever()

    goal = work(["one"], [], budget=Budget(model_calls=None, seconds=60))
    goal.judge = Hangs()

    with world.use(LoopWorld()):
        assert await goal.run() == "one"
    assert (goal.final["verdict"], goal.complete["status"]) == ("capped", "incomplete")


@pytest.mark.parametrize("graceful", [True, False])
async def test_a_cancellation_while_the_judge_works_ends_the_turn(work, graceful, valid):
    goal = work(["one"], [])
    token = goal.turn.token

    class Cancels:
        name = "judge"

        async def complete(self, request, **options):
            if graceful:
                token.request_graceful()
                raise AbortError("stopped")
            token.request_immediate()
            import anyio

            await anyio.sleep_forever()

    goal.judge = Cancels()

    assert await goal.run() == "one"
    assert goal.complete["status"] == "cancelled"
    assert (goal.final["verdict"], goal.final["reason"]) == ("cancelled", "the turn was cancelled")
    valid(await goal.turn.history())


async def test_a_cancellation_before_the_next_round_ends_the_turn(work):
    goal = work(["one"], [verdict(False, "more")])

    def cancel(_event, _data):
        goal.turn.token.request_graceful()

    goal.turn.hook("orchestrator:goal_progress", cancel)

    assert await goal.run() == "one"
    assert (goal.complete["status"], goal.final["verdict"]) == ("cancelled", "cancelled")
    assert len(await goal.turn.history()) == 2


async def test_an_error_of_the_model_in_a_later_round_is_raised_and_told(work):
    goal = work(["one", ProviderUnavailableError("down")], [verdict(False, "more")])

    with pytest.raises(ProviderUnavailableError, match="down"):
        await goal.run()
    assert (goal.final["verdict"], goal.final["rounds"]) == ("failed", 1)
    assert goal.final["reason"] == "ProviderUnavailableError: down"


async def test_a_goal_that_is_withdrawn_meanwhile_ends_the_pursuit(work):
    call = {"tool": "withdraw", "arguments": {"x": 1}}
    goal = work(["one", call, "two"], [verdict(False, "more")])
    goal.turn.tool(
        "withdraw", lambda _input: goal.turn.coordinator.session_state.pop("goal") and "ok"
    )

    assert await goal.run() == "two"
    assert (goal.final["verdict"], goal.final["reason"]) == ("cancelled", "the goal was withdrawn")
    assert goal.complete["status"] == "success"


async def test_a_tool_may_set_the_goal(work):
    call = {"tool": "aim", "arguments": {"x": 1}}
    goal = work([call, "one"], [verdict(True)], goal=None)

    def aim(_input):
        goal.turn.coordinator.session_state["goal"] = GOAL
        return "ok"

    goal.turn.tool("aim", aim)
    await goal.run()
    assert (goal.final["goal"], goal.final["verdict"]) == (GOAL, "reached")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("goal_max_rounds", 0), ("goal_stall_rounds", 1), ("goal_busy_stall_rounds", 1),
        ("goal_stall_overlap", 0), ("goal_stall_overlap", 1.1), ("goal_judge_failures", 0),
        ("goal_summary", "yes"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_used_are_refused(key, value):
    from amplifier_modules.loops.settings import LoopSettings

    with pytest.raises(SettingError, match=key):
        read_settings(LoopSettings, {key: value}, "loop-basic")


VERDICTS = st.lists(
    st.sampled_from([None, "yes", "no: same", "no: other", "no: 3 left", "no: 2 left"]),
    max_size=8,
).map(lambda verdicts: [*verdicts, "yes"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(verdicts=VERDICTS, most=st.integers(1, 6), stall=st.integers(2, 4))
@pytest.mark.parametrize("kind", ["basic"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_turn_has_as_many_rounds_as_the_rules_allow(
    bench, kind, verdicts, most, stall, anyio_backend
):
    def model():
        """The rules for answers without tools, in words of a table."""
        for last in range(len(verdicts)):
            known = verdicts[: last + 1]
            if known[-1] == "yes":
                return last + 1, "reached"
            if known[-2:] == [None, None]:
                return last + 1, "failed"
            alike, place = 1, last
            while place and known[place] and known[place] in known[max(0, place - 3) : place]:
                alike, place = alike + 1, place - 1
            if alike >= stall:
                return last + 1, "stalled"
            if last + 1 == most:
                return last + 1, "capped"
        return None

    judgements = ["Hm." if each is None else each for each in verdicts]
    goal = Work(
        bench, kind, [f"answer {number}" for number in range(12)], judgements,
        goal_max_rounds=most, goal_stall_rounds=stall,
    )  # fmt: skip
    await goal.run()
    assert (goal.final["rounds"], goal.final["verdict"]) == model()
    assert len(goal.worker.requests) == goal.final["rounds"]
