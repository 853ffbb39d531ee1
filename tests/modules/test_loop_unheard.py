"""A turn that nobody watches: less is written, and all else is the same.

Holds: agent-14, agent-15, agent-16
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import HookRegistry, ModuleCoordinator
from amplifier_core.events import PROVIDER_REQUEST, TOOL_POST, TOOL_PRE
from amplifier_core.message_models import TextBlock, ToolCall
from amplifier_core.models import HookResult, ToolResult
from amplifier_modules.contexts.history_events import CONTEXT_MESSAGE
from amplifier_modules.contexts.simple import SimpleContext
from amplifier_modules.contexts.timestamp import Timestamps
from amplifier_modules.loops.answers.response import RequestedCall, block_dict, calls_of
from amplifier_modules.loops.basic import BasicLoop
from amplifier_modules.loops.goal.judgement import Actions
from amplifier_providers.running.listeners import listener_check


class Look:
    """A tool that gives way to others while it looks."""

    name = "look"
    description = "Look around."

    def __init__(self):
        self.inputs = []

    async def execute(self, given):
        self.inputs.append(given)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        if given.get("fails"):
            raise OSError("disk on fire")
        return ToolResult(output=f"seen {given}")


class Scripted:
    """A provider that answers with one response after the other."""

    name = "scripted"

    def __init__(self, *script):
        self.script = list(script)

    async def complete(self, request, **options):
        await anyio.lowlevel.checkpoint()
        return self.script.pop(0)


class Presented(ToolResult):
    """A result that counts how often hooks are shown it."""

    shown: int = 0

    def safe_hook_presentation(self):
        self.shown += 1
        return {"output": "shown"}


def unwatched(say, *, script=None, tool=None):
    """Everything for a turn whose events nobody hears."""
    coordinator, context = ModuleCoordinator(), SimpleContext()
    calls = say.calls(("1", "look", {"x": 1}), ("2", "look", {"fails": True}), text="look")
    provider = Scripted(*(script or (calls, say.text("done"))))
    tools = {"look": tool or Look()}

    async def run():
        return await BasicLoop().execute(
            "go", context, {"it": provider}, tools, coordinator.hooks, coordinator=coordinator
        )

    return coordinator, context, run


def without_times(messages):
    return [{key: value for key, value in each.items() if key != "metadata"} for each in messages]


async def test_the_history_is_that_of_a_turn_that_is_watched(say, bench):
    _, context, run = unwatched(say)
    assert await run() == "done"

    calls = say.calls(("1", "look", {"x": 1}), ("2", "look", {"fails": True}), text="look")
    watched = bench("basic", calls, say.text("done"))
    watched.tools["look"] = Look()
    assert await watched.run() == "done"
    assert without_times(await context.get_messages()) == await watched.history()


async def test_cancelled_anywhere_it_leaves_a_valid_history(say, valid):
    lengths = set()
    for checkpoints in range(1, 30):
        _, context, run = unwatched(say)
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            for _ in range(checkpoints):
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        history = without_times(await context.get_messages())
        valid(history)
        lengths.add(len(history))
    assert {1, 5} <= lengths  # cancelled behind the prompt, and after its end


async def test_a_hook_that_comes_during_the_turn_is_heard(say):
    heard = []

    async def note(event, data):
        heard.append(event)

    async def look(given):
        for event in (TOOL_POST, PROVIDER_REQUEST, CONTEXT_MESSAGE):
            coordinator.hooks.register(event, note, name="late")
        return "seen"

    coordinator, _, run = unwatched(
        say, script=(say.calls(("1", "look", {})), say.text("done")), tool=_Tool(look)
    )
    await run()
    assert heard == [TOOL_POST, CONTEXT_MESSAGE, PROVIDER_REQUEST, CONTEXT_MESSAGE]


class _Tool:
    name = "look"
    description = ""

    def __init__(self, execute):
        self.execute = execute


async def test_nobody_counts_messages_and_shows_results_for_nobody(say, monkeypatch):
    result = Presented(output="seen")

    async def look(given):
        return result

    _, context, run = unwatched(
        say, script=(say.calls(("1", "look", {})), say.text("done")), tool=_Tool(look)
    )
    asked = []
    monkeypatch.setattr(
        type(context), "get_messages", lambda self: asked.append(self) or _nothing()
    )
    await run()
    assert (result.shown, len(asked)) == (0, 1)  # once, to tell what was there before


async def _nothing():
    return []


async def test_hooks_still_deny_and_change_calls(say):
    coordinator, context, run = unwatched(say)
    coordinator.hooks.register(
        TOOL_PRE, lambda event, data: HookResult(action="deny", reason="no"), name="guard"
    )
    assert await run() == "done"
    results = [each["content"] for each in await context.get_messages() if each["role"] == "tool"]
    assert len(results) == 2
    assert all("no" in text for text in results)


async def test_a_context_adds_at_once_unless_somebody_hears_or_adds_in_another_way():
    hooks = ModuleCoordinator().hooks

    class Slow(SimpleContext):
        async def add_message(self, message):
            await anyio.lowlevel.checkpoint()
            await super().add_message(message)

    replaced = SimpleContext(None, hooks)
    replaced.add_message = Slow(None, hooks).add_message
    context = SimpleContext(None, hooks)
    assert [each.adds_at_once for each in (context, Slow(None, hooks), replaced)] == [
        True,
        False,
        False,
    ]
    unregister = hooks.register(CONTEXT_MESSAGE, lambda event, data: None, name="log")
    assert not context.adds_at_once
    unregister()
    assert context.adds_at_once


def test_a_registry_that_cannot_be_asked_hears_everything():
    class Other:
        async def emit(self, event, data):
            return None

    assert listener_check(Other())("tool:pre")
    assert not listener_check(ModuleCoordinator().hooks)("tool:pre")
    assert isinstance(ModuleCoordinator().hooks, HookRegistry)


@given(st.lists(st.floats(0, 4_000_000_000), min_size=1))
def test_timestamps_are_the_time_in_utc_to_the_millisecond(seconds):
    clock = iter(seconds)
    timestamp = Timestamps(lambda: next(clock))
    for each in seconds:
        text = timestamp()
        assert text == datetime.fromisoformat(text).isoformat(timespec="milliseconds")
        late = datetime.fromtimestamp(each, UTC) - datetime.fromisoformat(text)
        assert timedelta(0) <= late <= timedelta(milliseconds=1)


@pytest.mark.parametrize(
    "block",
    [
        TextBlock(text="hi"),
        TextBlock(text=""),
        TextBlock(text="hi", visibility="user"),
        TextBlock.model_validate({"text": "hi", "citations": [{"url": "x"}], "none": None}),
    ],
)
def test_a_text_block_is_plain_data_without_empty_fields(block):
    fields = {key: value for key, value in block.model_dump().items() if key != "visibility"}
    visibility = {} if block.visibility is None else {"visibility": block.visibility}
    assert block_dict(block) == {**fields, **visibility}


@given(
    st.builds(dict, path=st.text(max_size=5)),
    st.sampled_from([{}, {"error": "cut off"}, {"raw": 1}]),
)
def test_a_call_is_the_same_as_a_model_and_as_a_dict(arguments, more):
    fields = {"id": "1", "name": "look", "arguments": arguments, **more}

    class Response:
        def __init__(self, call):
            self.tool_calls = [call]

    (as_model,) = calls_of(None, Response(ToolCall(**fields)))
    (as_dict,) = calls_of(None, Response(fields))
    assert as_model == as_dict
    assert as_model.arguments is not arguments


@given(st.lists(st.integers(0, 3)))
def test_actions_are_the_same_whether_or_not_an_output_is_kept(numbers):
    """A long output is written at once, a short one when somebody asks."""
    outputs = ["short", "x" * 5_000, [{"type": "text", "text": "block"}], "other"]
    actions, each_alone = Actions(), []
    for number in numbers:
        call, result = RequestedCall("1", "look", {"n": number}), {"content": outputs[number]}
        actions.note([call], [result])
        alone = Actions()
        alone.note([call], [result])
        each_alone.append(alone.take())
    digests, lines = actions.take()
    assert (len(digests), len(lines)) == (len(set(numbers)), min(len(numbers), 20))
    assert digests == frozenset().union(*(found for found, _ in each_alone))
    assert lines == [line for _, shown in each_alone for line in shown][-20:]
    assert actions.take() == (frozenset(), [])
