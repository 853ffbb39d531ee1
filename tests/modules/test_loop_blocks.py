"""Block events have one shape, whatever the provider and the loop, and each start has its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import anyio.lowlevel
import pytest

from amplifier_core.content_models import TextContent, ThinkingContent, ToolCallContent
from amplifier_core.message_models import (
    ChatResponse,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
)
from amplifier_providers.base import BaseProvider

START, DELTA, END = "content_block:start", "content_block:delta", "content_block:end"


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    return request.param


@pytest.fixture(params=["basic", "streaming"])
def kind(request):
    return request.param


class Displayed(ChatResponse):
    content_blocks: list[Any] | None = None


@dataclass
class Foreign:
    """A response of somebody else: neither a model of ours nor blocks."""

    content: Any
    tool_calls: Any = None
    usage: Any = None
    metadata: Any = None


CALL = {"id": "1", "name": "look", "arguments": {"x": 1}}
BLOCKS = {
    "text": {"type": "text", "text": "Hello."},
    "thinking": {"type": "thinking", "text": "Hm.", "thinking": "Hm."},
    "tool_call": {
        "type": "tool_call", "id": "1", "name": "look", "input": {"x": 1}, "arguments": {"x": 1},
    },
}  # fmt: skip
"""What an end has as `block`."""
MODELS = {
    "text": TextBlock(text="Hello."),
    "thinking": ThinkingBlock(thinking="Hm."),
    "tool_call": ToolCallBlock(id="1", name="look", input={"x": 1}),
}
CONTENTS = {
    "text": TextContent(text="Hello."),
    "thinking": ThinkingContent(text="Hm."),
    "tool_call": ToolCallContent(id="1", name="look", arguments={"x": 1}),
}
DELTAS = {
    "text": {"delta": "Hello."}, "thinking": {"delta": "Hm."}, "tool_call": {"partial_json": '{"x": 1}'},
}  # fmt: skip


def calls(kinds):
    return [ToolCall(**CALL)] if "tool_call" in kinds else None


class Completes:
    """Only `complete`, with blocks as models."""

    name = "scripted"

    def __init__(self, kinds, coordinator):
        self.kinds, self.coordinator, self.asked = kinds, coordinator, 0

    def response(self):
        return ChatResponse(
            content=[MODELS[kind] for kind in self.kinds], tool_calls=calls(self.kinds)
        )

    def is_first(self):
        self.asked += 1
        return self.asked == 1

    async def complete(self, request, **options):
        return self.response() if self.is_first() else ChatResponse(content=[])


class Displays(Completes):
    """`complete` with blocks for displays beside the content."""

    def response(self):
        return Displayed(
            content=[MODELS[kind] for kind in self.kinds],
            content_blocks=[CONTENTS[kind] for kind in self.kinds],
            tool_calls=calls(self.kinds),
        )


class Dicts(Completes):
    """`complete` of somebody else, whose blocks are dicts."""

    def response(self):
        return Foreign(
            [MODELS[kind].model_dump(exclude_none=True) for kind in self.kinds],
            tool_calls=[CALL] if "tool_call" in self.kinds else None,
        )


class Streams(Completes):
    """`stream`: pieces of text, then the response."""

    async def stream(self, request, tools, **options):
        if not self.is_first():
            return
        if self.kinds[0] == "text":
            yield "Hello."
        yield self.response()


class Chunks(BaseProvider):
    """The `chunks` of a provider on our base."""

    name = "scripted"
    kinds: Any = ()
    asked = 0

    async def chunks(self, request, **options):
        self.asked += 1
        if self.asked > 1:
            yield ChatResponse(content=[])
            return
        if self.kinds[0] == "text":
            yield "Hello."
        yield Completes(self.kinds, None).response()


class Emits(Completes):
    """`complete` that emits the events of its blocks itself."""

    ends = True

    async def complete(self, request, **options):
        if not self.is_first():
            return ChatResponse(content=[])
        hooks = self.coordinator.hooks
        for index, kind in enumerate(self.kinds):
            place = {"block_type": kind, "block_index": index}
            metadata = {"id": "1", "name": "look"} if kind == "tool_call" else None
            await hooks.emit(START, {**place, "metadata": metadata})
            await hooks.emit(DELTA, {**place, **DELTAS[kind]})
            if self.ends:
                await hooks.emit(END, {**place, "block": BLOCKS[kind]})
        response = self.response()
        return response.model_copy(update={"metadata": {"content_blocks_emitted": True}})


class Forgets(Emits):
    """The same, without the ends."""

    ends = False


def made(provider, kinds, coordinator):
    if provider is Chunks:
        chunks = Chunks()
        chunks.kinds = kinds
        return chunks
    return provider(kinds, coordinator)


def block_events(turn):
    names = iter(name for name in turn.names() if name.startswith("content_block:"))
    data = {name: iter(turn.data(name)) for name in (START, DELTA, END)}
    return [(name, next(data[name])) for name in names]


KINDS = [
    ("text",), ("thinking",), ("tool_call",), ("text", "tool_call"), ("thinking", "text", "tool_call"),
]  # fmt: skip
PROVIDERS = [Completes, Displays, Dicts, Streams, Chunks, Emits, Forgets]


# Holds: agent-23
@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.__name__.lower())
@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
async def test_the_events_of_a_block_are_the_same_from_every_provider(bench, kind, kinds, provider):
    turn = bench(kind)
    turn.tool("look", lambda given: "seen")
    turn.provider = made(provider, kinds, turn.coordinator)
    await turn.run()

    shown = block_events(turn)
    if kind == "basic" and provider not in (Emits, Forgets):
        expected = [START, END] * len(kinds)
    else:
        expected = [START, DELTA, END] * len(kinds)
    places = [{"block_type": each, "block_index": index} for index, each in enumerate(kinds)]
    if provider is Forgets:
        expected = [START, DELTA] * len(kinds) + [END] * len(kinds)
    assert [name for name, _ in shown] == expected
    metadata = {"tool_call": {"id": "1", "name": "look"}}
    assert turn.data(START) == [
        {**place, "metadata": metadata.get(place["block_type"])} for place in places
    ]
    assert turn.data(END) == [{**place, "block": BLOCKS[place["block_type"]]} for place in places]
    if DELTA in expected:
        assert turn.data(DELTA) == [{**place, **DELTAS[place["block_type"]]} for place in places]


class Broken(Emits):
    """Emits a start and a delta, and goes no further."""

    def __init__(self, coordinator, act):
        super().__init__(("text",), coordinator)
        self.act = act

    async def complete(self, request, **options):
        place = {"block_type": "text", "block_index": 0}
        await self.coordinator.hooks.emit(START, {**place, "metadata": None})
        await self.coordinator.hooks.emit(DELTA, {**place, "delta": "Hel"})
        await self.act()


class BrokenStream(Broken):
    """The same of a stream, whose events the loop emits."""

    async def stream(self, request, tools, **options):
        yield "Hel"
        await self.act()


async def fail():
    raise ConnectionError("lost")


# Holds: agent-23
@pytest.mark.parametrize("provider", [Broken, BrokenStream])
@pytest.mark.parametrize("way", ["failed", "cancelled"])
async def test_a_block_that_was_open_ends_when_the_answer_fails_or_is_cancelled(
    bench, kind, provider, way
):
    turn = bench(kind)

    async def cancel():
        turn.token.request_immediate()
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        raise AssertionError

    turn.provider = provider(turn.coordinator, fail if way == "failed" else cancel)
    if way == "failed":
        with pytest.raises(ConnectionError):
            await turn.run()
    else:
        await turn.run()

    # The text is known to the loop only where it emits the events.
    text = {"text": "Hel"} if provider is BrokenStream and kind == "streaming" else {}
    assert turn.data(END) == [
        {
            "block_type": "text",
            "block_index": 0,
            "block": {"type": "text", **text},
            "aborted": True,
        }
    ]
    status = "error" if way == "failed" else "cancelled"
    assert [data["status"] for data in turn.data("llm:post")] == [status]
    assert turn.names().index(END) < turn.names().index("llm:post")
    assert turn.coordinator.hooks.list_handlers(START)[START] == ["recorder"]
