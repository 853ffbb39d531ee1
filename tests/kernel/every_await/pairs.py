"""Events that come in pairs: whatever begins ends, once, and before what is around it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Data = Mapping[str, Any]


def _of_turn(data: Data) -> tuple[Any, ...]:
    return ()


def _of_model_call(data: Data) -> tuple[Any, ...]:
    return (data["iteration"],)


def _of_tool_call(data: Data) -> tuple[Any, ...]:
    return (data["tool_call_id"],)


def _of_block(data: Data) -> tuple[Any, ...]:
    return (data["block_index"], data["block_type"])


def _of_part(data: Data) -> tuple[Any, ...]:
    return (data.get("index"),)


PAIRS: tuple[tuple[str, tuple[str, ...], Callable[[Data], tuple[Any, ...]]], ...] = (
    ("execution:start", ("execution:end",), _of_turn),
    ("turn:start", ("turn:end",), _of_turn),
    ("cancel:requested", ("cancel:completed",), _of_turn),
    ("llm:pre", ("llm:post",), _of_model_call),
    ("tool:pre", ("tool:post", "tool:error"), _of_tool_call),
    ("content_block:start", ("content_block:end",), _of_block),
    ("agent:message_start", ("agent:message_end",), _of_part),
    ("agent:thinking_start", ("agent:thinking_end",), _of_part),
    ("agent:tool_call_start", ("agent:tool_call_end",), _of_part),
)
"""What begins, what ends it, and which of those at the same time it is."""

PAIRED = {event for start, ends, _ in PAIRS for event in (start, *ends)}

_STARTS = {start: (start, key) for start, _, key in PAIRS}
_ENDS = {end: (start, key) for start, ends, key in PAIRS for end in ends}
_CAN_BE_ALONE = ("turn:end", "cancel:completed")
_WITHIN_A_MODEL_CALL = ("agent:message_start", "agent:thinking_start", "agent:tool_call_start")


def problems(events: Iterable[tuple[str, Data]]) -> list[str]:
    """Say what is wrong with the pairs of one turn; nothing if they are whole.

    A turn ends even if it was over before `turn:start` could be told, and a session tells that a
    request to stop came when the turn was over. The parts of a cancelled answer, which only
    `agent:*` events tell of, end with its `llm:post`.
    """
    found: list[str] = []
    open_: list[tuple[Any, ...]] = []
    for event, data in events:
        if event in _STARTS:
            start, key = _STARTS[event]
            if (begun := (start, *key(data))) in open_:
                found.append(f"{begun} begins again")
            open_.append(begun)
        elif event in _ENDS:
            start, key = _ENDS[event]
            ended = (start, *key(data))
            if ended in open_:
                open_.remove(ended)
            elif event not in _CAN_BE_ALONE:
                found.append(f"{event} ends {ended}, which is not open")
            if event == "llm:post" and data["status"] == "cancelled":
                open_ = [each for each in open_ if not _is_part(each)]
            elif event == "llm:post":
                found += [f"{each} outlives its model call" for each in open_ if _is_part(each)]
            elif event in ("turn:end", "execution:end"):
                around = ("execution:start", "turn:start")
                found += [f"{each} outlives {event}" for each in open_ if each[0] not in around]
    return found + [f"{each} never ends" for each in open_]


def _is_part(begun: tuple[Any, ...]) -> bool:
    return begun[0] in _WITHIN_A_MODEL_CALL
