"""The chunks of an answer as events for an agent, and what they amount to."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any

from amplifier_stream.process_chunk import StreamChunk
from amplifier_stream.process_event import AgentEvent
from amplifier_stream.process_metrics import StreamMetrics
from amplifier_stream.process_result import ProcessedStream
from amplifier_stream.process_run import ProcessRun, ToolTags, Transform

__all__ = ["GRACE_SECONDS", "process_stream", "process_stream_sync"]

GRACE_SECONDS = 5.0
"""Seconds that the source, and then the callbacks, have when an answer is cancelled."""

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
) -> ProcessedStream:
    """Turn the chunks of one answer into events, and return what they amount to.

    Whatever becomes of the answer, what is held back is given up, everything that began ends, the
    source is closed, and `on_complete` hears of what there was. An error of a chunk or of the
    source becomes an `ErrorEvent` and the `error` of the result; a cancellation goes on to the
    caller, and so does what a callback raises, after which no event is emitted.

    Args:
        stream: The chunks; an `AgentEvent` among them is emitted in its place.
        emit_event: Called with each event; what it returns is awaited if it can be.
        on_complete: Called once with the assistant's text, the thinking, the calls that may run,
            and the role; what it returns is awaited if it can be.
        tool_tags: The tags of calls in the message, or a parser whose settings are taken; None
            where calls are native, so that tags are text.
        transform: Gives for each event those that are emitted in its place.
        metrics: Measures the answer.

    Raises:
        BaseException: What cancelled the answer, or what a callback raised.
    """
    run = ProcessRun(tool_tags, transform, metrics)
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
) -> ProcessedStream:
    """Turn the chunks of one answer into events without awaiting anything; see `process_stream`.

    Raises:
        BaseException: What interrupted the answer, or what a callback raised.
    """
    run = ProcessRun(tool_tags, transform, metrics)
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
                on_complete(*_told(result))
        raise
    result = run.result()
    if on_complete is not None:
        on_complete(*_told(result))
    return result


class _AsyncSource:
    """Chunks of an iterator of either kind."""

    def __init__(self, stream: AsyncIterable[Any] | Iterable[Any]) -> None:
        self._iterator: AsyncIterator[Any] | Iterator[Any]
        if isinstance(stream, AsyncIterable):
            self._iterator = aiter(stream)
        else:
            self._iterator = iter(stream)

    async def give(self, run: ProcessRun) -> None:
        """Hand the next item to the run, or what became of the source."""
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
        await _settle(on_complete(*_told(result)))


def _told(result: ProcessedStream) -> tuple[str, str, str, str]:
    return (
        result.assistant_content,
        result.thinking_content,
        result.tool_call_content,
        result.role,
    )
