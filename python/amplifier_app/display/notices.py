"""What a person reads beside the answer: waits, a shortened conversation, messages of hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

from amplifier_app.display.preview import failure_summary
from amplifier_app.printable import printable_line
from amplifier_core import events
from amplifier_modules.loops.goal.pursuit import CONTINUING, GOAL_PROGRESS
from amplifier_modules.loops.steering import STEERING_DISCARDED
from amplifier_modules.spending.budget import BUDGET_WARNING, warning_text
from amplifier_providers.running.count_noun import count_noun
from amplifier_providers.wire.events import PROVIDER_PULL_PROGRESS

_SHOWN_BYTES = 100_000_000
"""Smaller parts of a model are downloaded in a moment."""

Notice: TypeAlias = tuple[str, str]
"""A line that is safe to show, and the name of its style."""


def notice_of(event: str, data: Mapping[str, Any]) -> Notice | None:
    """Return the notice about an event, if it is one of these."""
    make = _NOTICES.get(event)
    return None if make is None else make(data)


def message_notice(message: str, level: str, source: str) -> Notice:
    """Return the notice for a message of a hook."""
    sign = {"error": "error: ", "warning": "warning: "}.get(level, "")
    style = level if level in ("error", "warning") else "note"
    return f"{sign}{printable_line(message, 1000)} ({printable_line(source, 80)})", style


def _wait(data: Mapping[str, Any], doing: str) -> Notice:
    delay = data.get("delay")
    again = f"{doing} in {_write_seconds(delay)}" if isinstance(delay, int | float) else ""
    if isinstance(reason := data.get("reason"), str):
        parts = (printable_line(reason, 80), again)
        return ", ".join(part for part in parts if part), "note"
    provider = printable_line(str(data.get("provider") or "the provider"), 80)
    failure = failure_summary(data.get("error") or data.get("error_message") or data)
    return f"{provider}: {failure}{'; ' if again else ''}{again}", "warning"


def _notice_of_compaction(data: Mapping[str, Any]) -> Notice:
    before, after = data.get("before_tokens"), data.get("after_tokens")
    size = ""
    if isinstance(before, int) and isinstance(after, int):
        size = f" (about {before:,} to {count_noun(after, 'token')})"
    return f"the conversation was shortened to fit the model{size}", "note"


def _describe_notification(data: Mapping[str, Any]) -> Notice | None:
    message = data.get("message") or data.get("text") or ""
    level, source = str(data.get("level") or "info"), str(data.get("source") or "hook")
    return message_notice(str(message), level, source) if message else None


def _describe_goal(data: Mapping[str, Any]) -> Notice | None:
    """Return the state of the goal; one that is given up is shown at the end of the turn."""
    count, most = data.get("round"), data.get("max_rounds")
    reason = printable_line(str(data.get("reason") or ""), 300)
    after = f": {reason}" if reason else ""
    if data.get("state") == CONTINUING:
        limit = f" of {most}" if isinstance(most, int) else ""
        return f"goal, round {count}{limit}: not reached yet{after}", "note"
    if data.get("state") == "reached" and isinstance(count, int):
        return f"goal reached in {count_noun(count, 'round')}{after}", "note"
    return None


def _goal_summary(data: Mapping[str, Any]) -> Notice | None:
    final = data.get("goal_final")
    summary = cast("Mapping[str, Any]", final).get("summary") if isinstance(final, Mapping) else ""
    return (f"summary: {printable_line(str(summary), 2000)}", "note") if summary else None


def _not_read(data: Mapping[str, Any]) -> Notice:
    reason = data.get("reason")
    why = printable_line(reason, 200) if isinstance(reason, str) else "the turn was cancelled"
    return f"steering was not read: {why}", "warning"


def _download(data: Mapping[str, Any]) -> Notice | None:
    """Return a line for each quarter of a large part, and for each step that has no size."""
    completed, total = data.get("completed"), data.get("total")
    model = printable_line(str(data.get("model")), 80)
    status = printable_line(str(data.get("status")), 80)
    if not isinstance(total, int):
        return f"downloading `{model}`: {status}", "note"
    if not isinstance(completed, int) or total < _SHOWN_BYTES or completed * 100 // total % 25:
        return None
    share = f"{completed * 100 // total} % of {total / 1e9:.1f} GB"
    return f"downloading `{model}`: {share}", "note"


def _describe_budget(data: Mapping[str, Any]) -> Notice:
    return warning_text(data), "warning"


def _write_seconds(seconds: float) -> str:
    """A wait in seconds, with one decimal if it is short."""
    return (
        f"{max(seconds, 0.1):.1f}".removesuffix(".0") + " s" if seconds < 10 else f"{seconds:.0f} s"
    )


_NOTICES: dict[str, Callable[[Mapping[str, Any]], Notice | None]] = {
    events.PROVIDER_RETRY: lambda data: _wait(data, "retrying"),
    events.PROVIDER_THROTTLE: lambda data: _wait(data, "continuing"),
    PROVIDER_PULL_PROGRESS: _download,
    events.CONTEXT_COMPACTION: _notice_of_compaction,
    events.USER_NOTIFICATION: _describe_notification,
    STEERING_DISCARDED: _not_read,
    GOAL_PROGRESS: _describe_goal,
    events.ORCHESTRATOR_COMPLETE: _goal_summary,
    BUDGET_WARNING: _describe_budget,
}
