"""From the events of the kernel to those of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from amplifier_core import events
from amplifier_modules.contexts.history_events import HISTORY_EVENTS
from amplifier_modules.loops.boundary.call_context import TOOL_PROGRESS, TOOL_START
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

_DELTAS = {"text": TextDelta, "thinking": ThinkingDelta, "reasoning": ThinkingDelta}

_SILENT = frozenset((*KERNEL_EVENTS, *HISTORY_EVENTS))
"""Events which hooks get; a stream names those that a user sees."""


def event_of(name: str, data: Mapping[str, Any]) -> Event | None:
    """Return the event of a stream for one of the kernel; None if it has none."""
    raw = (name, dict(data))
    if name == events.CONTENT_BLOCK_DELTA:
        kind = _DELTAS.get(str(data.get("block_type")))
        text = data.get("delta")
        return kind(raw=raw, text=text) if kind and isinstance(text, str) and text else None
    if name in {TOOL_START, TOOL_PROGRESS, events.TOOL_POST, events.TOOL_ERROR}:
        return _tool_event(name, data, raw)
    if name == events.APPROVAL_REQUIRED:
        return _question_of(data, raw)
    if (text := _describe_event(name, data)) is not None:
        return Status(raw=raw, kind=name, text=text)
    return None if name in _SILENT else Event(raw=raw)


def _tool_event(name: str, data: Any, raw: tuple[str, dict[str, Any]]) -> Event:
    call = {"id": str(data.get("tool_call_id") or ""), "name": str(data.get("tool_name") or "")}
    if name == TOOL_START:
        return ToolStarted(raw=raw, **call, arguments=dict(data.get("tool_input") or {}))
    if name == TOOL_PROGRESS:
        message, fraction = str(data.get("message") or ""), data.get("fraction")
        return ToolProgress(raw=raw, **call, message=message, fraction=fraction)
    if name == events.TOOL_ERROR:
        text = data.get("error")
        if isinstance(text, Mapping):
            text = cast("Mapping[str, Any]", text).get("msg")
        return ToolFinished(raw=raw, **call, output=text, is_error=True)
    result = data.get("result")
    if not isinstance(result, Mapping):
        return ToolFinished(raw=raw, **call, output=result, is_error=False)
    result = cast("Mapping[str, Any]", result)
    is_error = result.get("success") is False
    return ToolFinished(raw=raw, **call, output=result.get("output"), is_error=is_error)


def _question_of(data: Mapping[str, Any], raw: tuple[str, dict[str, Any]]) -> Event | None:
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


def _describe_event(name: str, data: Mapping[str, Any]) -> str | None:
    """Return the line that a user reads about an event."""
    if name == events.PROVIDER_RETRY:
        return f"the model is asked again in {_write_seconds(data, 'delay')}: {data.get('error_message')}"
    if name == events.PROVIDER_THROTTLE:
        return f"waiting {_write_seconds(data, 'delay')} for the rate limit"
    if name == "orchestrator:rate_limit_delay":
        return f"waiting {float(data.get('delay_ms') or 0) / 1000:.1f} s before the next model call"
    if name == events.CONTEXT_COMPACTION:
        before, after = data.get("before_tokens"), data.get("after_tokens")
        return f"the conversation was shortened from {before} to {after} tokens"
    if name == "orchestrator:paused":
        return "paused"
    if name == "orchestrator:resumed":
        return "resumed"
    if name == "orchestrator:steering_injected":
        return f"a message to the model: {data.get('content')}"
    if name == "orchestrator:steering_discarded":
        return "a message to the model was discarded"
    if name == events.ORCHESTRATOR_COMPLETE and data.get("reason") and "denied" not in data:
        return f"the turn was ended: {data['reason']}"
    if name == GOAL_PROGRESS:
        most = "" if data.get("max_rounds") is None else f" of {data['max_rounds']}"
        state = "not reached yet" if data.get("state") == "continuing" else data.get("state")
        reason = f": {data['reason']}" if data.get("reason") else ""
        return f"goal, round {data.get('round')}{most}: {state}{reason}"
    if name == BUDGET_WARNING:
        return warning_text(data)
    if name == events.USER_NOTIFICATION:
        return str(data.get("message") or "")
    return None


def _write_seconds(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return f"{value:.1f} s" if isinstance(value, int | float) else "a while"
