"""Routing: the first model that the rules leave answers, and only that one is asked."""

from __future__ import annotations

from decimal import Decimal

import pytest
from fake_step import FakeStep, api_error, ask, response
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.models import ModelInfo
from arcllm import ArcLLMConfigError, ImageBlock, Message, Tool, ToolResultBlock
from arcllm.layers.stack import build_stack
from arcllm.step import Call

TOOL = Tool(name="look", description="", parameters={})
IMAGE = ImageBlock(source="aGk=", media_type="image/png")


def model(name: str, can: tuple[str, ...] = (), window: int | None = None, price=None) -> FakeStep:
    info = None
    if can or window:
        info = ModelInfo(
            id=name, display_name=name, context_window=window or 10**9, max_output_tokens=1000,
            capabilities=list(can),
        )  # fmt: skip
    dollars = None if price is None else Decimal(str(price)) / 1_000_000
    answer = response(name)
    return FakeStep([answer], name="p", model_name=name, info=info, dollars_a_token=dollars)


def routed(first: FakeStep, *others: FakeStep, modules=None, **settings):
    by_name = {other.model_name: other for other in others}
    settings["models"] = [f"p:{name}" for name in by_name]
    modules = {**(modules or {}), "routing": settings}
    return build_stack(first, modules, lambda provider, name: by_name[name])


async def chosen(stack, call: Call) -> str | None:
    complete, pieces = await stack.complete(call), [piece async for piece in stack.stream(call)]
    assert pieces[-1] == complete
    assert call.notes["routed"] == f"p:{complete.content}"
    return complete.content


async def test_without_rules_the_model_that_was_loaded_answers():
    other = model("other")

    assert await chosen(routed(model("first"), other), ask()) == "first"
    assert other.calls == []


@pytest.mark.parametrize(
    ("call", "capability"),
    [
        (ask(tools=[TOOL]), "tools"),
        (Call([Message(role="user", content=[IMAGE])]), "vision"),
        (
            Call(
                [Message(role="tool", content=[ToolResultBlock(tool_use_id="1", content=[IMAGE])])]
            ),
            "vision",
        ),
        (ask(options={"reasoning_effort": "high"}), "thinking"),
    ],
)
async def test_a_model_that_cannot_do_what_the_call_needs_is_left_out(call, capability):
    stack = routed(
        model("first", ("streaming",)), model("able", (capability,)), rules=["capability"]
    )

    assert await chosen(stack, call) == "able"
    assert await chosen(stack, ask(options={"reasoning_effort": "none"})) == "first"


async def test_a_rule_may_name_what_each_call_needs():
    rules = [{"by": "capability", "needs": ["vision"]}]
    stack = routed(model("first", ("tools",)), model("able", ("vision",)), rules=rules)

    assert await chosen(stack, ask()) == "able"


async def test_a_model_whose_window_is_too_small_is_left_out():
    rules = [{"by": "window", "reserve_tokens": 100}]
    stack = routed(model("small", window=1000), model("large", window=10_000), rules=rules)

    assert await chosen(stack, ask("x" * 3000)) == "small"
    assert await chosen(stack, ask("x" * 3700)) == "large"
    assert await chosen(stack, ask("x" * 3000, options={"max_tokens": 500})) == "large"


async def test_the_cheapest_model_answers():
    stack = routed(
        model("dear", price=5), model("unknown"), model("cheap", price=1), rules=["cost"]
    )

    assert await chosen(stack, ask()) == "cheap"


async def test_a_limit_of_the_price_leaves_out_what_is_dearer_or_not_known():
    rules = [{"by": "cost", "max_usd": 0.001}]
    stack = routed(model("unknown"), model("dear", price=5), model("cheap", price=1), rules=rules)

    assert await chosen(stack, ask("x" * 400)) == "cheap"
    with pytest.raises(ArcLLMConfigError) as refused:
        await stack.complete(ask("x" * 40_000))

    assert refused.value.message == (
        "routing: no model fits the call: `p:unknown` has no known price (at most $0.001);"
        " `p:dear` costs about $0.050020 (at most $0.001);"
        " `p:cheap` costs about $0.010004 (at most $0.001)"
    )


async def test_a_model_of_which_nothing_is_known_is_not_left_out():
    stack = routed(model("unknown"), model("able", ("tools",)), rules=["capability", "window"])

    assert await chosen(stack, ask(tools=[TOOL])) == "unknown"


