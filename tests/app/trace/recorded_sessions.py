"""A session with a sub-agent, a question, a compaction and an error, as its events are stored."""

from __future__ import annotations

from typing import Any

from amplifier_app.trace.reading import RecordedSession

BEGIN = 1_800_000_000


def at(seconds: float) -> str:
    """The time so many seconds after the beginning."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(BEGIN + seconds, UTC).isoformat()


def said(source: str, role: str, content: Any, seconds: float, **more: Any) -> tuple[str, Any]:
    message = {"role": role, "content": content, "metadata": {"timestamp": at(seconds)}, **more}
    return "context:message", {"source": source, "message": message}


def asked(begin: float, end: float, *, read: int = 0, **more: Any) -> list[tuple[str, Any]]:
    usage = {"input_tokens": 100, "output_tokens": 10, "cache_read_tokens": read, "cost_usd": "0.5"}
    return [
        ("llm:request", {"model": "m-1", "timestamp": at(begin)}),
        ("llm:post", {"model": "m-1", "usage": usage, "timestamp": at(end), **more}),
    ]


def called(
    id: str, name: str, arguments: Any, begin: float, end: float, result: str, **more: Any
) -> list[tuple[str, Any]]:
    start = {"tool_call_id": id, "tool_name": name, "tool_input": arguments, "key": f"s/{id}"}
    message = {"role": "tool", "tool_call_id": id, "content": result, **more}
    return [
        ("tool:start", {**start, "timestamp": at(begin)}),
        ("tool:result", {"tool_call_id": id, "message": message, "timestamp": at(end)}),
    ]


def make_sessions(prompt: str = "Tidy up") -> list[RecordedSession]:
    """The session and its sub-agent."""
    task = {"type": "tool_call", "id": "c1", "name": "task", "input": {"prompt": "Look"}}
    events: list[tuple[str, Any]] = [
        ("execution:start", {"prompt": prompt, "timestamp": at(0)}),
        said("user", "user", prompt, 0),
        *asked(1, 3, finish_reason="tool_use"),
        said("model", "assistant", [{"type": "thinking", "thinking": "Hm."}, task], 3),
        *called("c1", "task", {"prompt": "Look"}, 3, 9, "All is well."),
        ("approval:required", {"tool_name": "wipe", "prompt": "run `wipe`?", "asked_at": BEGIN + 10}),
        ("approval:denied", {"reason": "not now", "timestamp": at(14)}),
        *called("c2", "wipe", {"path": "old"}, 14, 14.5, "Denied: not now", is_error=True),
        ("orchestrator:complete", {"status": "success", "timestamp": at(15)}),
        ("execution:start", {"prompt": "And now?", "timestamp": at(100)}),
        said("user", "user", "And now?", 100),
        ("context:replaced", {"messages_removed": 5, "count": 1, "timestamp": at(101)}),
        *asked(102, 104, read=90, finish_reason="length"),
        said("model", "assistant", "Nothing is", 104),
        ("orchestrator:complete", {"status": "truncated", "timestamp": at(105)}),
    ]  # fmt: skip
    child: list[tuple[str, Any]] = [
        ("execution:start", {"prompt": "Look", "timestamp": at(4)}),
        said("user", "user", "Look", 4),
        *asked(4, 8),
        said("model", "assistant", "All is well.", 8),
    ]
    return [
        RecordedSession("s", title=prompt, folder="/project", events=events),
        RecordedSession("child", parent="s", call="s/c1", events=child),
    ]
