"""Traces of tool calls: time, duration, size of the result, error."""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

__all__ = ["FAILURE", "ToolTrace", "ToolTraces"]

FAILURE = "failure"
"""The error of a tool that failed without a type."""


@dataclass(frozen=True, slots=True)
class ToolTrace:
    """One tool call."""

    tool_use_id: str
    """The id of the call and its result."""
    tool: str
    start: datetime
    """When the last hook let it pass; for a call that never ran, when it was denied."""
    end: datetime
    duration: float | None
    """Seconds, including the time for a person's approval; None for a call that never ran."""
    result_bytes: int | None
    """Bytes of the result as JSON; None without a result."""
    error: str | None
    """The type of the failure, `FAILURE` if the tool names none; None for a success."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data; times in ISO 8601."""
        return {**asdict(self), "start": self.start.isoformat(), "end": self.end.isoformat()}

    def __str__(self) -> str:
        """Return one line."""
        time = "did not run" if self.duration is None else f"{self.duration * 1000:.1f} ms"
        size = "" if self.result_bytes is None else f", {self.result_bytes} bytes"
        error = "" if self.error is None else f", failed: {self.error}"
        return f"tool `{self.tool}` ({self.tool_use_id}): {time}{size}{error}"


class ToolTraces:
    """The latest tool calls of a session.

    Args:
        most: The limit of traces kept, and of calls that run at once.
        now: Returns the current time.
        clock: A monotonic clock in seconds.
    """

    def __init__(self, most: int, now: Callable[[], datetime], clock: Callable[[], float]) -> None:
        self._most = most
        self._now = now
        self._clock = clock
        self._running: OrderedDict[str, tuple[datetime, float]] = OrderedDict()
        self._finished: deque[ToolTrace] = deque(maxlen=most)

    def __iter__(self) -> Any:
        """Iterate over the finished calls, oldest first."""
        return iter(tuple(self._finished))

    def begin(self, tool_use_id: str) -> None:
        """Record the begin of a call."""
        if len(self._running) >= self._most:
            self._running.popitem(last=False)
        self._running[tool_use_id] = (self._now(), self._clock())

    def finish(self, tool_use_id: str, tool: str, result: Any, error: str | None) -> ToolTrace:
        """Record the end of a call, and return its trace."""
        end = self._now()
        begun = self._running.pop(tool_use_id, None)
        trace = ToolTrace(
            tool_use_id=tool_use_id,
            tool=tool,
            start=end if begun is None else begun[0],
            end=end,
            duration=None if begun is None else self._clock() - begun[1],
            result_bytes=None if result is None else _measure_size(result),
            error=error,
        )
        self._finished.append(trace)
        return trace

    def abandon(self) -> None:
        """Forget the calls without an end, when their turn is over."""
        self._running.clear()


def _measure_size(result: Any) -> int:
    """Return the size of a payload as JSON, or as text if it has no JSON form."""
    try:
        return len(json.dumps(result, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    except (TypeError, ValueError, RecursionError):
        return len(str(result).encode("utf-8", "surrogatepass"))
