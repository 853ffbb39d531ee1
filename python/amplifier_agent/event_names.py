"""From the events of the kernel to those of a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from amplifier_core import events
from amplifier_modules.contexts.history_events import HISTORY_EVENTS
from amplifier_modules.loops.boundary.call_context import TOOL_PROGRESS, TOOL_RESULT, TOOL_START
from amplifier_modules.loops.goal.pursuit import GOAL_PROGRESS
from amplifier_modules.spending.budget import BUDGET_WARNING, warning_text

from .event import (
    Event,
    QuestionAsked,
    Status,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from .observer import KERNEL_EVENTS

_Data: TypeAlias = Mapping[str, Any]
_Raw: TypeAlias = tuple[str, dict[str, Any]]

DELTAS: Mapping[Any, type[TextDelta | ThinkingDelta]] = {
    "text": TextDelta,
    "thinking": ThinkingDelta,
    "reasoning": ThinkingDelta,
}
"""The events of the pieces of an answer, by the types of their blocks."""


def event_of(name: str, data: _Data) -> Event | None:
    """Return the event of a stream for one of the kernel but a delta; None if it has none."""
    raw = (name, dict(data))
    if (make := _MADE.get(name)) is not None:
        return make(data, raw)
    if (describe := _DESCRIBED.get(name)) is not None:
        text = describe(data)
        return None if text is None else Status(raw=raw, kind=name, text=text)
    return None if name in _SILENT else Event(raw=raw)


def has_event(name: str) -> bool:
    """Whether a stream may have an event for one of the kernel, but a delta, or of a module."""
    return name in _MADE or name in _DESCRIBED or name not in _SILENT


def _call_of(data: _Data) -> dict[str, str]:
    return {"id": str(data.get("tool_call_id") or ""), "name": str(data.get("tool_name") or "")}


def _make_start(data: _Data, raw: _Raw) -> Event:
    arguments = dict(data.get("tool_input") or {})
    return ToolStarted(raw=raw, **_call_of(data), arguments=arguments)


def _make_progress(data: _Data, raw: _Raw) -> Event:
    message, fraction = str(data.get("message") or ""), data.get("fraction")
    return ToolProgress(raw=raw, **_call_of(data), message=message, fraction=fraction)


def _make_failure(data: _Data, raw: _Raw) -> Event:
    text = data.get("error")
    if isinstance(text, Mapping):
        text = cast("Mapping[str, Any]", text).get("msg")
    return ToolFinished(raw=raw, **_call_of(data), output=text, is_error=True)


def _make_end(data: _Data, raw: _Raw) -> Event:
    result = data.get("result")
    if not isinstance(result, Mapping):
        return ToolFinished(raw=raw, **_call_of(data), output=result, is_error=False)
    result = cast("Mapping[str, Any]", result)
    is_error = result.get("success") is False
    return ToolFinished(raw=raw, **_call_of(data), output=result.get("output"), is_error=is_error)


def _make_question(data: _Data, raw: _Raw) -> Event | None:
    from .event import Question

    if "question_id" not in data:
        return None
    question = Question(
        id=str(data["question_id"]),
        tool_name=str(data.get("tool_name") or ""),
        arguments=dict(data.get("arguments") or {}),
        action=str(data.get("prompt") or ""),
        risk_level="medium",
        timeout=data.get("timeout"),
    )
    return QuestionAsked(raw=raw, question=question)


_MADE: Mapping[str, Callable[[_Data, _Raw], Event | None]] = {
    TOOL_START: _make_start,
    TOOL_PROGRESS: _make_progress,
    events.TOOL_POST: _make_end,
    events.TOOL_ERROR: _make_failure,
    events.APPROVAL_REQUIRED: _make_question,
}


def _write_retry(data: _Data) -> str:
    return (
        f"the model is asked again in {_write_seconds(data, 'delay')}: {data.get('error_message')}"
    )


def _write_throttle(data: _Data) -> str:
    return f"waiting {_write_seconds(data, 'delay')} for the rate limit"


def _write_delay(data: _Data) -> str:
    return f"waiting {float(data.get('delay_ms') or 0) / 1000:.1f} s before the next model call"


def _write_compaction(data: _Data) -> str:
    before, after = data.get("before_tokens"), data.get("after_tokens")
    return f"the conversation was shortened from {before} to {after} tokens"


def _write_completion(data: _Data) -> str | None:
    is_told = data.get("reason") and "denied" not in data
    return f"the turn was ended: {data['reason']}" if is_told else None


def _write_goal(data: _Data) -> str:
    most = "" if data.get("max_rounds") is None else f" of {data['max_rounds']}"
    state = "not reached yet" if data.get("state") == "continuing" else data.get("state")
    reason = f": {data['reason']}" if data.get("reason") else ""
    return f"goal, round {data.get('round')}{most}: {state}{reason}"


def _write_seconds(data: _Data, name: str) -> str:
    value = data.get(name)
    return f"{value:.1f} s" if isinstance(value, int | float) else "a while"


_DESCRIBED: Mapping[str, Callable[[_Data], str | None]] = {
    events.PROVIDER_RETRY: _write_retry,
    events.PROVIDER_THROTTLE: _write_throttle,
    "orchestrator:rate_limit_delay": _write_delay,
    events.CONTEXT_COMPACTION: _write_compaction,
    "orchestrator:paused": lambda data: "paused",
    "orchestrator:resumed": lambda data: "resumed",
    "orchestrator:steering_injected": lambda data: f"a message to the model: {data.get('content')}",
    "orchestrator:steering_discarded": lambda data: "a message to the model was discarded",
    events.ORCHESTRATOR_COMPLETE: _write_completion,
    GOAL_PROGRESS: _write_goal,
    BUDGET_WARNING: warning_text,
    events.USER_NOTIFICATION: lambda data: str(data.get("message") or ""),
}
"""The line that a user reads about an event."""

_SILENT = frozenset((*KERNEL_EVENTS, *HISTORY_EVENTS, TOOL_RESULT))
"""Events which hooks get; a stream names those that a user sees."""
