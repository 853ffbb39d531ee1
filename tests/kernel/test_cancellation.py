"""The cancellation token: levels, children, running tools and callbacks."""

from __future__ import annotations

import asyncio
import gc
import logging
import weakref
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st


def state(token: Any) -> tuple[str, bool, bool, bool]:
    return token.state, token.is_cancelled, token.is_graceful, token.is_immediate


def test_the_level_rises_and_only_a_reset_lowers_it(engine):
    token = engine.CancellationToken()
    assert state(token) == ("none", False, False, False)
    assert token.request_graceful()
    assert not token.request_graceful()
    assert state(token) == ("graceful", True, True, False)
    assert token.request_immediate()
    assert not token.request_immediate()
    assert not token.request_graceful()
    assert state(token) == ("immediate", True, False, True)
    token.reset()
    assert state(token) == ("none", False, False, False)
    assert token.request_cancellation() is None
    assert token.is_graceful


def test_running_tools_are_fresh_collections_that_a_reset_empties(engine):
    token = engine.CancellationToken()
    token.register_tool_start("1", "grep")
    token.register_tool_start("2", "grep")
    token.running_tools.clear()
    assert token.running_tools == {"1", "2"}
    assert token.running_tool_names == ["grep", "grep"]
    token.register_tool_complete("1")
    token.register_tool_complete("unknown")
    assert token.running_tools == {"2"}
    token.reset()
    assert token.running_tools == set()


def test_children_inherit_now_and_later_and_cycles_end(engine):
    parent, early, late = (
        engine.CancellationToken(),
        engine.CancellationToken(),
        engine.CancellationToken(),
    )
    parent.register_child(early)
    early.register_child(parent)
    parent.request_graceful()
    parent.register_child(late)
    assert [early.state, late.state] == ["graceful", "graceful"]

    parent.unregister_child(late)
    parent.unregister_child(late)
    parent.request_immediate()
    assert [early.state, late.state] == ["immediate", "graceful"]
    parent.reset()
    assert early.state == "immediate"


def test_a_child_leaves_with_all_its_registrations(engine):
    parent, twice, once = (engine.CancellationToken() for _ in range(3))
    for child in (twice, once, twice):
        parent.register_child(child)

    parent.unregister_child(twice)
    parent.request_graceful()

    assert [twice.state, once.state] == ["none", "graceful"]


@pytest.mark.parametrize("child", [None, 5, "token", object()])
def test_what_cannot_be_cancelled_is_no_child(engine, child):
    parent, other = engine.CancellationToken(), engine.CancellationToken()
    found = type(child).__name__
    with pytest.raises(TypeError, match=f"`child` must be a cancellation token, not `{found}`"):
        parent.register_child(child)
    parent.register_child(other)

    assert parent.request_immediate()
    assert other.is_immediate


def test_any_object_with_the_methods_of_a_token_is_a_child(engine):
    class Child:
        def __init__(self) -> None:
            self.heard: list[str] = []

        def request_graceful(self) -> None:
            self.heard.append("graceful")

        def request_immediate(self) -> None:
            self.heard.append("immediate")

    token, child = engine.CancellationToken(), Child()
    token.register_child(child)
    token.request_graceful()
    token.request_immediate()
    assert child.heard == ["graceful", "immediate"]


# Holds: differ-37
async def test_callbacks_run_on_demand_in_order_and_every_time(engine, caplog):
    token, seen = engine.CancellationToken(), []

    async def later() -> None:
        seen.append("later")

    def fails() -> None:
        raise ValueError("broken")

    token.on_cancel(lambda: seen.append("plain"))
    token.on_cancel(fails)
    token.on_cancel(later)
    token.request_graceful()
    assert seen == []
    with caplog.at_level(logging.ERROR, "amplifier_core.cancellation"):
        assert await token.trigger_callbacks() is None
        await token.trigger_callbacks()
    assert seen == ["plain", "later"] * 2
    assert len(caplog.records) == 2


# Holds: differ-38
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_exit_of_a_callback_waits_for_the_others(engine, error):
    token, seen = engine.CancellationToken(), []

    def leaves() -> None:
        raise error("first")

    token.on_cancel(leaves)
    token.on_cancel(lambda: seen.append("ran"))
    with pytest.raises(error, match="first"):
        trio.run(token.trigger_callbacks)
    assert seen == ["ran"]


def test_a_cancelled_error_of_a_callback_is_swallowed(engine, caplog):
    token, seen = engine.CancellationToken(), []

    async def cancels() -> None:
        raise asyncio.CancelledError

    token.on_cancel(cancels)
    token.on_cancel(lambda: seen.append("ran"))
    asyncio.run(token.trigger_callbacks())
    assert seen == ["ran"]
    assert len(caplog.records) == 1


def test_tokens_in_cycles_are_collected(engine):
    class Holder:
        pass

    holder, token = Holder(), engine.CancellationToken()
    holder.token = token
    token.on_cancel(lambda kept=holder: kept)
    token.register_child(token)
    gone = weakref.ref(token)
    del holder, token
    gc.collect()
    assert gone() is None


@given(st.lists(st.sampled_from(["graceful", "immediate", "reset"])))
def test_the_level_is_the_highest_since_the_last_reset(engine, requests):
    token, expected = engine.CancellationToken(), 0
    for request in requests:
        if request == "reset":
            token.reset()
            expected = 0
        else:
            rises = 1 if request == "graceful" else 2
            assert getattr(token, f"request_{request}")() is (rises > expected)
            expected = max(expected, rises)
        assert token.state == ["none", "graceful", "immediate"][expected]
