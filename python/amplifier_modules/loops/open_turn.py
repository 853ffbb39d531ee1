"""A turn that another process has left open, on its way on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amplifier_core.session_capabilities import SESSION_STORED_HISTORY

from ..contexts.history_events import REPAIR
from ..contexts.open_calls import OpenCall, OpenCalls
from .answers.response import RequestedCall
from .tool_calls import ToolRound
from .turn_state import TurnState


async def finish_open_calls(state: TurnState) -> None:
    """Add a result for each call that has none.

    A call that ended has its own. One that began runs again if its tool is `idempotent` or
    `read_only`; of any other the model is told what is known.
    """
    stored = state.hooks.coordinator.get_capability(SESSION_STORED_HISTORY)
    calls: OpenCalls = stored.take_open_calls()
    await _finish(state, calls.written)
    if (answer := calls.make_answer()) is not None:
        await state.history.add(answer, REPAIR)
    await _finish(state, calls.unwritten)


async def _finish(state: TurnState, calls: Sequence[OpenCall]) -> None:
    if not calls:
        return
    results = {call.id: call.make_result() for call in calls}
    repeated = [call for call in calls if _may_repeat(state, call)]
    try:
        if repeated:
            async with ToolRound(state) as calls_again:
                for call in repeated:
                    state.journal.keep_key(call.id, call.key)
                await calls_again.run_again(map(_request, repeated))
            results |= {each["tool_call_id"]: each for each in calls_again.results}
    finally:
        await state.history.add_results(results.values())


async def find_last_answer(state: TurnState) -> str | None:
    """Return the answer that the turn has already; None if the model is to be asked."""
    messages: list[dict[str, Any]] = await state.history.context.get_messages()
    last = messages[-1] if messages else {}
    if last.get("role") != "assistant":
        return None
    content = last.get("content")
    if isinstance(content, str):
        return content
    return "".join(str(each.get("text", "")) for each in content or () if each["type"] == "text")


def _may_repeat(state: TurnState, call: OpenCall) -> bool:
    tool = state.tools.get(call.name)
    is_unknown = call.key is not None and call.result is None
    may_repeat = any(getattr(tool, name, False) is True for name in ("idempotent", "read_only"))
    return is_unknown and may_repeat


def _request(call: OpenCall) -> RequestedCall:
    return RequestedCall(call.id, call.name, dict(call.arguments))