@given(
    facts=st.lists(
        st.tuples(
            st.none() | st.sets(st.sampled_from(["tools", "vision"]), min_size=1),
            st.none() | st.integers(1, 50_000),
            st.none() | st.integers(0, 5),
        ),
        min_size=1,
        max_size=5,
    ),
    rules=st.permutations(["capability", "window", "cost"]),
    size=st.integers(0, 100_000),
)
async def test_the_rules_agree_with_a_plain_model(facts, rules, size):
    steps = [
        model(f"m{index}", tuple(can or ()), window if can or window else None, price)
        for index, (can, window, price) in enumerate(facts)
    ]
    stack = routed(steps[0], *steps[1:], model("last"), rules=list(rules))
    call = ask("x" * size, tools=[TOOL])
    needed = 4 + size // 4 + len(TOOL.model_dump_json()) // 4 + 4096
    fitting = [
        (float("inf") if price is None else price, f"m{index}")
        for index, (can, window, price) in enumerate(facts)
        if (can is None or "tools" in can) and (window is None or window >= needed)
    ]

    answer = (await stack.complete(call)).content

    assert answer == min(fitting, default=(0, "last"))[1]


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_function_chooses_among_the_models_that_are_left(is_async):
    seen = []

    def choose(call, candidates):
        seen.append((call.options, [candidate.name for candidate in candidates]))
        return "p:b"

    async def choose_later(call, candidates):
        return choose(call, candidates)

    function = choose_later if is_async else choose
    rules = [{"by": "capability", "needs": ["tools"]}]
    steps = [model("first", ("vision",)), model("a", ("tools",)), model("b", ("tools",))]

    stack = routed(*steps, rules=rules, function=function)

    assert await chosen(stack, ask(options={"top_p": 1})) == "b"
    assert seen == [({"top_p": 1}, ["p:a", "p:b"])] * 2


@pytest.mark.parametrize(
    ("choose", "answer"),
    [(lambda call, candidates: None, "first"), (lambda call, candidates: candidates[1], "a")],
)
async def test_a_function_returns_a_candidate_or_nothing(choose, answer):
    assert await chosen(routed(model("first"), model("a"), function=choose), ask()) == answer


async def test_a_function_that_chooses_none_of_the_models_is_an_error():
    stack = routed(model("first"), model("a"), function=lambda call, candidates: "gpt")

    with pytest.raises(ArcLLMConfigError) as refused:
        await stack.complete(ask())

    message = "routing: `function` returned 'gpt' (must be one of `p:first`, `p:a`)"
    assert refused.value.message == message


async def test_the_chosen_model_has_retries_and_fallbacks_of_its_own():
    failing, saving = model("cheap", price=1), model("saving")
    failing.answers = [api_error(503), api_error(503)]
    modules = {"fallback": {"chain": ["p:saving"]}, "retry": {"max_retries": 1}}
    by_name = {"cheap": failing, "saving": saving}
    settings = {**modules, "routing": {"models": ["p:cheap"], "rules": ["cost"]}}
    stack = build_stack(model("dear", price=9), settings, lambda provider, name: by_name[name])

    assert (await stack.complete(ask())).content == "saving"
    assert len(failing.calls) == 1


async def test_all_models_are_closed_once():
    steps = [model("first"), model("a"), model("b")]
    stack = routed(*steps)

    await stack.close()

    assert [step.closed for step in steps] == [1, 1, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "routing: `models` is missing"),
        ({"models": ["p:a"], "rules": ["price"]}, "routing: `rules.0.by` is 'price' (must be `cap"),
        ({"models": ["p:a"], "function": "f"}, "routing: `function` is 'f'"),
    ],
)
def test_a_wrong_setting_is_refused(settings, message):
    with pytest.raises(ArcLLMConfigError) as refused:
        build_stack(model("first"), {"routing": settings}, lambda provider, name: model("a"))

    assert refused.value.message.startswith(message)


async def test_a_model_is_asked_once_a_call_what_it_can_do():
    asked: list[str] = []

    class Telling(FakeStep):
        def get_model_info(self):
            asked.append(self.model_name)

    rules = [{"by": "capability", "needs": ["tools"]}, "window", "capability", "cost"]

    await routed(Telling(model_name="a"), Telling(model_name="b"), rules=rules).complete(ask())

    assert asked == ["a", "b"]
