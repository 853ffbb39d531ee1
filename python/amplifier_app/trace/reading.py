"""The turns of a session, read from its events as they are stored or logged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from amplifier_core import events as names
from amplifier_modules.contexts import history_events
from amplifier_modules.loops.boundary.call_context import TOOL_RESULT, TOOL_START
from amplifier_providers.prices.amounts import read_count, read_dollars

from .steps import COUNTS, Block, Step, Turn

_MOST = 1e15
"""A larger number is neither a time nor an amount."""
_ENDINGS = {
    names.APPROVAL_GRANTED: "granted",
    names.APPROVAL_DENIED: "denied",
    "approval:timeout": "not answered",
}
_USUAL = frozenset({"success", "ok", "completed", "end_turn", "tool_use", "stop", "tool_calls"})


@dataclass(slots=True)
class RecordedSession:
    """The events of a session, and where it belongs."""

    id: str
    parent: str | None = None
    call: str | None = None
    """The key or the id of the call that has started it."""
    title: str = ""
    folder: str = ""
    events: list[tuple[str, Mapping[str, Any]]] = field(
        default_factory=list[tuple[str, Mapping[str, Any]]]
    )
    """Their kinds, and what they say."""


def read_turns(sessions: Sequence[RecordedSession]) -> list[Turn]:
    """Return the turns of the first session, with those of its sub-agents in their calls."""
    turns = {each.id: _TurnReader().read(each.events) for each in sessions}
    for session in sessions[1:]:
        around = turns.get(session.parent or "", turns[sessions[0].id])
        steps = [step for turn in around for step in turn.steps if step.kind == "tool"]
        found = (each for each in steps if session.call and each.call == session.call)
        step = next(found, None)
        if step is None:  # a call that was not recorded
            step = Step("note", "sub-agent")
            (around or turns[sessions[0].id] or [Turn("")])[-1].steps.append(step)
        step.turns += turns[session.id]
    return turns[sessions[0].id]


class _TurnReader:
    """Reads the events of one session in their order."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []
        self._asking: Step | None = None
        """The call of a model that has not ended."""
        self._answered: Step | None = None
        """The one that has ended, and whose answer has not come."""
        self._calls: dict[str, Step] = {}
        self._question: Step | None = None
        self._now: float | None = None

    def read(self, events: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Turn]:
        for kind, body in events:
            time = _read_time(body)
            if time is not None:
                self._now = max(time, self._now or time)
            self._read_event(kind, body, time)
        for turn in self._turns:
            ends = [each.end for each in turn.list_steps() if each.end is not None]
            turn.end = turn.end or max(ends, default=None)
        return self._turns

    def _read_event(self, kind: str, body: Mapping[str, Any], time: float | None) -> None:
        match kind:
            case names.EXECUTION_START:
                if not (body.get("goes_on") and self._turns):
                    self._turns.append(Turn(str(body.get("prompt") or ""), time))
            case names.LLM_REQUEST | names.LLM_PRE:
                if self._asking is None:
                    self._asking = self._add(Step("model", _name_model(body), time or self._now))
            case names.LLM_POST:
                self._end_asking(body, time)
            case _ if kind == TOOL_START:
                self._begin_call(body, time)
            case _ if kind == TOOL_RESULT:
                self._end_call(body, time)
            case history_events.CONTEXT_MESSAGE:
                self._read_message(body)
            case history_events.CONTEXT_REPLACED:
                removed = f"{body.get('messages_removed')} messages became {body.get('count')}"
                step = Step("compaction", "compaction", time or self._now)
                step.blocks.append(Block("text", removed))
                self._add(step)
            case names.APPROVAL_REQUIRED:
                self._begin_question(body, time)
            case names.APPROVAL_GRANTED | names.APPROVAL_DENIED | "approval:timeout":
                self._end_question(kind, body, time)
            case names.ORCHESTRATOR_COMPLETE:
                if self._turns:
                    self._turns[-1].end = time or self._now
                    self._turns[-1].status = _name_status(body.get("status"))
            case _:
                pass

    def _add(self, step: Step) -> Step:
        if not self._turns:
            self._turns.append(Turn("", step.begin))
        self._turns[-1].steps.append(step)
        return step

    def _end_asking(self, body: Mapping[str, Any], time: float | None) -> None:
        step = self._asking or self._add(Step("model", _name_model(body), self._now))
        self._asking, self._answered = None, step
        step.name = _name_model(body)
        step.end = time
        step.status = _name_status(body.get("finish_reason")) or _name_status(body.get("status"))
        usage: Any = body.get("usage")
        if isinstance(usage, Mapping):
            counts = cast("Mapping[str, Any]", usage)
            step.usage = {name: read_count(counts.get(name)) or 0 for name in COUNTS}
            dollars = read_dollars(counts.get("cost_usd"))
            step.cost = None if dollars is None else _read_number(float(dollars))

    def _begin_call(self, body: Mapping[str, Any], time: float | None) -> None:
        id = str(body.get("tool_call_id"))
        if body.get("goes_on") and id in self._calls:
            return
        step = Step("tool", str(body.get("tool_name")), time or self._now)
        step.call = str(body.get("key") or id)
        step.blocks.append(Block("arguments", _write_json(body.get("tool_input"))))
        self._calls[id] = self._add(step)

    def _end_call(self, body: Mapping[str, Any], time: float | None) -> None:
        step = self._calls.get(str(body.get("tool_call_id")))
        message: Any = body.get("message")
        if step is None or not isinstance(message, Mapping):
            return
        fields = cast("Mapping[str, Any]", message)
        step.end = time
        step.status = "error" if fields.get("is_error") else ""
        step.blocks += _read_blocks(fields.get("content"), "result")

    def _read_message(self, body: Mapping[str, Any]) -> None:
        message: Any = body.get("message")
        if not isinstance(message, Mapping):
            return
        fields = cast("Mapping[str, Any]", message)
        added = _read_time(fields.get("metadata"))
        self._now = max(added or 0, self._now or 0) or None
        source, blocks = str(body.get("source")), _read_blocks(fields.get("content"), "text")
        if source == history_events.MODEL:
            step = self._answered or self._add(Step("model", "model", self._now))
            self._answered = None
            step.end = step.end or added
            step.blocks += blocks
        elif source == history_events.TOOL:
            step = self._calls.get(str(fields.get("tool_call_id")))
            if step is None:  # a call that did not run
                step = self._add(Step("tool", str(fields.get("name")), self._now))
            if step.end is None:
                step.end = added
                step.status = "error" if fields.get("is_error") else ""
                step.blocks += [block._replace(kind="result") for block in blocks]
        elif source == history_events.USER and self._turns and not self._turns[-1].steps:
            turn = self._turns[-1]
            turn.begin = turn.begin or added
            if len(blocks) > 1 or "".join(each.text for each in blocks) != turn.prompt:
                self._add(Step("note", source, added, added, blocks=blocks))
        else:
            self._add(Step("note", source, added, added, blocks=blocks))

    def _begin_question(self, body: Mapping[str, Any], time: float | None) -> None:
        asked = _read_number(body.get("asked_at"))
        begin = time if asked is None else asked
        self._question = self._add(Step("question", str(body.get("tool_name") or ""), begin))
        self._question.blocks.append(Block("question", str(body.get("prompt") or "")))

    def _end_question(self, kind: str, body: Mapping[str, Any], time: float | None) -> None:
        if self._question is None:
            return
        self._question.end, self._question.status = time or self._now, _ENDINGS[kind]
        if body.get("reason"):
            self._question.blocks.append(Block("answer", str(body["reason"])))
        self._question = None


