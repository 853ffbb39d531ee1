"""What each tool call of a session did: when, how long, how much it gave, how it failed."""

from __future__ import annotations

import json
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

__all__ = ["FAILURE", "ToolTrace", "ToolTraces"]

FAILURE = "failure"
"""The error of a tool that says that it failed, and no more."""


@dataclass(frozen=True, slots=True)
class ToolTrace:
    """One tool call."""

    tool_use_id: str
    """The id by which the model called it and its result is found."""
    tool: str
    start: datetime
    """When the hooks had let it pass; of a call that never ran, when it was refused."""
    end: datetime
    duration: float | None
    """Seconds, with what a person took to agree; None for a call that never ran."""
    result_bytes: int | None
    """Bytes of the result as JSON; None without a result."""
    error: str | None
    """The type of the failure, `FAILURE` where a tool says no more; None for a success."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data; times in the form of ISO 8601."""
        return {**asdict(self), "start": self.start.isoformat(), "end": self.end.isoformat()}

    def __str__(self) -> str:
        """Tell it in one line."""
        time = "did not run" if self.duration is None else f"{self.duration * 1000:.1f} ms"
        size = "" if self.result_bytes is None else f", {self.result_bytes} bytes"
        error = "" if self.error is None else f", failed: {self.error}"
        return f"tool `{self.tool}` ({self.tool_use_id}): {time}{size}{error}"


class ToolTraces:
    """The latest tool calls of a session.

    Args:
        most: The most traces that are kept, and the most calls that may run at once.
        now: Tells the time.
        clock: Counts seconds; it must not run back.
    """

    def __init__(self, most: int, now: Callable[[], datetime], clock: Callable[[], float]) -> None:
        self._most = most
        self._now = now
        self._clock = clock
        self._running: OrderedDict[str, tuple[datetime, float]] = OrderedDict()
        self._finished: deque[ToolTrace] = deque(maxlen=most)

    def __iter__(self) -> Any:
        """Iterate over the finished calls, the latest last."""
        return iter(tuple(self._finished))

    def begin(self, tool_use_id: str) -> None:
        """Note that a call begins."""
        if len(self._running) >= self._most:
            self._running.popitem(last=False)
        self._running[tool_use_id] = (self._now(), self._clock())

    def finish(self, tool_use_id: str, tool: str, result: Any, error: str | None) -> ToolTrace:
        """Note that a call has ended, and return what is known of it."""
        end = self._now()
        begun = self._running.pop(tool_use_id, None)
        trace = ToolTrace(
            tool_use_id=tool_use_id,
            tool=tool,
            start=end if begun is None else begun[0],
            end=end,
            duration=None if begun is None else self._clock() - begun[1],
            result_bytes=None if result is None else _size(result),
            error=error,
        )
        self._finished.append(trace)
        return trace

    def abandon(self) -> None:
        """Forget the calls that have no end; their turn is over."""
        self._running.clear()


def _size(result: Any) -> int:
    """Return the bytes of a payload, which is JSON but for what JSON has no form for."""
    try:
        return len(json.dumps(result, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    except (TypeError, ValueError, RecursionError):
        return len(str(result).encode("utf-8", "surrogatepass"))
