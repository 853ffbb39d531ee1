"""Answers as events for an agent: async and sync, whole, failed and cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_stream import (
    AgentEvent,
    ChunkCall,
    CustomEvent,
    ErrorEvent,
    MessageContentEvent,
    MessageEndEvent,
    MessageStartEvent,
    ProcessedStream,
    StreamChunk,
    StreamDecoder,
    ThinkingContentEvent,
    ThinkingEndEvent,
    ThinkingFilter,
    ThinkingStartEvent,
    ToolCallContentEvent,
    ToolCallEndEvent,
    ToolCallParser,
    ToolCallStartEvent,
    decoded_chunks,
    decoded_chunks_sync,
    process_stream,
    process_stream_sync,
)

LAST = StreamChunk(finished=True)
CALL = '{"tool_name": "a", "arguments": {"x": 1}}'


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


class Source:
    """Gives items or raises them, and knows whether it was closed."""

    def __init__(self, *items: Any) -> None:
        self.items = items
        self.taken = 0
        self.is_closed = False

    def sync(self) -> Iterator[Any]:
        try:
            for item in self.items:
                self.taken += 1
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self.is_closed = True

    async def aio(self) -> AsyncIterator[Any]:
        try:
            for item in self.sync():
                if callable(item):
                    await item()
                else:
                    yield item
        finally:
            self.is_closed = True


@dataclass
class Told:
    """What an agent was told."""

    events: list[AgentEvent]
    completed: list[tuple[str, ...]]
    result: ProcessedStream


async def tell(source: Source, driver: str, **options: Any) -> Told:
    events: list[AgentEvent] = []
    completed: list[tuple[str, ...]] = []

    async def emit(event: AgentEvent) -> None:
        events.append(event)

    async def complete(*content: str) -> None:
        completed.append(content)

    if driver == "sync":
        stream = source.sync()
        result = process_stream_sync(
            stream, events.append, lambda *content: completed.append(content), **options
        )
    elif driver == "async over a plain iterator":
        result = await process_stream(source.sync(), emit, complete, **options)
    else:
        result = await process_stream(source.aio(), emit, complete, **options)
    assert source.is_closed
    return Told(events, completed, result)


drivers = pytest.mark.parametrize("driver", ["async", "async over a plain iterator", "sync"])


@drivers
async def test_an_answer_becomes_its_events(driver: str) -> None:
    told = await tell(
        Source(
            StreamChunk("why", type="thinking", role="bot"),
            StreamChunk(f"pre <tool>{CALL[:20]}"),
            StreamChunk(f"{CALL[20:]}</tool> post", usage={"output": 3}),
            LAST,
            StreamChunk("never"),
        ),
        driver,
        tool_tags=ToolCallParser(id_prefix="id_"),
    )
    call = told.result.calls[0]
    assert told.events == [
        ThinkingStartEvent(),
        ThinkingContentEvent("why"),
        ThinkingEndEvent(),
        MessageStartEvent(),
        MessageContentEvent("pre "),
        ToolCallStartEvent(0),
        ToolCallContentEvent(0, CALL[:17]),
        ToolCallContentEvent(0, "", "a"),
        ToolCallContentEvent(0, CALL[17:20]),
        ToolCallContentEvent(0, CALL[20:]),
        ToolCallEndEvent(0, call),
        MessageContentEvent(" post"),
        MessageEndEvent(),
    ]
    assert (call.id, call.arguments) == ("id_0", {"x": 1})
    assert told.completed == [("pre  post", "why", CALL, "bot")]
    assert told.result == ProcessedStream(
        "pre  post", "why", CALL, "bot", [call], usage={"output": 3}
    )


@drivers
async def test_an_error_chunk_ends_the_answer_after_what_was_held_back(driver: str) -> None:
    source = Source(
        StreamChunk("a <tool>x</too"), StreamChunk(error={"type": "overloaded"}), StreamChunk("b")
    )
    told = await tell(source, driver)
    call = told.events[-3]
    assert isinstance(call, ToolCallEndEvent)
    assert (call.call.is_complete, call.call.raw) == (False, "x</too")
    assert told.events[-2:] == [MessageEndEvent(), ErrorEvent({"type": "overloaded"})]
    assert told.completed == [("a ", "", "", "assistant")]
    assert told.result.error == {"type": "overloaded"}
    assert told.result.truncated
    assert source.taken == 2


@drivers
async def test_a_source_that_fails_is_an_error_of_the_answer(driver: str) -> None:
    failure = ConnectionError("gone")
    told = await tell(Source(StreamChunk("a<"), failure), driver)
    assert told.events == [
        MessageStartEvent(),
        MessageContentEvent("a"),
        MessageContentEvent("<"),
        MessageEndEvent(),
        ErrorEvent(failure),
    ]
    assert told.completed == [("a<", "", "", "assistant")]
    assert told.result.error is failure


# Holds: tags-6
@drivers
async def test_an_answer_without_a_last_chunk_is_truncated_and_runs_nothing(driver: str) -> None:
    told = await tell(Source(StreamChunk(f"<tool>{CALL}</tool>")), driver)
    assert told.result.truncated
    assert told.result.error is None
    assert [call.arguments for call in told.result.calls] == [None]
    assert told.completed == [("", "", "", "assistant")]


@drivers
async def test_what_a_callback_raises_comes_through_once_the_answer_is_completed(
    driver: str,
) -> None:
    source = Source(StreamChunk("a"), StreamChunk("b"), LAST)
    completed: list[tuple[str, ...]] = []

    def emit(event: AgentEvent) -> None:
        if event == MessageContentEvent("b"):
            raise LookupError("no screen")

    async def run() -> None:
        if driver == "sync":
            process_stream_sync(source.sync(), emit, lambda *content: completed.append(content))
        else:
            stream = source.aio() if driver == "async" else source.sync()
            await process_stream(stream, emit, lambda *content: completed.append(content))

    with pytest.raises(LookupError, match="no screen"):
        await run()
    assert source.is_closed
    assert completed == [("ab", "", "", "assistant")]


def test_an_interrupted_answer_is_flushed_and_completed() -> None:
    source = Source(StreamChunk("a<"), KeyboardInterrupt())
    events: list[AgentEvent] = []
    completed: list[tuple[str, ...]] = []
    with pytest.raises(KeyboardInterrupt):
        process_stream_sync(source.sync(), events.append, lambda *told: completed.append(told))
    assert events[1:] == [MessageContentEvent("a"), MessageContentEvent("<"), MessageEndEvent()]
    assert completed == [("a<", "", "", "assistant")]


# Holds: tags-7
async def test_a_cancelled_answer_is_flushed_closed_and_completed_without_an_error() -> None:
    import anyio

    events: list[AgentEvent] = []
    completed: list[tuple[str, ...]] = []

    async def emit(event: AgentEvent) -> None:
        await anyio.lowlevel.checkpoint()
        events.append(event)

    async def complete(*content: str) -> None:
        await anyio.lowlevel.checkpoint()
        completed.append(content)

    with anyio.CancelScope() as scope:

        async def wait() -> None:
            scope.cancel()
            await anyio.sleep_forever()

        source = Source(StreamChunk("a <too"), wait)
        await process_stream(source.aio(), emit, complete)
    assert scope.cancelled_caught
    assert source.is_closed
    assert events[1:] == [MessageContentEvent("a "), MessageContentEvent("<too"), MessageEndEvent()]
    assert completed == [("a <too", "", "", "assistant")]


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_events_left_by_an_interrupted_emission_come_out(anyio_backend: str) -> None:
    events: list[AgentEvent] = []

    async def emit(event: AgentEvent) -> None:
        events.append(event)
        if event == MessageContentEvent("a"):
            raise asyncio.CancelledError

    source = Source(StreamChunk("a<tool>b</tool>c"), LAST)
    with pytest.raises(asyncio.CancelledError):
        await process_stream(source.aio(), emit)
    assert events[-2:] == [MessageContentEvent("c"), MessageEndEvent()]


async def test_native_calls_have_one_start_and_one_end_each() -> None:
    def part(index: int, content: str) -> StreamChunk:
        return StreamChunk(content, type="tool_call", call=ChunkCall(index, f"t{index}", "read"))

    told = await tell(Source(part(0, '{"a"'), part(1, "{}"), part(0, ": 1}"), LAST), "async")
    assert [(type(event).__name__, event.index) for event in told.events] == [  # type: ignore[attr-defined]
        ("ToolCallStartEvent", 0),
        ("ToolCallContentEvent", 0),
        ("ToolCallStartEvent", 1),
        ("ToolCallContentEvent", 1),
        ("ToolCallContentEvent", 0),
        ("ToolCallEndEvent", 0),
        ("ToolCallEndEvent", 1),
    ]
    assert [(call.id, call.arguments) for call in told.result.calls] == [
        ("t0", {"a": 1}),
        ("t1", {}),
    ]


async def test_agents_and_providers_may_have_events_of_their_own() -> None:
    @dataclass(frozen=True)
    class Shout(AgentEvent):
        text: str

    def transform(event: AgentEvent) -> list[AgentEvent]:
        if isinstance(event, MessageContentEvent):
            return [event, Shout(event.content.upper())]
        return [] if isinstance(event, MessageStartEvent) else [event]

    source = Source(StreamChunk("a"), CustomEvent("progress", {"done": 0.5}), LAST)
    told = await tell(source, "async", transform=transform)
    assert told.events == [
        MessageContentEvent("a"),
        Shout("A"),
        CustomEvent("progress", {"done": 0.5}),
        MessageEndEvent(),
    ]
    assert [event.type for event in told.events][:2] == ["MessageContentEvent", "Shout"]


async def test_without_tags_the_message_is_left_alone() -> None:
    text = f"<tool>{CALL}</tool><"
    told = await tell(Source(StreamChunk(text), LAST), "async", tool_tags=None)
    assert told.events[1:] == [MessageContentEvent(text), MessageEndEvent()]


async def test_other_tags_may_be_named() -> None:
    chunk = StreamChunk('<call>{"name": "a"}</call>')
    told = await tell(Source(chunk, LAST), "async", tool_tags=["tool", "call"])
    assert [call.name for call in told.result.calls] == ["a"]


@pytest.mark.parametrize(
    ("chunk", "error"),
    [
        (StreamChunk("a", type="news"), ValueError),  # type: ignore[arg-type]
        (StreamChunk(7), TypeError),  # type: ignore[arg-type]
        (StreamChunk("\ud800"), ValueError),
        ("text", AttributeError),
    ],
)
async def test_what_is_no_chunk_is_refused(chunk: Any, error: type[Exception]) -> None:
    source = Source(StreamChunk("a"), chunk)
    completed: list[tuple[str, ...]] = []
    with pytest.raises(error):
        await process_stream(source.aio(), lambda _: None, lambda *told: completed.append(told))
    assert source.is_closed
    assert completed == [("a", "", "", "assistant")]


@drivers
async def test_a_decoded_response_becomes_events(
    driver: str, wire: Callable[[list[dict[str, Any]]], bytes], tool_turn: list[dict[str, Any]]
) -> None:
    body = wire(tool_turn)
    events: list[AgentEvent] = []
    decoder = StreamDecoder("anthropic")
    if driver == "sync":
        result = process_stream_sync(decoded_chunks_sync([body], decoder), events.append)
    else:

        async def pieces() -> AsyncIterator[bytes]:
            for place in range(0, len(body), 50):
                yield body[place : place + 50]

        result = await process_stream(decoded_chunks(pieces(), decoder), events.append)
    assert result.thinking_content == "Let me look 😀"
    assert result.assistant_content == "Looking."
    assert [(call.index, call.id, call.name, call.arguments) for call in result.calls] == [
        (2, "toolu_1", "read_file", {"path": "a.md", "n": 12345678901234567890})
    ]
    assert not result.truncated
    assert result.usage["output_tokens"] == 20
    assert [event.type for event in events if "Content" not in event.type] == [
        "ThinkingStartEvent",
        "ThinkingEndEvent",
        "MessageStartEvent",
        "ToolCallStartEvent",
        "ToolCallEndEvent",
        "MessageEndEvent",
    ]


async def test_a_response_cut_anywhere_runs_nothing(
    wire: Callable[[list[dict[str, Any]]], bytes], tool_turn: list[dict[str, Any]]
) -> None:
    body = wire(tool_turn)
    for end in range(0, len(body), 7):
        chunks = decoded_chunks_sync([body[:end]], StreamDecoder("anthropic"), ThinkingFilter())
        result = process_stream_sync(chunks, lambda _: None)
        assert result.truncated
        assert all(call.arguments is None for call in result.calls)


contents = st.sampled_from(["<tool>", "</tool>", CALL, "<to", "ol>", "a", "<", " ", "{", '"'])
message_chunks = st.lists(contents.map(StreamChunk), max_size=12)
other_chunks = st.builds(
    StreamChunk,
    content=st.sampled_from(["", "{}", "x"]),
    type=st.sampled_from(["thinking", "tool_call"]),
    call=st.none() | st.builds(ChunkCall, index=st.integers(0, 3)),
)


# Holds: tags-5
@given(
    st.lists(contents.map(StreamChunk) | other_chunks, max_size=15),
    st.sampled_from([LAST, StreamChunk(error="no"), None]),
)
def test_whatever_begins_ends_once_and_nothing_is_lost(
    chunks: list[StreamChunk], end: StreamChunk | None
) -> None:
    events: list[AgentEvent] = []
    all_chunks = [*chunks, *([end] if end else [])]
    result = process_stream_sync(all_chunks, events.append)
    open_parts: set[tuple[str, Any]] = set()
    for event in events:
        part = event.type.removesuffix("Event")
        key = part.removesuffix("Start").removesuffix("End").removesuffix("Content")
        number = getattr(event, "index", None)
        if part.endswith("Start"):
            assert (key, number) not in open_parts
            open_parts.add((key, number))
        elif part.endswith("Content"):
            assert (key, number) in open_parts
        elif part.endswith("End"):
            open_parts.remove((key, number))
    assert not open_parts
    starts = [event.index for event in events if isinstance(event, ToolCallStartEvent)]
    assert [call.index for call in result.calls] == starts
    assert len(set(starts)) == len(starts)
    said = "".join(e.content for e in events if isinstance(e, MessageContentEvent))
    assert said == result.assistant_content
    thought = "".join(chunk.content for chunk in chunks if chunk.is_thinking)
    assert thought == result.thinking_content
    if result.truncated:
        assert all(call.arguments is None for call in result.calls)
    assert result.truncated is (end is not LAST)


@given(message_chunks)
def test_the_message_is_the_same_however_it_is_cut(chunks: list[StreamChunk]) -> None:
    parser = ToolCallParser(id_prefix="id_")

    def summary(pieces: list[StreamChunk]) -> tuple[Any, ...]:
        events: list[AgentEvent] = []
        result = process_stream_sync([*pieces, LAST], events.append, tool_tags=parser)
        kinds = [event.type for event in events if "Content" not in event.type]
        return result, kinds

    whole = "".join(chunk.content for chunk in chunks)
    assert summary(chunks) == summary([StreamChunk(whole)])
    assert summary([StreamChunk(letter) for letter in whole]) == summary(chunks)
