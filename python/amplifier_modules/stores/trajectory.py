"""A stored session in the Agent Trajectory Interchange Format (ATIF), for tools that compare agents.

The format is that of `docs/rfcs/0001-trajectory-format.md` of the project Harbor, version 1.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from amplifier_core import __version__
from amplifier_core.events import LLM_POST
from amplifier_providers.prices.amounts import read_dollars

from ..contexts import history_events
from ..contexts.messages import is_by_user
from ..loops.boundary.call_context import TOOL_START
from .store import SessionInfo, StoredEvent

_VERSION = "ATIF-v1.4"

Step = dict[str, Any]


def make_trajectory(
    session_id: str, events: Iterable[StoredEvent], children: Sequence[SessionInfo] = ()
) -> dict[str, Any]:
    """Return a session as a trajectory.

    What a compaction has removed from the conversation is in it; what was said to the model by
    others than the user and the model is of the source `system`.

    Args:
        session_id: The id of the session.
        events: Its events.
        children: The sub-agents that its calls have started.
    """
    steps: list[Step] = []
    asking: Mapping[str, Any] | None = None
    keys: dict[str, str] = {}
    models: list[str] = []
    for event in events:
        body = event.body
        match event.kind:
            case kind if kind == LLM_POST and not body.get("purpose"):
                asking = body
                models.append(str(body.get("model")))
            case kind if kind == TOOL_START:
                keys[str(body.get("tool_call_id"))] = str(body.get("key"))
            case history_events.CONTEXT_MESSAGE:
                message = body["message"]
                if message.get("role") == "tool":
                    _add_result(steps, message, keys, children)
                    continue
                step = _make_step(message)
                if asking is not None and step["source"] == "agent":
                    step |= _describe_call(asking)
                    asking = None
                steps.append(step)
            case _:
                pass
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    return {
        "schema_version": _VERSION,
        "session_id": session_id,
        "agent": {
            "name": "amplifier-core",
            "version": __version__,
            **({"model_name": models[-1]} if models else {}),
        },
        "steps": numbered,
        "final_metrics": _sum_metrics(numbered),
    }


def _make_step(message: Mapping[str, Any]) -> Step:
    thinking, texts = list[str](), list[str]()
    content = message.get("content")
    blocks: list[Any] = (
        [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    )
    for block in blocks:
        fields = cast("Mapping[str, Any]", block if isinstance(block, Mapping) else {})
        match fields.get("type"):
            case "text":
                texts.append(str(fields.get("text") or ""))
            case "thinking":
                thinking.append(str(fields.get("thinking") or ""))
            case "tool_call" | "tool_use" | "redacted_thinking":
                pass
            case kind:
                texts.append(f"[{kind}]")
    step: Step = {"source": _find_source(message), "message": "\n".join(texts)}
    if any(thinking):
        step["reasoning_content"] = "\n".join(thinking)
    if calls := message.get("tool_calls"):
        step["tool_calls"] = [
            {
                "tool_call_id": str(call.get("id")),
                "function_name": str(call.get("tool") or call.get("name")),
                "arguments": call.get("arguments") or {},
            }
            for call in calls
        ]
    return step


def _find_source(message: Mapping[str, Any]) -> str:
    if message.get("role") == "assistant":
        return "agent"
    return "user" if is_by_user(dict(message)) else "system"


def _add_result(
    steps: list[Step],
    message: Mapping[str, Any],
    keys: Mapping[str, str],
    children: Sequence[SessionInfo],
) -> None:
    """Add the result of a call to the step that has the call."""
    id = str(message.get("tool_call_id"))
    result: Step = {"source_call_id": id, "content": _make_step(message)["message"]}
    key = keys.get(id)
    if started := [{"session_id": each.id} for each in children if key and each.call == key]:
        result["subagent_trajectory_ref"] = started
    for step in reversed(steps):
        if any(call["tool_call_id"] == id for call in step.get("tool_calls", ())):
            step.setdefault("observation", {"results": []})["results"].append(result)
            return
    steps.append({"source": "system", "message": result["content"]})


def _describe_call(asking: Mapping[str, Any]) -> Step:
    """Return what an `llm:post` says about the answer of a step."""
    described: Step = {}
    if asking.get("model"):
        described["model_name"] = str(asking["model"])
    usage: Any = asking.get("usage")
    if not isinstance(usage, Mapping):
        return described
    counts = cast("Mapping[str, Any]", usage)
    dollars = read_dollars(counts.get("cost_usd"))
    metrics = {
        "prompt_tokens": counts.get("input_tokens"),
        "completion_tokens": counts.get("output_tokens"),
        "cached_tokens": counts.get("cache_read_tokens"),
        "cost_usd": None if dollars is None else float(dollars),
    }
    described["metrics"] = {name: value for name, value in metrics.items() if value is not None}
    return described


def _sum_metrics(steps: Sequence[Step]) -> dict[str, Any]:
    found = [step["metrics"] for step in steps if "metrics" in step]

    def add(name: str) -> float:
        return sum(each.get(name, 0) for each in found)

    return {
        "total_prompt_tokens": add("prompt_tokens"),
        "total_completion_tokens": add("completion_tokens"),
        "total_cached_tokens": add("cached_tokens"),
        "total_cost_usd": add("cost_usd"),
        "total_steps": len(steps),
    }
