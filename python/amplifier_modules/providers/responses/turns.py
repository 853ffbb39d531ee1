"""Turns of a checked history as items of the Responses API."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from ..openai_models import is_same_model, model_profile
from ..wire.fields import JsonDict, fields_of
from ..wire.history import Result, Turn
from ..wire.rules import HistoryRules, NameForm, Writer
from .content import OF_USER, image_item, input_part

OF_ASSISTANT = frozenset(
    {
        "image", "web_search_call", "file_search_call", "code_interpreter_call",
        "image_generation_call", "mcp_call", "mcp_list_tools", "tool_search_call",
        "tool_search_output", "compaction",
    }
)  # fmt: skip
"""Block types that an assistant turn may contain besides text, thinking and calls."""
TOOL_NAMES = NameForm(max_length=64)
_OF_REASONING = ("id", "type", "summary", "content", "encrypted_content")


@dataclass(frozen=True)
class ResponsesRules(HistoryRules):
    """What the Responses API accepts of a history."""

    user_blocks: frozenset[str] = OF_USER
    assistant_blocks: frozenset[str] = OF_ASSISTANT
    result_blocks: frozenset[str] = OF_USER
    system_first: bool = False
    tool_names: NameForm = TOOL_NAMES

    @classmethod
    def of(cls, provider: str, model: str) -> ResponsesRules:
        """Return what a model accepts."""
        if model_profile(model).has_vision:
            return cls(provider, model)
        seen = OF_USER - {"image", "input_image"}
        return cls(provider, model, user_blocks=seen, result_blocks=seen)

    def is_same_model(self, one: str, other: str) -> bool:
        """Whether two names mean the same model; a dated name equals its alias."""
        return is_same_model(one, other)

    def own_thinking(self, block: JsonDict, writer: Writer) -> JsonDict | None:
        """Return reasoning that this model encrypted, unchanged."""
        item = block if block.get("type") == "reasoning" else fields_of(block.get("item"))
        if not self.is_of_model(writer) or not item.get("encrypted_content"):
            return None
        sent = {key: item[key] for key in _OF_REASONING if item.get(key)}
        return {"type": "thinking", "item": {"type": "reasoning", "summary": [], **sent}}

    def own_part(self, part: JsonDict, writer: Writer) -> JsonDict:
        """Return a part without its item, if another model or provider wrote it."""
        if "item" not in part or part["type"] == "image" or self.is_of_model(writer):
            return part
        return {key: value for key, value in part.items() if key != "item"}

    def paired(self, parts: list[JsonDict]) -> list[JsonDict]:
        """Return the parts of an answer as the API wants them: reasoning with what follows from it.

        Reasoning at the end led to nothing that is left. What lost its reasoning has no id, as the
        API would look for the reasoning by it.
        """
        kept: list[JsonDict] = []
        for part in reversed(parts):
            if kept or part["type"] != "thinking":
                kept.append(part)
        kept.reverse()
        if any(part["type"] == "thinking" for part in kept):
            return kept
        return [_without_id(part) for part in kept]


def turn_items(turn: Turn) -> list[JsonDict]:
    """Return a turn as items of the API."""
    if turn.role == "assistant":
        return [_said(part) for part in turn.parts]
    items = [_result(result) for result in turn.results]
    for is_system, parts in groupby(turn.parts, lambda part: part["type"] == "system"):
        role = "developer" if is_system else "user"
        items.append({"role": role, "content": [input_part(part) for part in parts]})
    return items


def answer_items(blocks: list[JsonDict]) -> list[JsonDict]:
    """Return the blocks of an answer that is not whole as the items with which the next goes on.

    There are none if it has no text: nothing could go on.
    """
    parts: list[JsonDict] = []
    for block in blocks:
        item = fields_of(block.get("item"))
        if block["type"] == "thinking" and item.get("encrypted_content"):
            sent = {key: item[key] for key in _OF_REASONING if item.get(key)}
            parts.append({"type": "thinking", "item": {"summary": [], **sent}})
        elif block["type"] in {"text", *OF_ASSISTANT} and block.get("text") != "":
            parts.append(block)
    if not any(part["type"] == "text" for part in parts):
        return []
    kept = ResponsesRules("", "").paired(parts)
    return [_said(part) for part in kept]


def _said(part: JsonDict) -> JsonDict:
    """Return a part of an assistant turn as an item."""
    match part["type"]:
        case "text":
            return _message(part)
        case "thinking":
            return part["item"]
        case "tool_call":
            return _call(part)
        case "image":
            return image_item(part)
        case _:
            return part


def _message(part: JsonDict) -> JsonDict:
    item = fields_of(part.get("item"))
    told = [
        {key: value for key, value in fields_of(each).items() if key != "logprobs"}
        for each in cast("list[Any]", item.get("content") or [])
    ]
    if "".join(each.get("text") or "" for each in told) != part["text"]:
        told = [{"type": "output_text", "text": part["text"]}]  # it was edited
    message: JsonDict = {"type": "message", "role": "assistant", "content": told}
    for key in ("phase", "id"):
        if item.get(key):
            message[key] = item[key]
    if "id" in message:
        message["status"] = item.get("status") or "completed"
    return message


def _call(part: JsonDict) -> JsonDict:
    item = fields_of(part.get("item"))
    call: JsonDict = {"type": "function_call", "call_id": part["id"], "name": part["name"]}
    if _is_custom(part):
        call |= {"type": "custom_tool_call", "input": part["input"].get("input", "")}
    else:
        call["arguments"] = _arguments(part["input"], item.get("arguments"))
    item_id = item.get("id")
    if isinstance(item_id, str) and item_id.startswith(("fc_", "ctc_")):
        call["id"] = item_id
    if item.get("namespace"):
        call["namespace"] = item["namespace"]
    return call


def _arguments(given: JsonDict, written: Any) -> str:
    """Return arguments as the model wrote them, unless they were changed."""
    if isinstance(written, str):
        try:
            if json.loads(written) == given:
                return written
        except ValueError:
            pass
    return json.dumps(given, ensure_ascii=False, default=str)


def _result(result: Result) -> JsonDict:
    output: Any = result.output
    if not isinstance(output, str):
        output = [input_part(block) for block in result.output if isinstance(block, dict)]
    kind = "custom_tool_call_output" if _is_custom(result.call) else "function_call_output"
    return {"type": kind, "call_id": result.call_id, "output": output}


def _is_custom(call: JsonDict) -> bool:
    return fields_of(call.get("item")).get("type") == "custom_tool_call"


def _without_id(part: JsonDict) -> JsonDict:
    item = part.get("item")
    if not isinstance(item, dict) or part["type"] == "image":
        return part
    return {**part, "item": {key: value for key, value in part["item"].items() if key != "id"}}
