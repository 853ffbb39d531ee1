"""Turns the chunks of an answer into events for an agent, and one result."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any

from amplifier_stream.process_chunk import StreamChunk
from amplifier_stream.process_event import AgentEvent, ProcessedStream
from amplifier_stream.process_metrics import StreamMetrics
from amplifier_stream.process_run import ProcessRun, ToolTags, Transform

__all__ = ["GRACE_SECONDS", "process_stream", "process_stream_sync"]

GRACE_SECONDS = 5.0
"""How long the source, and then the callbacks, may still run after a cancellation."""

Emit = Callable[[AgentEvent], Any]
Complete = Callable[[str, str, str, str], Any]


async def process_stream(
    stream: AsyncIterable[StreamChunk | AgentEvent] | Iterable[StreamChunk | AgentEvent],
    emit_event: Emit,
    on_complete: Complete | None = None,
    *,
    tool_tags: ToolTags = ("tool",),
    transform: Transform | None = None,
    metrics: StreamMetrics | None = None,
    max_calls: int = 128,
) -> ProcessedStream:
    """Turn the chunks of one answer into events, and return the result.

    However the answer ends, held-back text is emitted, everything that began ends, the source is
    closed, and `on_complete` is called. An error of a chunk or of the source becomes an `ErrorEvent`
    and the `error` of the result. A cancellation is raised to the caller, and so is an exception of
    a callback, after which no more events are emitted.

    Args:
        stream: The chunks; an `AgentEvent` among them is emitted in its place.
        emit_event: Called with each event; an awaitable result is awaited.
        on_complete: Called once with the assistant's text, the thinking, the calls that may run,
            and the role; an awaitable result is awaited.
        tool_tags: The tags of calls in the message, or a parser with the settings to use. None if
            calls are native, so that tags are text.
        transform: Returns the events to emit in place of each event.
        metrics: Records measurements of the answer.
        max_calls: Calls of the answer that may run. Further ones end with an error; of nine times as
            many and more, the rest is left out.

    Raises:
        BaseException: The cancellation, or an exception of a callback.
    """
    run = ProcessRun(tool_tags, transform, metrics, max_calls)
    source = _AsyncSource(stream)
    try:
        while not run.is_over:
            await source.give(run)
            for event in run.events():
                await _settle(emit_event(event))
        await source.close()
    except BaseException as error:
        import anyio

        try:
            with anyio.move_on_after(GRACE_SECONDS, shield=True):
                await source.close()
        finally:
            run.cancel()
            with anyio.move_on_after(GRACE_SECONDS, shield=True):
                if not isinstance(error, Exception):
                    for event in run.events():
                        await _settle(emit_event(event))
                await _complete(on_complete, run.result())
        raise
    result = run.result()
    await _complete(on_complete, result)
    return result


def process_stream_sync(
    stream: Iterable[StreamChunk | AgentEvent],
    emit_event: Emit,
    on_complete: Complete | None = None,
    *,
    tool_tags: ToolTags = ("tool",),
    transform: Transform | None = None,
    metrics: StreamMetrics | None = None,
    max_calls: int = 128,
) -> ProcessedStream:
    """Turn the chunks of one answer into events without awaiting anything; see `process_stream`.

    Raises:
        BaseException: The interruption, or an exception of a callback.
    """
    run = ProcessRun(tool_tags, transform, metrics, max_calls)
    source = iter(stream)
    try:
        while not run.is_over:
            _give(source, run)
            for event in run.events():
                emit_event(event)
        _close(source)
    except BaseException as error:
        try:
            _close(source)
        finally:
            run.cancel()
            if not isinstance(error, Exception):
                for event in run.events():
                    emit_event(event)
            result = run.result()
            if on_complete is not None:
                on_complete(*_texts_of(result))
        raise
    result = run.result()
    if on_complete is not None:
        on_complete(*_texts_of(result))
    return result


class _AsyncSource:
    """Chunks from an async or a plain iterator."""

    def __init__(self, stream: AsyncIterable[Any] | Iterable[Any]) -> None:
        self._iterator: AsyncIterator[Any] | Iterator[Any]
        if isinstance(stream, AsyncIterable):
            self._iterator = aiter(stream)
        else:
            self._iterator = iter(stream)

    async def give(self, run: ProcessRun) -> None:
        """Pass the next item to the run, or the end or failure of the source."""
        if not isinstance(self._iterator, AsyncIterator):
            _give(self._iterator, run)
            return
        try:
            item = await anext(self._iterator)
        except StopAsyncIteration:
            run.finish()
        except Exception as error:  # noqa: BLE001 -- it is the error of the result
            run.fail(error)
        else:
            run.take(item)

    async def close(self) -> None:
        close = getattr(self._iterator, "aclose", None) or getattr(self._iterator, "close", None)
        if close is not None:
            await _settle(close())


def _give(source: Iterator[StreamChunk | AgentEvent], run: ProcessRun) -> None:
    try:
        item = next(source)
    except StopIteration:
        run.finish()
    except Exception as error:  # noqa: BLE001 -- it is the error of the result
        run.fail(error)
    else:
        run.take(item)


def _close(source: Iterator[Any]) -> None:
    close = getattr(source, "close", None)
    if close is not None:
        close()


async def _settle(value: Any) -> None:
    if inspect.isawaitable(value):
        await value


async def _complete(on_complete: Complete | None, result: ProcessedStream) -> None:
    if on_complete is not None:
        await _settle(on_complete(*_texts_of(result)))


def _texts_of(result: ProcessedStream) -> tuple[str, str, str, str]:
    return (
        result.assistant_content,
        result.thinking_content,
        result.tool_call_content,
        result.role,
    )
