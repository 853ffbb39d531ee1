"""A turn that runs ahead of its reader does what one does that waits for each event."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_agent import (
    Agent,
    Event,
    QuestionAsked,
    Result,
    ScriptedProvider,
    TextDelta,
    ToolStarted,
    hook,
    stream,
    tool,
)
from amplifier_agent.handover import AHEAD, Handover

STEPS = 200
"""Enough for a turn that does not wait for anything to come to its end."""


async def let_others_run(steps: int = STEPS) -> None:
    for _ in range(steps):
        await anyio.lowlevel.checkpoint()


def text_of(words: int) -> str:
    return "".join(f"word-{number} " for number in range(words)).rstrip()


async def test_a_slow_reader_holds_the_turn_after_64_deltas_and_gets_them_all() -> None:
    heard: list[str] = []

    @hook("content_block:delta")
    def hear(event: str, data: dict[str, Any]) -> None:
        heard.append(data["delta"])

    words = 3 * AHEAD
    items = Agent(ScriptedProvider([text_of(words)]), hooks=[hear]).stream("go")
    texts: list[str] = []
    async for item in items:
        if isinstance(item, TextDelta):
            if len(texts) in {0, 1, AHEAD}:
                await let_others_run()
            texts.append(item.text)
            # The one that fills the buffer waits there before the hooks hear it.
            assert len(heard) < len(texts) + AHEAD
    assert "".join(texts) == text_of(words)
    assert len(heard) == words


async def test_deltas_of_a_module_that_never_waits_hold_it_too() -> None:
    emitted: list[int] = []

    class Talkative(ScriptedProvider):
        hooks: Any

        async def complete(self, request: Any, **options: Any) -> Any:
            for number in range(3 * AHEAD):
                data = {"block_type": "text", "block_index": 0, "delta": f"{number} "}
                await self.hooks.emit("content_block:delta", data)
                emitted.append(number)
            return await super().complete(request, **options)

    model = Talkative(["done"])
    async with Agent(model).session() as session:
        model.hooks = session.session.coordinator.hooks
        items = session.stream("go")
        await anext(items)
        await let_others_run()
        assert len(emitted) == AHEAD - 2
        texts = [item.text async for item in items if isinstance(item, TextDelta)]
    assert texts[-2:] == [f"{3 * AHEAD - 1} ", "done"]


async def test_the_raw_data_of_a_delta_is_json_and_not_the_callers_own() -> None:
    given = {"block_type": "text", "block_index": 0, "delta": "so", "of": (1, {2})}

    class Emitting(ScriptedProvider):
        hooks: Any

        async def complete(self, request: Any, **options: Any) -> Any:
            await self.hooks.emit("content_block:delta", given)
            return await super().complete(request, **options)

    model = Emitting(["done"])
    async with Agent(model).session() as session:
        model.hooks = session.session.coordinator.hooks
        [first, *_] = [item async for item in session.stream("go")]
        assert isinstance(first, Event)
        name, data = first.raw
        stamp = data.pop("timestamp")
        assert name == "content_block:delta"
        assert list(data.items()) == [
            ("session_id", session.id), ("parent_id", None), ("block_type", "text"),
            ("block_index", 0), ("delta", "so"), ("of", [1, [2]]),
        ]  # fmt: skip
        assert stamp.endswith("+00:00")


async def test_nothing_follows_an_event_that_was_not_taken() -> None:
    ran: list[str] = []

    @tool(needs_approval=True)
    async def wipe(path: str) -> str:
        """Wipe."""
        ran.append(path)
        return "gone"

    call = {"tool": "wipe", "arguments": {"path": "old"}}
    model = ScriptedProvider([[{"type": "text", "text": "first I say so"}, call], "It is done."])
    async with Agent(model, tools=[wipe], approvals="wait").session() as session:
        async for item in session.stream("go"):
            if isinstance(item, Result):
                break
            assert session.last is None
            before = (len(model.requests), len(ran))
            await let_others_run()
            after = (len(model.requests), len(ran))
            if isinstance(item, QuestionAsked):
                assert session.questions == (item.question,)
                session.answer(item.question.id, True)
            elif isinstance(item, ToolStarted):
                # The tool runs once its start was taken.
                assert (before[1], after[1]) == (0, 1)
            elif isinstance(item, TextDelta):
                assert before == after
    assert ran == ["old"]


@dataclass(frozen=True)
class Reader:
    """What somebody does who takes the events of a turn."""

    at: int
    """The number of the event at which it does something."""
    action: str
    rest: int
    """How long it does nothing after that event and the one before; after others for a moment."""


async def run_session(script: list[Any], reader: Reader) -> dict[str, Any]:
    """Return what a turn came to: its history, the tools that ran, the requests to the model."""
    ran: list[int] = []

    @tool
    async def note(number: int) -> str:
        """Note a number."""
        ran.append(number)
        await anyio.lowlevel.checkpoint()
        return f"noted {number}"

    model = ScriptedProvider([*script, "The end.", "The end again.", "The end at last."])
    shown: list[str] = []
    outcome: Result | None = None
    async with Agent(model, tools=[note]).session() as session:
        context: Any = session.session.coordinator.get("context")
        items = session.stream("go")
        number = 0
        async for item in items:
            if isinstance(item, Result):
                outcome = item
                break
            number += 1
            if isinstance(item, TextDelta):
                shown.append(item.text)
            if number == reader.at:
                match reader.action:
                    case "steer":
                        session.steer("Be brief.")
                    case "cancel":
                        session.cancel()
                    case "cancel gracefully":
                        session.cancel(graceful=True)
                    case "pause":
                        session.pause()
                        await let_others_run(reader.rest)
                        session.resume()
                    case _:
                        break
            # Long before the event at which something is done, and after it; never between the two.
            is_near = reader.at - 1 <= number <= reader.at
            await let_others_run(reader.rest if is_near else min(reader.rest, 1))
        await items.aclose()
        history = await context.get_messages()
        ending = None if session.last is None else session.last.status
        is_shown = outcome is None or outcome.text in "".join(shown)
        return {
            "history": [(each["role"], each["content"]) for each in history],
            "ran": ran,
            "requests": len(model.requests),
            "status": ending,
            "is_shown": is_shown,
        }


@contextmanager
def waiting_for_each() -> Generator[None]:
    with patch.object(stream, "Handover", partial(Handover[Event], 0)):
        yield


calls = st.integers(0, 3).map(lambda n: {"tool": "note", "arguments": {"number": n}})
# One call each: which of several begins first is a matter of chance, under trio.
answers = st.tuples(st.integers(0, 90), calls).map(
    lambda made: [{"type": "text", "text": text_of(made[0])}, made[1]] if made[0] else [made[1]]
)
readers = st.builds(
    Reader,
    st.integers(1, 120),
    st.sampled_from(["steer", "cancel", "cancel gracefully", "pause", "break"]),
    st.sampled_from([0, 1, 7, STEPS]),
)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(deadline=None)
@given(script=st.lists(answers, max_size=2), reader=readers)
def test_running_ahead_changes_nothing(backend: str, script: list[Any], reader: Reader) -> None:
    with waiting_for_each():
        expected = anyio.run(run_session, script, reader, backend=backend)
    assert anyio.run(run_session, script, reader, backend=backend) == expected
