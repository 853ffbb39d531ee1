"""Generated programs of requests, children and callbacks do the same on both engines and mixed."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

TOKENS = st.integers(0, 3)
CALLS = st.sampled_from(["1", "2", "3"])
STEPS = st.one_of(
    st.tuples(
        st.sampled_from(["request_graceful", "request_immediate", "request_cancellation", "reset"]),
        TOKENS,
    ),
    st.tuples(st.sampled_from(["register_child", "unregister_child"]), TOKENS, TOKENS),
    st.tuples(st.just("register_tool_start"), TOKENS, CALLS, st.sampled_from(["grep", "read"])),
    st.tuples(st.just("register_tool_complete"), TOKENS, CALLS),
    st.tuples(
        st.just("on_cancel"),
        TOKENS,
        st.booleans(),
        st.sampled_from([None, ValueError("x"), KeyboardInterrupt("out"), SystemExit(3)])
        | st.builds(asyncio.CancelledError),
    ),
    st.tuples(st.just("trigger_callbacks"), TOKENS),
)


def state(token: Any) -> tuple[Any, ...]:
    levels = token.state, token.is_cancelled, token.is_graceful, token.is_immediate
    return (*levels, sorted(token.running_tools), token.running_tool_names)


def callback_of(trace: list[Any], number: int, is_async: bool, error: Any) -> Any:
    def act() -> None:
        trace.append(("callback", number))
        if error is not None:
            raise error

    async def later() -> None:
        await asyncio.sleep(0)
        act()

    # A task that raises an exit takes the event loop with it: only plain callbacks raise one.
    is_exit = isinstance(error, KeyboardInterrupt | SystemExit)
    return later if is_async and not is_exit else act


async def run(classes: list[Any], program: list[Any]) -> list[Any]:
    """Everything that a program does to four tokens of these classes."""
    trace: list[Any] = []
    tokens = [cls() for cls in classes]
    for name, place, *rest in program:
        token = tokens[place]
        try:
            if name == "trigger_callbacks":
                outcome = await token.trigger_callbacks()
            elif name in ("register_child", "unregister_child"):
                outcome = getattr(token, name)(tokens[rest[0]])
            elif name == "on_cancel":
                outcome = token.on_cancel(callback_of(trace, len(trace), *rest))
            else:
                outcome = getattr(token, name)(*rest)
        except BaseException as error:  # noqa: BLE001 (compared)
            outcome = (type(error).__name__, str(error))
        trace.append((name, outcome, [state(each) for each in tokens]))
    return trace


@pytest.fixture(autouse=True)
def quiet():
    logger = logging.getLogger("amplifier_core.cancellation")
    logger.disabled = True
    yield
    logger.disabled = False


@settings(max_examples=4 * settings().max_examples, deadline=None)
@given(st.lists(STEPS, max_size=15))
def test_programs_of_cancellation_do_the_same_on_both_engines_and_mixed(engines, program):
    rust, python = (engine.CancellationToken for engine in engines)
    expected = asyncio.run(run([rust] * 4, program))
    assert asyncio.run(run([python] * 4, program)) == expected
    assert asyncio.run(run([rust, python, rust, python], program)) == expected
    assert asyncio.run(run([python, python, rust, rust], program)) == expected
