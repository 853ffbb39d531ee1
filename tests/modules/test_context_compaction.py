"""Views of a conversation that no longer fits: what is cut first, what never is."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import HookRegistry
from amplifier_core.events import CONTEXT_COMPACTION
from amplifier_core.models import ModelInfo
from amplifier_modules.contexts.compaction import CompactionSettings, View, compact, is_notice
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_providers.requests.token_estimate import estimate_tokens, request_budget


def user(text):
    return {"role": "user", "content": text}


def assistant(*ids, text="x"):
    return {
        "role": "assistant",
        "content": [
            {"type": "text", "text": text},
            *({"type": "tool_call", "id": id, "name": "look", "input": {}} for id in ids),
        ],
        "tool_calls": [{"id": id, "tool": "look", "arguments": {}} for id in ids],
    }


def result(id, text):
    return {"role": "tool", "tool_call_id": id, "name": "look", "content": text}


def view_of(messages):
    view = View()
    for message in messages:
        view.add(message)
    return view


async def fill(context, messages):
    for message in messages:
        await context.add_message(message)


async def test_what_fits_is_not_cut():
    context = SimpleContext()
    await fill(context, [user("hi"), assistant(text="hello")])

    assert await context.get_messages_for_request() == await context.get_messages()


async def test_a_quarter_of_the_old_tool_results_is_truncated_first():
    context = SimpleContext({"max_tokens": 9_000, "protected_tool_results": 2})
    await fill(context, [user("hi")])
    for number in range(8):
        await fill(context, [assistant(str(number)), result(str(number), "y" * 4_400)])
    settings = CompactionSettings(target_usage=0.8, protected_tool_results=2)

    view = compact(view_of(await context.get_messages()), 9_000, settings)
    assert len(view.messages) == 17
    results = [each["content"] for each in view.messages if each["role"] == "tool"]
    assert [len(each) > 4_000 for each in results] == [False] * 2 + [True] * 6
    assert results[0].endswith("\n[4150 more characters left out]")
    assert len(await context.get_messages_for_request()) < 17, "a lower target takes more levels"
    whole = [each for each in await context.get_messages() if each["role"] == "tool"]
    assert {len(each["content"]) for each in whole} == {4_400}, "the conversation stays whole"


async def test_then_the_oldest_messages_are_left_out_and_a_notice_says_so():
    context = SimpleContext({"max_tokens": 1_000})
    messages = [{"role": "system", "content": "be kind"}]
    for number in range(20):
        messages += [user(f"question {number} " + "q" * 200), assistant(text="a" * 200)]
    await fill(context, messages)

    shown = await context.get_messages_for_request()
    assert shown[0]["content"] == "be kind"
    assert shown[1]["content"] == messages[1]["content"], "what the conversation is about stays"
    removed = len(messages) - len(shown) + 1
    assert shown[2]["content"].startswith(f"<system-reminder>{removed} earlier messages")
    assert shown[-1]["content"] == messages[-1]["content"]
    assert 500 < sum(map(estimate_tokens, shown)) <= 920, "the recent ones stay while they fit"
    assert len(await context.get_messages()) == 41


async def test_a_cut_view_stays_as_it_is_until_it_has_grown_again():
    context = SimpleContext({"max_tokens": 1_000})
    await fill(context, [user(f"{number} " + "q" * 200) for number in range(30)])
    first = await context.get_messages_for_request()
    await fill(context, [user("more")])
    second = await context.get_messages_for_request()

    assert second[:-1] == first
    assert all(a is b for a, b in zip(first, second, strict=False))


async def test_compaction_is_announced_once_with_its_figures():
    hooks = HookRegistry()
    seen = []
    hooks.register(CONTEXT_COMPACTION, lambda event, data: seen.append(data))
    context = SimpleContext({"max_tokens": 1_000}, hooks=hooks)
    await fill(context, [user("q" * 200) for _ in range(30)])
    shown = await context.get_messages_for_request()
    await context.get_messages_for_request()

    [data] = seen
    data.pop("timestamp", None)
    assert data == {
        "budget": 1_000,
        "before_tokens": 30 * 54,
        "after_tokens": sum(map(estimate_tokens, shown)),
        "before_messages": 30,
        "after_messages": len(shown),
        "messages_removed": 31 - len(shown),
        "results_truncated": 0,
        "is_summarized": False,
    }


async def test_a_model_with_more_room_sees_everything_again():
    context = SimpleContext()
    await fill(context, [user("q" * 200) for _ in range(30)])

    assert len(await context.get_messages_for_request(token_budget=1_000)) < 30
    assert len(await context.get_messages_for_request(token_budget=100_000)) == 30


async def test_a_long_single_turn_keeps_its_prompt():
    context = SimpleContext({"max_tokens": 2_000, "protected_tool_results": 0})
    await fill(context, [user("the task")])
    for number in range(100):
        await fill(context, [assistant(str(number)), result(str(number), "y" * 200)])

    shown = await context.get_messages_for_request()
    assert shown[0]["content"] == "the task"
    assert shown[-1]["tool_call_id"] == "99"
    assert "earlier messages" in shown[1]["content"]


async def test_what_cannot_be_made_to_fit_is_sent_as_it_is(caplog):
    context = SimpleContext({"max_tokens": 100})
    await fill(context, [user("q" * 4_000)])

    assert len(await context.get_messages_for_request()) == 1
    assert "1004 tokens, 100 fit" in caplog.text


GROUPS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 900), st.booleans()), min_size=1, max_size=25
)


@given(groups=GROUPS, budget=st.integers(50, 3_000))
def test_no_view_separates_a_call_from_its_results(groups, budget):
    ids = itertools.count()
    messages = [{"role": "system", "content": "be kind"}]
    for calls, length, is_user in groups:
        if is_user:
            messages.append(user(f"u{next(ids)}" + "q" * length))
        else:
            called = [str(next(ids)) for _ in range(calls)]
            messages.append(assistant(*called))
            messages += [result(id, "r" * length) for id in called]
    settings = CompactionSettings()
    view = compact(view_of(messages), budget, settings)
    again = compact(view, budget // 2, settings)

    for each in (view, again):
        called, answered = [], []
        for message in each.messages:
            called += [call["id"] for call in message.get("tool_calls", [])]
            answered += [message["tool_call_id"]] if message["role"] == "tool" else []
        assert called == answered
        assert each.messages[0] == messages[0]
        assert each.tokens == list(map(estimate_tokens, each.messages))
        assert each.total == sum(each.tokens)
        asked = [message for message in messages if message["role"] == "user"]
        assert not asked or asked[-1] in each.messages
        notices = [message for message in each.messages if is_notice(message)]
        assert len(notices) == (each.messages_removed > 0)
        assert len(messages) - each.messages_removed == len(each.messages) - len(notices)


def provider(**methods):
    return SimpleNamespace(**methods)


def small():
    return ModelInfo(id="s", display_name="S", context_window=8_000, max_output_tokens=8_000)


async def async_budget():
    return 6_000


@pytest.mark.parametrize(
    ("token_budget", "source", "budget"),
    [
        (500, None, 500),
        (None, None, 200_000),
        (None, provider(), 200_000),
        (
            None,
            provider(
                get_info=lambda: SimpleNamespace(
                    defaults={"context_window": 100_000, "max_output_tokens": 20_000}
                )
            ),
            85_904,
        ),
        (
            None,
            provider(
                get_model_info=lambda: SimpleNamespace(
                    context_window=8_000, max_output_tokens=8_000, defaults={}
                )
            ),
            4_000,
        ),
        (
            None,
            provider(
                get_model_info=lambda: SimpleNamespace(
                    context_window=8_000, max_output_tokens=8_000
                )
            ),
            4_000,
        ),
        (None, provider(get_info=lambda: SimpleNamespace(defaults={})), 200_000),
        (500, provider(request_budget=lambda: 7_000), 500),
        (None, provider(request_budget=lambda: 7_000, get_model_info=small), 7_000),
        (None, provider(request_budget=async_budget, get_model_info=small), 6_000),
        (None, provider(request_budget=lambda: None, get_model_info=small), 4_000),
        (None, provider(request_budget=lambda: True, get_model_info=small), 4_000),
        (None, provider(request_budget=lambda: 0, get_model_info=small), 4_000),
        (None, provider(request_budget=lambda request: 7_000, get_model_info=small), 4_000),
        (None, MagicMock(), 200_000),
    ],
)
async def test_the_budget_is_the_callers_then_the_models_then_the_default(
    token_budget, source, budget
):
    assert await request_budget(token_budget, source, 200_000) == budget


def test_an_image_costs_the_same_whatever_its_size():
    image = {"type": "image", "source": {"type": "base64", "data": "A" * 1_000_000}}
    assert estimate_tokens({"role": "user", "content": [image]}) == 1_604
