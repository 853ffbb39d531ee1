"""One answer in progress: the decisions of the engine as events to emit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from amplifier_core._engine import StreamProcessor
from amplifier_stream import process_event
from amplifier_stream.process_chunk import StreamChunk
from amplifier_stream.process_event import AgentEvent, ErrorEvent, ProcessedStream
from amplifier_stream.process_metrics import StreamMetrics
from amplifier_stream.tag import ToolCallParser

__all__ = ["ProcessRun", "ToolTags", "Transform"]

Transform = Callable[[AgentEvent], Iterable[AgentEvent]]
ToolTags = ToolCallParser | Sequence[str] | None

_EVENTS: dict[str, type[AgentEvent]] = {
    name: getattr(process_event, name) for name in process_event.__all__
}


class ProcessRun:
    """The part that the async and the sync driver share."""

    def __init__(
        self,
        tool_tags: ToolTags,
        transform: Transform | None,
        metrics: StreamMetrics | None,
        max_calls: int,
    ) -> None:
        """Start an answer; see `process_stream` for the arguments."""
        if tool_tags is not None and not isinstance(tool_tags, ToolCallParser):
            tool_tags = ToolCallParser(tool_tags)
        self._processor = StreamProcessor(tool_tags, max_calls)
        self._transform = transform
        self._metrics = metrics
        self._pending: deque[AgentEvent] = deque()
        self._received = 0.0
        self._usage: Any = None
        self._error: Any = None

    @property
    def is_over(self) -> bool:
        """Whether the answer ended."""
        return self._processor.is_over

    def take(self, item: StreamChunk | AgentEvent) -> None:
        """Take an item of the source."""
        if self._metrics is not None:
            self._received = self._metrics.clock()
        if isinstance(item, AgentEvent):
            self._add([item])
        else:
            if item.usage is not None:
                self._usage = item.usage
            if item.error is not None:
                self._error = item.error
            self._decide(self._processor.feed(item))
        if self._metrics is not None:
            self._metrics.chunk(self._metrics.clock() - self._received)

    def finish(self) -> None:
        """Record that the source is exhausted."""
        self._note_time()
        self._decide(self._processor.finish())

    def fail(self, error: Exception) -> None:
        """Record that the source failed."""
        self._note_time()
        self._error = error
        self._decide(self._processor.fail(str(error)))

    def cancel(self) -> None:
        """Record that the answer was cancelled."""
        self._note_time()
        self._decide(self._processor.cancel())

    def events(self) -> Iterator[AgentEvent]:
        """Yield each event once, including those left by an interrupted emission."""
        while self._pending:
            event = self._pending.popleft()
            if self._metrics is not None:
                self._metrics.event(self._metrics.clock() - self._received)
            yield event

    def result(self) -> ProcessedStream:
        """Return the result; call it once, at the end."""
        result = ProcessedStream(**self._processor.result(), usage=self._usage, error=self._error)
        if self._metrics is not None:
            self._metrics.stream(
                failed=result.error is not None,
                cancelled=result.cancelled,
                truncated=result.truncated,
            )
        return result

    def _note_time(self) -> None:
        if self._metrics is not None:
            self._received = self._metrics.clock()

    def _decide(self, decisions: list[tuple[Any, ...]]) -> None:
        self._add(
            ErrorEvent(self._error) if name == "ErrorEvent" else _EVENTS[name](*fields)
            for name, *fields in decisions
        )

    def _add(self, events: Iterable[AgentEvent]) -> None:
        for event in events:
            if self._transform is None:
                self._pending.append(event)
            else:
                self._pending.extend(self._transform(event))
