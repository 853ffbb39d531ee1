"""The conversation in memory: what is added stays, requests get what fits."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.validation.behavioral import ContextBehaviorTests
from amplifier_modules.contexts import simple
from amplifier_modules.contexts.simple import SimpleContext

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def user(text, **fields):
    return {"role": "user", "content": text, **fields}


def call(*ids):
    return {
        "role": "assistant",
        "content": [{"type": "tool_call", "id": id, "name": "look", "input": {}} for id in ids],
        "tool_calls": [{"id": id, "tool": "look", "arguments": {}} for id in ids],
    }


def result(id, text="seen"):
    return {"role": "tool", "tool_call_id": id, "name": "look", "content": text}


@pytest.fixture
def context():
    return SimpleContext(clock=lambda: NOON)


async def test_messages_come_back_with_a_timestamp(context):
    await context.add_message(user("hi"))
    await context.add_message(user("again", metadata={"source": "test"}))
    await context.add_message(user("none", metadata=None))

    stamp = "2026-01-02T12:00:00.000+00:00"
    assert await context.get_messages() == [
        user("hi", metadata={"timestamp": stamp}),
        user("again", metadata={"source": "test", "timestamp": stamp}),
        user("none", metadata={"timestamp": stamp}),
    ]


async def test_a_timestamp_that_is_there_stays(context):
    message = user("hi", metadata={"timestamp": "earlier"})
    await context.add_message(message)

    assert await context.get_messages() == [message]


async def test_a_message_is_the_contexts_own(context):
    message = user("hi")
    await context.add_message(message)
    message["content"] = "changed"
    (await context.get_messages()).clear()

    assert [each["content"] for each in await context.get_messages()] == ["hi"]


async def test_a_message_is_the_same_object_in_each_list(context):
    await context.add_message(user("hi"))

    [first] = await context.get_messages()
    [second] = await context.get_messages_for_request()
    assert first is second


async def test_a_conversation_can_be_replaced_and_forgotten(context):
    await context.add_message(user("old"))
    await context.set_messages([user("a"), user("b")])
    assert [each["content"] for each in await context.get_messages_for_request()] == ["a", "b"]

    await context.clear()
    assert await context.get_messages() == []
    assert await context.get_messages_for_request() == []


async def test_what_is_no_message_is_refused_and_changes_nothing(context):
    await context.add_message(user("hi"))
    with pytest.raises(TypeError, match=r"of type `str` \(must be a dict\)"):
        await context.add_message("hi")
    with pytest.raises(TypeError):
        await context.set_messages([user("a"), None])

    assert [each["content"] for each in await context.get_messages()] == ["hi"]


async def test_a_message_without_a_known_role_is_kept_and_not_sent(context, caplog):
    await context.add_message({"foo": "bar"})
    await context.add_message({"role": "wizard", "content": "x"})
    await context.add_message(user("hi"))

    assert len(await context.get_messages()) == 3
    assert [each["content"] for each in await context.get_messages_for_request()] == ["hi"]
    assert "not sent" in caplog.text


async def test_a_result_is_put_right_behind_its_call(context):
    for message in (
        user("hi"), call("1", "2"), user("a hook"), result("1"), {"foo": 1}, user("another"),
        result("2"), user("next"), result("unknown"),
    ):  # fmt: skip
        await context.add_message(message)

    order = [
        each.get("tool_call_id") or each["content"]
        for each in await context.get_messages_for_request()
        if each["role"] != "assistant"
    ]
    assert order == ["hi", "1", "2", "a hook", "another", "next", "unknown"]
    kept = [each.get("tool_call_id") for each in await context.get_messages()]
    assert kept[2:4] == ["1", "2"]


async def test_the_system_prompt_is_made_for_each_request(context):
    prompts = ["be kind", "be brief"]

    async def factory():
        return prompts.pop(0)

    await context.set_system_prompt_factory(factory)
    await context.add_message(user("hi"))

    requests = [await context.get_messages_for_request() for _ in range(2)]
    assert [request[0] for request in requests] == [
        {"role": "system", "content": "be kind"},
        {"role": "system", "content": "be brief"},
    ]
    assert len(await context.get_messages()) == 1
    await context.set_system_prompt_factory(None)
    assert len(await context.get_messages_for_request()) == 1


@pytest.mark.parametrize(
    "config",
    [
        {"max_tokens": "many"},
        {"max_tokens": -0.5},
        {"compact_threshold": 2},
        {"target_usage": -0.1},
        {"truncate_chars": True},
        {"protected_recent": float("nan")},
    ],
)
def test_a_bad_setting_is_named(config):
    with pytest.raises(ValueError, match=f"`{next(iter(config))}` is "):
        SimpleContext(config)


async def test_the_module_mounts_a_context():
    coordinator = ModuleCoordinator()
    await simple.mount(coordinator, {"max_tokens": 1000})

    assert isinstance(coordinator.get("context"), SimpleContext)


@pytest.mark.parametrize(
    "name", [name for name in vars(ContextBehaviorTests) if name.startswith("test_")]
)
async def test_it_behaves_like_every_context(context, name):
    try:
        await getattr(ContextBehaviorTests(), name)(context)
    except pytest.skip.Exception as skipped:
        pytest.fail(f"skipped: {skipped}")


async def test_it_compacts_when_the_room_of_the_last_request_is_outgrown():
    context = SimpleContext({"max_tokens": 1000})
    for _ in range(5):
        await context.add_message(user("a" * 400))
    assert context._should_compact() is False
    assert len(await context.get_messages_for_request(token_budget=600)) == 5
    assert context._should_compact() is False
    await context.add_message(user("a" * 400))

    assert context._should_compact() is True
    await context._compact_internal()

    assert context._should_compact() is False
    assert len(await context.get_messages_for_request(token_budget=600)) < 6
    assert len(await context.get_messages()) == 6