def _read_time(body: object) -> float | None:
    written = (
        cast("Mapping[str, Any]", body).get("timestamp") if isinstance(body, Mapping) else None
    )
    try:
        return datetime.fromisoformat(written).timestamp() if isinstance(written, str) else None
    except (OverflowError, ValueError):
        return None


def _read_number(written: object) -> float | None:
    """Return a number that JSON can hold; None for anything else."""
    if isinstance(written, bool) or not isinstance(written, int | float):
        return None
    return float(written) if abs(written) < _MOST else None


def _name_model(body: Mapping[str, Any]) -> str:
    model = str(body.get("model") or body.get("provider") or "model")
    return f"{model} ({body['purpose']})" if body.get("purpose") else model


def _name_status(status: object) -> str:
    return "" if status is None or status in _USUAL else str(status)


def _read_blocks(content: object, kind: str) -> list[Block]:
    if isinstance(content, str):
        return [Block(kind, content)] if content else []
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    return [_read_block(each, kind) for each in blocks]


def _read_block(block: Any, kind: str) -> Block:
    if not isinstance(block, Mapping):
        return Block("unknown", repr(block))
    fields = cast("Mapping[str, Any]", block)
    match fields.get("type"):
        case "text":
            return Block(kind, str(fields.get("text") or ""))
        case "thinking":
            return Block("thinking", str(fields.get("thinking") or ""))
        case "tool_call" | "tool_use":
            arguments = fields.get("input", fields.get("arguments"))
            return Block("call", f"{fields.get('name')} {_write_json(arguments)}")
        case "image":
            source: Any = fields.get("source") or {}
            return Block("image", f"an image ({dict(source).get('media_type', 'of unknown type')})")
        case other:
            return Block(str(other), _write_json(dict(fields)))


def _write_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=repr)
