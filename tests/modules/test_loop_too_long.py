"""A request that is too long for the model is sent in a shorter form, and never unchanged."""

from __future__ import annotations

import pytest

import amplifier_core
from amplifier_agent import Agent, ScriptedProvider, Status
from amplifier_core import session as plain
from amplifier_core.events import CONTEXT_COMPACTION, LLM_POST, LLM_PRE, PROVIDER_ERROR
from amplifier_core.llm_errors import ContextLengthError
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_providers.requests.token_estimate import estimate_tokens


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def loop(request):
    return request.param


def too_long():
    return ContextLengthError("prompt is too long", provider="scripted")


async def fill(context, rounds=20):
    for number in range(rounds):
        await context.add_message({"role": "user", "content": f"question {number} " + "q" * 200})
        await context.add_message({"role": "assistant", "content": "a" * 200})


def size(request):
    return sum(estimate_tokens(message.model_dump()) for message in request.messages)


class Deaf(SimpleContext):
    """A context that sends everything, whatever fits."""

    async def get_messages_for_request(self, token_budget=None, provider=None):
        return await self.get_messages()


class Unbudgeted(Deaf):
    """A context that does not know budgets."""

    async def get_messages_for_request(self, provider=None):
        return await self.get_messages()


async def test_it_is_shortened_once_and_answered(loop, bench, say):
    turn = bench(loop, too_long(), say.text("done"))
    turn.context = SimpleContext(hooks=turn.coordinator.hooks)
    shortened = []
    turn.hook(CONTEXT_COMPACTION, lambda event, data: shortened.append(data))
    turn.answer_hook(
        "provider:request", action="inject_context", context_injection="now", ephemeral=True
    )
    await fill(turn.context)

    assert await turn.run() == "done"
    first, second = turn.provider.requests
    assert size(second) < size(first) * 0.75
    assert [request.messages[-1].content for request in (first, second)] == ["now", "now"]
    assert len(shortened) == 1
    assert [data["iteration"] for data in turn.data(LLM_PRE)] == [1, 1]
    assert [data["status"] for data in turn.data(LLM_POST)] == ["error", "ok"]
    assert turn.data(PROVIDER_ERROR) == []
    assert len(await turn.history()) == 42, "the conversation stays whole"


async def test_each_refusal_makes_the_request_shorter_until_the_shortest_is_refused(loop, bench):
    refusals = [too_long() for _ in range(5)]
    turn = bench(loop, *refusals)
    await fill(turn.context)

    with pytest.raises(ContextLengthError, match="cannot be made shorter") as raised:
        await turn.run()

    sizes = list(map(size, turn.provider.requests))
    assert sizes == sorted(set(sizes), reverse=True)
    assert raised.value.__cause__ is refusals[len(sizes) - 1]
    last = turn.provider.requests[-1].messages
    assert [message.role for message in last] == ["user", "user", "user"]
    assert last[-1].content == "go"
    assert len(turn.data(PROVIDER_ERROR)) == 1


async def test_what_is_learned_leaves_room_to_grow_again(loop, bench, say):
    turn = bench(loop, *[too_long() for _ in range(3)], say.text("one"), say.text("two"))
    await fill(turn.context)
    await turn.run()
    await turn.run()

    *_, refused, accepted, later = map(size, turn.provider.requests)
    assert accepted < later < refused


@pytest.mark.parametrize("context", [SimpleContext, Deaf, Unbudgeted])
async def test_what_cannot_be_shorter_is_not_sent_again(loop, bench, context):
    refusal = too_long()
    turn = bench(loop, refusal)
    turn.context = context()
    if context is not SimpleContext:
        await fill(turn.context)

    with pytest.raises(ContextLengthError) as raised:
        await turn.run("q" * 1_000)

    tokens = size(turn.provider.requests[0])
    assert str(raised.value) == (
        "the request is too long for the model and cannot be made shorter: about"
        f" {tokens:,} tokens, 254 of them in a message of the user; the provider said: prompt is"
        " too long"
    )
    assert raised.value.hint == (
        "shorten a message of the user, or use a model with a larger context window"
    )
    assert raised.value.__cause__ is refusal
    assert raised.value.provider == "scripted"
    assert len(turn.provider.requests) == 1
    assert len(turn.data(PROVIDER_ERROR)) == 1


async def test_later_requests_stay_below_what_was_refused(loop, bench, say):
    turn = bench(loop, too_long(), *[say.text("x" * 400)] * 30)
    await fill(turn.context)
    for _ in range(20):
        await turn.run("q" * 400)

    refused, *accepted = map(size, turn.provider.requests)
    assert len(accepted) == 20
    assert max(accepted) < refused
    assert len(turn.data(LLM_PRE)) == 21, "the model refused once only"


async def test_another_model_gets_all_that_fits(loop, bench, say):
    turn = bench(loop, too_long(), say.text("one"), say.text("two"))
    await fill(turn.context)
    await turn.run()
    turn.provider.default_model = "larger"
    await turn.run()

    refused, shorter, larger = map(size, turn.provider.requests)
    assert shorter < refused < larger


async def test_the_closing_call_of_a_turn_is_shortened_too(loop, bench, say):
    script = (say.calls(("1", "look", {})), too_long(), say.text("so far"))
    turn = bench(loop, *script, config={"max_iterations": 1})
    turn.tool("look", lambda given: "seen")
    await fill(turn.context)

    assert await turn.run() == "so far"


@pytest.mark.parametrize("engine", [amplifier_core, plain], ids=["rust", "python"])
async def test_both_engines_tell_it_by_one_event(loop, engine):
    model = ScriptedProvider([too_long(), "done"])
    modules = {"orchestrator": f"loop-{loop}", "context": "context-simple"}
    session = engine.AmplifierSession({"session": modules, "providers": ["provider-scripted"]})
    shortened = []
    async with session:
        await session.initialize()
        await session.coordinator.mount("providers", model, name="scripted")
        session.coordinator.hooks.register(
            CONTEXT_COMPACTION, lambda event, data: shortened.append(data["messages_removed"])
        )
        await fill(session.coordinator.get("context"))

        assert await session.execute("go") == "done"
    assert len(shortened) == 1
    assert shortened[0] > 0


async def test_a_user_is_told_once():
    history = [
        {"role": role, "content": "word " * 100}
        for _ in range(10)
        for role in ("user", "assistant")
    ]
    agent = Agent(ScriptedProvider([too_long(), "done"]))
    async with agent.stream("go", messages=history) as events:
        told = [event.text async for event in events if isinstance(event, Status)]

    assert len(told) == 1
    assert told[0].startswith("the conversation was shortened from ")
