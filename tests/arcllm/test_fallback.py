"""Fallbacks: the next model of the chain answers, and the first error counts."""

from __future__ import annotations

import anyio
import pytest
from fake_step import FakeStep, api_error, ask, response, take
from hypothesis import given
from hypothesis import strategies as st

from arcllm import ArcLLMAPIError, ArcLLMConfigError, ArcLLMParseError, Tool
from arcllm.deltas import TextDelta
from arcllm.layers.fallback import FallbackLayer, FallbackSettings
from arcllm.layers.stack import build_stack


class Others:
    """Opens the models of a chain."""

    def __init__(self, *steps: FakeStep) -> None:
        self.opened: list[tuple[str, str | None]] = []
        self.steps = {step.name: step for step in steps}

    def __call__(self, name: str, model: str | None) -> FakeStep:
        self.opened.append((name, model))
        if name not in self.steps:
            raise ArcLLMConfigError(f"unknown provider `{name}`")
        return self.steps[name]


def falling(step: FakeStep, others: Others, *chain: object) -> FallbackLayer:
    return FallbackLayer(step, FallbackSettings(chain=list(chain)), others)


async def test_the_next_model_gets_the_same_messages_tools_and_options():
    other = FakeStep([response("other")], name="other")
    others, failing = Others(other), FakeStep([api_error()])
    tool = Tool(name="look", description="", parameters={})
    call = ask(tools=[tool], options={"temperature": 0.5})

    assert await falling(failing, others, "other:big").complete(call) == response("other")

    assert others.opened == [("other", "big")]
    assert (other.calls[0].messages, other.calls[0].tools) == (call.messages, [tool])
    assert other.calls[0].options == {"temperature": 0.5}
    assert call.notes == {"fallback": "other:big", "provider": "other"}
    assert other.closed == 1


async def test_nothing_is_opened_while_the_first_model_answers():
    others = Others()

    assert await falling(FakeStep(), others, "other").complete(ask()) == response()
    assert others.opened == []


# Holds: layer-6
@given(outcomes=st.lists(st.booleans(), min_size=1, max_size=11), streams=st.booleans())
async def test_the_first_model_that_can_answers_or_the_first_error_is_raised(outcomes, streams):
    names = [f"p{index}" for index in range(len(outcomes))]
    steps = [
        FakeStep([response(name) if works else api_error(400 + index)], name=name)
        for index, (name, works) in enumerate(zip(names, outcomes, strict=True))
    ]
    others = Others(*steps[1:])
    layer = falling(steps[0], others, *names[1:]) if names[1:] else steps[0]
    expected = names[outcomes.index(True)] if any(outcomes) else None

    async def ask_it() -> object:
        if not streams:
            return (await layer.complete(ask())).content
        return [piece async for piece in layer.stream(ask())][-1].content

    if expected is None:
        with pytest.raises(ArcLLMAPIError) as failed:
            await ask_it()
        assert failed.value.status_code == 400
        assert len(getattr(failed.value, "__notes__", [])) == len(names) - 1
    else:
        assert await ask_it() == expected
    asked = outcomes.index(True) + 1 if any(outcomes) else len(outcomes)
    assert [name for name, _ in others.opened] == names[1:asked]
    assert [step.closed for step in steps[1:]] == [1] * (asked - 1) + [0] * (len(names) - asked)


@pytest.mark.parametrize("error", [ValueError("a bug"), ArcLLMParseError("{", ValueError("cut"))])
async def test_whatever_a_provider_raises_the_next_one_is_asked(error):
    others = Others(FakeStep([response("other")], name="other"))

    assert await falling(FakeStep([error]), others, "other").complete(ask()) == response("other")


async def test_a_call_that_nobody_could_answer_is_not_passed_on():
    others = Others(FakeStep(name="other"))
    wrong = FakeStep([ArcLLMConfigError("`temperature` is 'hot'")])

    with pytest.raises(ArcLLMConfigError, match="temperature"):
        await falling(wrong, others, "other").complete(ask())

    assert others.opened == []


async def test_a_model_that_cannot_be_opened_is_noted_and_passed_over(caplog):
    others = Others(FakeStep([response("last")], name="last"))
    first = api_error()

    answer = await falling(FakeStep([first]), others, "missing", "last").complete(ask())

    assert answer == response("last")
    assert first.__notes__ == ["fallback `missing`: unknown provider `missing`"]
    assert caplog.messages == [
        "fallback `missing` cannot be opened: unknown provider `missing`",
        "`fake` failed; `last` answers",
    ]


async def test_the_same_provider_without_a_model_keeps_the_model():
    others = Others(FakeStep([response("again")], name="fake"))

    await falling(FakeStep([api_error()]), others, "fake").complete(ask())

    assert others.opened == [("fake", "small")]


async def test_a_cancellation_is_not_passed_on():
    others = Others(FakeStep(name="other"))
    with anyio.CancelScope() as scope:
        scope.cancel()
        await falling(FakeStep(), others, "other").complete(ask())

    assert scope.cancelled_caught
    assert others.opened == []


# Holds: layer-4
async def test_a_stream_that_was_shown_is_not_begun_by_another_model():
    others, shown = Others(FakeStep(name="other")), []
    breaking = FakeStep([response("a b")], fails_after=1)

    with pytest.raises(ArcLLMAPIError):
        await take(falling(breaking, others, "other").stream(ask()), shown)

    assert (shown, others.opened) == ([TextDelta("a")], [])


async def test_a_model_of_the_chain_is_closed_when_the_consumer_of_its_stream_stops():
    other = FakeStep([response("a b")], name="other")
    pieces = falling(FakeStep([api_error()]), Others(other), "other").stream(ask())

    assert await anext(pieces) == TextDelta("a")
    assert (other.open, other.closed) == (1, 0)
    await pieces.aclose()
    assert (other.open, other.closed) == (0, 1)


async def test_each_model_of_the_chain_keeps_the_layers_beneath():
    other = FakeStep([response("other")], name="other")
    modules = {"fallback": {"chain": ["other"]}, "rate_limit": {"requests_per_minute": 60}}
    stack = build_stack(FakeStep([api_error()]), modules, Others(other))

    assert await stack.complete(ask()) == response("other")


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        ([], "`chain` is of type `list`"),
        (["x"] * 11, "`chain` is of type `list`"),
        (["Open AI"], "`chain.0.provider` is 'Open AI' (must be the name of a provider"),
        (["openai:"], "`chain.0.model` is ''"),
        ([{"provider": "openai", "modle": "x"}], "`chain.0.modle` is unknown"),
        ([3], "`chain.0` is 3"),
    ],
)
def test_a_wrong_chain_is_refused(chain, message):
    with pytest.raises(ArcLLMConfigError) as refused:
        build_stack(FakeStep(), {"fallback": {"chain": chain}}, Others())

    assert refused.value.message.startswith(f"fallback: {message}")
