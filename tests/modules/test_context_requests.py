"""What a context sends: a stable beginning, the kept messages, as many tokens as there is room for."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import HookRegistry, ModuleCoordinator
from amplifier_core.events import CONTEXT_COMPACTION, LLM_RESPONSE
from amplifier_core.llm_errors import ContextLengthError
from amplifier_modules.contexts import compaction, sent_view, simple
from amplifier_modules.contexts.compaction import LEVELS, CompactionSettings, View, compact
from amplifier_modules.contexts.context_settings import ContextSettings
from amplifier_modules.contexts.meter import TokenMeter
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_providers.requests.token_estimate import estimate_tokens

CAPABILITY = "context.request_retention"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


def user(text, **fields):
    return {"role": "user", "content": text, **fields}


def call(*ids, **fields):
    calls = [{"id": id, "tool": "look", "arguments": {}} for id in ids]
    return {"role": "assistant", "content": "", "tool_calls": calls, **fields}


def result(id, length=400):
    return {"role": "tool", "tool_call_id": id, "name": "look", "content": "r" * length}


async def fill(context, messages):
    for message in messages:
        await context.add_message(message)


def size(messages):
    return sum(map(estimate_tokens, messages))


def view_of(messages):
    view = View()
    for message in messages:
        view.add(message)
    return view


def rounds(count, length=400):
    for number in range(count):
        yield call(str(number))
        yield result(str(number), length)


async def mounted(**config):
    coordinator = ModuleCoordinator()
    await simple.mount(coordinator, config)
    return coordinator, coordinator.get("context")


def test_the_defaults_are_those_of_the_contract():
    defaults = ContextSettings().model_dump()
    assert defaults == {
        "max_tokens": 200_000,
        "compact_threshold": 0.92,
        "target_usage": 0.50,
        "protected_recent": 0.30,
        "protected_tool_results": 5,
        "truncate_chars": 250,
        "compaction_notice": "short",
        "token_meter": "actual",
        "put_aside_bytes": 131_072,
        "put_aside_total_bytes": 268_435_456,
        "summarize": False,
        "summary_tokens": 1_000,
    }


def test_there_are_eight_levels_with_the_last_beside_the_table():
    steps = [level.truncated if level.truncated is not None else -1 for level in LEVELS]
    assert steps == [0.25, -1, 0.5, -1, 0.75, -1, -1]
    protections = [each.protection for each in LEVELS if each.protection is not None]
    assert protections == sorted(protections, reverse=True), "less and less is protected"


def stages():
    """Show a long turn with less and less room."""
    first, last = user("the task " + "q" * 2_000), user("and now?")
    messages = [{"role": "system", "content": "be kind"}, first, *rounds(20, 2_000), last]
    messages += rounds(6, 2_000)
    whole = size(messages)
    settings = CompactionSettings(target_usage=0.92)
    for share in range(110, 0, -1):
        yield messages, compact(view_of(messages), whole * share / 100, settings).messages


def test_each_level_takes_more_than_the_one_before():
    seen = []
    for messages, shown in stages():
        results = [each for each in messages if each["role"] == "tool"]
        left = [each for each in shown if each["role"] == "tool"]
        cut = sum(len(each["content"]) < 2_000 for each in left)
        removed = len(results) - len(left)
        stub = len(shown[1]["content"]) < 2_000
        seen.append((cut, removed, stub))
        assert shown[0] == messages[0]
        assert {"role": "user", "content": "and now?"} in shown
        whole = [each["tool_call_id"] for each in left if len(each["content"]) == 2_000]
        if not stub:
            newest = [each["tool_call_id"] for each in results][-5:]
            kept = newest[-len(left) :]
            assert whole[-len(kept) :] == kept, (
                "the newest five are whole as long as they are there"
            )
    assert seen[0] == (0, 0, False)
    first_cut = next(at for at, each in enumerate(seen) if each[0])
    first_removed = next(at for at, each in enumerate(seen) if each[1])
    first_stub = next(at for at, each in enumerate(seen) if each[2])
    assert first_cut < first_removed < first_stub
    assert seen[-1] == (1, 25, True), "the last round stays, its result truncated as a last resort"


# Holds: agent-30
async def test_the_beginning_of_requests_stays_the_same_between_compactions():
    coordinator, context = await mounted(max_tokens=4_000)
    compactions = []
    coordinator.hooks.register(CONTEXT_COMPACTION, lambda event, data: compactions.append(data))

    async def prompt():
        return "be kind"

    await context.set_system_prompt_factory(prompt)
    last, changed = [], 0
    for number in range(120):
        await fill(context, [user(f"question {number}"), *rounds(1), user("so?")])
        count = len(compactions)
        shown = await context.get_messages_for_request()
        again = await context.get_messages_for_request()
        assert again == shown
        if count == len(compactions):
            assert all(a is b for a, b in zip(last, shown, strict=False))
            assert shown[: len(last)] == last
        else:
            changed += 1
        last = shown
    assert changed == len(compactions)
    assert 4 < changed < 12, "a compaction makes room for many requests"


@pytest.mark.parametrize(
    ("verbosity", "expected"),
    [
        ("none", None),
        (
            "short",
            (
                "<system-reminder>{} earlier messages of this conversation are not shown, because it"
                " has grown too long.</system-reminder>"
            ),
        ),
        (
            "detailed",
            (
                "<system-reminder>{} earlier messages of this conversation are not shown, because it"
                " has grown too long. The first message of the user and the newest messages are shown."
                " 0 tool results are shortened, and say so at their end. What is missing can be asked"
                " for again.</system-reminder>"
            ),
        ),
    ],
)
async def test_the_notice_says_as_much_as_is_wanted(verbosity, expected):
    context = SimpleContext({"max_tokens": 2_000, "compaction_notice": verbosity})
    await fill(context, [user("q" * 152) for _ in range(60)])
    shown = await context.get_messages_for_request()
    notices = [each for each in shown if each["metadata"].get("source") == "compaction"]
    removed = 60 - len(shown) + len(notices)
    wanted = [] if expected is None else [expected.format(removed)]
    assert [each["content"] for each in notices] == wanted


async def test_the_system_prompt_is_told_when_it_changes():
    coordinator, context = await mounted()
    seen = []
    coordinator.hooks.register("context:system_prompt", lambda event, data: seen.append(data))
    prompts = ["a", "a", "bé", "a"]

    async def factory():
        return prompts.pop(0)

    await context.set_system_prompt_factory(factory)
    for _ in range(4):
        await context.get_messages_for_request()
    keys = ("text", "sha256", "characters")
    assert [tuple(data[key] for key in keys) for data in seen] == [
        (text, hashlib.sha256(text.encode()).hexdigest(), len(text)) for text in ("a", "bé", "a")
    ]
    told = await coordinator.collect_contributions("observability.events")
    assert any("context:system_prompt" in names for names in told)


async def test_kept_messages_are_in_each_request_of_the_block():
    coordinator, context = await mounted(max_tokens=2_000)
    await fill(context, [user("start"), *rounds(30, 600), user("now")])
    kept = (await context.get_messages())[3:5]
    before = await context.get_messages_for_request()
    assert not any(each in before for each in kept)

    retention = coordinator.get_capability(CAPABILITY)
    with retention.keep([dict(kept[1])]):
        for _ in range(2):
            shown = await context.get_messages_for_request()
            assert [each for each in shown if each in kept] == kept, "with its call"
            assert size(shown) <= 2_000
            await context.add_message(user("more"))
    shown = await context.get_messages_for_request()
    assert shown[: len(before)] == before, "the view of other requests is as it was"


async def test_kept_messages_that_do_not_fit_are_an_error():
    coordinator, context = await mounted(max_tokens=2_000)
    await fill(context, [user("start"), user("x" * 12_000), user("now")])
    [_, long, _] = await context.get_messages()
    keeping = coordinator.get_capability(CAPABILITY).keep([long])
    with keeping, pytest.raises(ContextLengthError) as raised:
        await context.get_messages_for_request()
    assert str(raised.value) == (
        "the messages that `context.request_retention` keeps do not fit: they have about 3,004"
        " tokens, the smallest request with them 3,013, and 2,000 fit"
    )
    assert len(await context.get_messages_for_request()) == 3


async def answered(coordinator, tokens, status="ok"):
    await coordinator.hooks.emit(
        LLM_RESPONSE, {"status": status, "usage": {"input_tokens": tokens, "output_tokens": 1}}
    )


@pytest.mark.parametrize(
    ("meter", "status", "is_cut"),
    [("actual", "ok", True), ("actual", "error", False), ("estimate", "ok", False)],
)
async def test_what_the_provider_counted_corrects_the_estimate(meter, status, is_cut):
    coordinator, context = await mounted(max_tokens=10_000, token_meter=meter)
    await fill(context, [user("q" * 3_984) for _ in range(8)])
    assert size(await context.get_messages_for_request()) == 8_000
    await answered(coordinator, 10_400, status)

    assert (len(await context.get_messages_for_request()) < 8) is is_cut


async def test_a_count_below_the_estimate_leaves_more_in():
    coordinator, context = await mounted(max_tokens=10_000)
    await fill(context, [user("q" * 3_984) for _ in range(9)])
    await context.get_messages_for_request()
    await answered(coordinator, 6_000)
    await fill(context, [user("q" * 3_984) for _ in range(2)])
    assert len(await context.get_messages_for_request()) == 11


@pytest.mark.parametrize("usage", [None, 5, {}, {"input_tokens": True}, {"input_tokens": 10**9}])
async def test_a_count_that_is_none_changes_nothing(usage):
    coordinator, context = await mounted(max_tokens=10_000)
    await fill(context, [user("q" * 3_984) for _ in range(8)])
    await context.get_messages_for_request()
    await coordinator.hooks.emit(LLM_RESPONSE, {"status": "ok", "usage": usage})
    assert len(await context.get_messages_for_request()) == 8


async def test_a_context_that_has_ended_listens_no_more():
    coordinator = ModuleCoordinator()
    end = await simple.mount(coordinator, {"max_tokens": 10_000})
    context = coordinator.get("context")
    await fill(context, [user("q" * 3_984) for _ in range(8)])
    await context.get_messages_for_request()
    await end()
    await answered(coordinator, 20_000)
    assert len(await context.get_messages_for_request()) == 8


@given(
    sent=st.integers(1, 300_000),
    counted=st.integers(1, 300_000),
    budgets=st.lists(st.integers(1, 400_000), min_size=2, max_size=2),
)
def test_a_larger_budget_never_has_less_room(sent, counted, budgets):
    meter = TokenMeter("actual")
    meter.note_request(sent)
    meter.note({"input_tokens": counted})
    smaller, larger = sorted(budgets)
    assert 0 <= meter.estimate_for(smaller) <= meter.estimate_for(larger)


THINKING = {"type": "thinking", "thinking": "hm", "signature": "s" * 50}


@given(
    rounds=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 900)), min_size=1, max_size=20),
    budget=st.integers(20, 3_000),
)
def test_a_thought_stays_with_its_call_or_goes_with_it(rounds, budget):
    messages = [user("go")]
    for number, (calls, length) in enumerate(rounds):
        ids = [f"{number}.{each}" for each in range(calls)]
        blocks = [{**THINKING, "thinking": f"{number}"}]
        blocks += [{"type": "tool_call", "id": id, "name": "look", "input": {}} for id in ids]
        messages.append({**call(*ids), "content": blocks})
        messages += [result(id, length) for id in ids]
    view = compact(view_of(messages), budget, CompactionSettings())

    said = [each for each in view.messages if each["role"] == "assistant"]
    assert all(any(each is message for message in messages) for each in said), "as it was written"
    called = [each["id"] for message in said for each in message["tool_calls"]]
    assert called == [each["tool_call_id"] for each in view.messages if each["role"] == "tool"]


async def test_the_hundredth_compaction_looks_at_no_more_than_the_first(monkeypatch):
    looked, estimated = [], []

    def counted(view, *args):
        estimated.clear()
        looked.append((len(view.messages), estimated))
        after = compact(view, *args)
        looked[-1] = (len(view.messages), len(estimated))
        return after

    def estimate(message):
        estimated.append(message)
        return estimate_tokens(message)

    monkeypatch.setattr(sent_view, "compact", counted)
    monkeypatch.setattr(compaction, "estimate_tokens", estimate)
    context = SimpleContext(max_tokens=4_000)
    number = 0
    while len(looked) < 100:
        number += 1
        await fill(context, [user(f"question {number}"), call(f"{number}"), result(f"{number}")])
        await context.get_messages_for_request()
    assert len(await context.get_messages()) > 3_000
    messages, estimates = zip(*looked, strict=True)
    assert max(messages[50:]) <= max(messages[:5])
    assert max(estimates[50:]) <= max(estimates[:5])


async def test_a_hook_registry_alone_is_enough():
    hooks = HookRegistry()
    seen = []
    hooks.register(CONTEXT_COMPACTION, lambda event, data: seen.append(data["is_summarized"]))
    context = SimpleContext(hooks=hooks, max_tokens=1_000)
    await fill(context, [user("q" * 200) for _ in range(30)])
    await context.get_messages_for_request()
    assert seen == [False]
