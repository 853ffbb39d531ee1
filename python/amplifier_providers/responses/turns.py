"""Turns of a checked history as items of the Responses API."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

from ..requests.openai_models import is_same_model
from ..wire.body import json_bytes
from ..wire.fields import JsonDict, blocks_of, fields_of
from ..wire.rules import HistoryRules, NameForm, Writer
from ..wire.turn import Result, Turn
from .content import OF_USER, image_item, input_part
from .search import SEARCH_CALL, write_found, write_search

OF_SERVICE = frozenset(
    {
        "web_search_call", "file_search_call", "code_interpreter_call",
        "image_generation_call", "mcp_call", "mcp_list_tools", "tool_search_call",
        "tool_search_output", "compaction",
    }
)  # fmt: skip
"""Block types of the service's own tools: items as they are."""
OF_ASSISTANT = OF_SERVICE | {"image"}
"""Block types that an assistant turn may contain besides text, thinking and calls."""
TOOL_NAMES = NameForm(max_length=64)
PATCH = "apply_patch"
"""The tool of the service that is run here: a mounted tool of this name gets its operations."""
PATCH_CALL = "apply_patch_call"
REASONING_ITEMS = "openai:reasoning_items"
"""Key in the metadata of a message: its items of reasoning."""
REASONING_LED_TO = "openai:reasoning_led_to"
"""Key in the metadata of a message: the kinds of the blocks after them."""
LED_TO = "led_to"
"""Key of a block of reasoning: the kind of the block after it."""
LED_BY = "led_by"
"""Key of a block of the service's tools: the id of the reasoning before it."""
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
    def of(cls, provider: str, model: str, *, sees: bool) -> ResponsesRules:
        """Return what a model accepts, which sees images or not."""
        if sees:
            return cls(provider, model)
        seen = OF_USER - {"image", "input_image"}
        return cls(provider, model, user_blocks=seen, result_blocks=seen)

    def is_same_model(self, one: str, other: str) -> bool:
        """Whether two names mean the same model; a dated name equals its alias."""
        return is_same_model(one, other)

    def own_thinking(self, block: JsonDict, writer: Writer) -> JsonDict | None:
        """Return reasoning that this model encrypted, unchanged."""
        item = block if block.get("type") == "reasoning" else fields_of(block.get("item"))
        if not self.is_of_model(writer) or not (item.get("encrypted_content") and item.get("id")):
            return None
        return {"type": "thinking", "item": _write_reasoning(item), LED_TO: block.get(LED_TO)}

    def add_metadata_blocks(self, blocks: list[JsonDict], metadata: JsonDict) -> list[JsonDict]:
        """Return the blocks with their reasoning, which a loop may have kept as metadata only."""
        items = blocks_of(metadata.get(REASONING_ITEMS))
        if not items or any(block.get("type") in {"thinking", "reasoning"} for block in blocks):
            return blocks
        led_to = metadata.get(REASONING_LED_TO)
        kinds: list[Any] = cast("list[Any]", led_to) if isinstance(led_to, list) else [None]
        if len(items) != len(kinds):
            return blocks  # nobody knows which led to what
        places = [kind_of(block) for block in blocks]
        found = list(blocks)
        for item, kind in reversed(list(zip(items, kinds, strict=True))):
            thought = {"type": "thinking", "thinking": "", "item": item, LED_TO: kind}
            is_there = kind in places
            place = places.index(kind) if is_there else 0 if kind is None else len(found)
            found.insert(place, thought)
        return found

    def own_part(self, part: JsonDict, writer: Writer) -> JsonDict:
        """Return a part without its item, if another model or provider wrote it."""
        if "item" not in part or part["type"] == "image" or self.is_of_model(writer):
            return part
        return {key: value for key, value in part.items() if key != "item"}

    def make_unique(self, parts: list[JsonDict], taken: dict[str, None]) -> list[JsonDict]:
        """Return the parts without those that came before under the same id."""
        kept: list[JsonDict] = []
        for part in parts:
            item_id = part.get("id") if part["type"] in OF_SERVICE else _read_item(part).get("id")
            key = f"item {item_id}"
            if item_id is None or key not in taken:
                kept.append(part)
            elif part["type"] in {"text", "tool_call"}:
                kept.append(_without_id(part))
            if item_id is not None:
                taken[key] = None
        return kept

    def pair_parts(self, parts: list[JsonDict]) -> list[JsonDict]:
        """Return the parts of an answer as the API wants them: reasoning with what it led to.

        Reasoning that led to something else, or to nothing that is left, is left out; what it led to
        has no id then, as the API would look for the reasoning by it.
        """
        reversed_parts: list[JsonDict] = []
        for part in reversed(parts):
            if part["type"] == "thinking":
                led_to = part.get(LED_TO)
                found = kind_of(reversed_parts[-1]) if reversed_parts else None
                if found is None or (led_to is not None and led_to != found):
                    continue
            reversed_parts.append(part)
        kept: list[JsonDict] = []
        before: JsonDict = {}
        for part in reversed(reversed_parts):
            is_led = before.get("type") == "thinking"
            if not is_led and part.get(LED_BY):
                continue
            before = part if is_led or part["type"] == "thinking" else _without_id(part)
            kept.append(before)
        return kept


def link_reasoning(blocks: list[JsonDict]) -> list[JsonDict]:
    """Return the blocks of an answer; those of reasoning say what they led to, and that says so."""
    found: list[JsonDict] = []
    before: JsonDict = {}
    for block, after in zip(blocks, [*blocks[1:], {}], strict=True):
        if block.get("type") == "thinking" and after:
            block = {**block, LED_TO: kind_of(after)}
        if before.get("type") == "thinking" and block.get("type") in OF_SERVICE:
            block = {**block, LED_BY: _read_item(before).get("id")}
        found.append(block)
        before = block
    return found


def kind_of(part: JsonDict) -> str:
    """Return what identifies an item: its type, and the id of a call."""
    match part.get("type"):
        case "text":
            return "message"
        case "thinking":
            return "reasoning"
        case "tool_call":
            own = _read_item(part).get("type")
            is_own = own in {PATCH_CALL, SEARCH_CALL, "custom_tool_call"}
            kind = own if is_own else "function_call"
            return f"{kind} {part.get('id')}"
        case "image":
            return "image_generation_call"
        case kind:
            return str(kind)


def patch_call(item: JsonDict) -> JsonDict:
    """Return a patch that the model wants as a call of the tool `apply_patch`, which is to be run here."""
    operation = fields_of(item.get("operation"))
    is_whole = item.get("status") != "incomplete" and bool(operation)
    return {
        "type": "tool_call",
        "id": item.get("call_id"),
        "name": PATCH,
        "arguments": operation if is_whole else None,
        "error": None if is_whole else "the call is incomplete",
        "item": item,
    }


def turn_items(turn: Turn, finder: str | None = None) -> list[JsonDict]:
    """Return a turn as items of the API.

    Args:
        turn: The turn.
        finder: The tool that the service searches with; None where it does not.
    """
    if turn.role == "assistant":
        return [_item_of_part(part, finder) for part in turn.parts]
    items = [_write_result(result, finder) for result in turn.results]
    for is_system, parts in groupby(turn.parts, lambda part: part["type"] == "system"):
        role = "developer" if is_system else "user"
        items.append({"role": role, "content": [input_part(part) for part in parts]})
    return items


def answer_items(blocks: list[JsonDict]) -> list[JsonDict]:
    """Return the blocks of an answer that is not whole as the items with which the next goes on.

    There are none if it has no text: nothing could go on.
    """
    parts: list[JsonDict] = []
    for block in link_reasoning(blocks):
        item = _read_item(block)
        if block["type"] == "thinking" and item.get("encrypted_content"):
            parts.append({**block, "item": _write_reasoning(item)})
        elif block["type"] in OF_SERVICE or block.get("text"):
            parts.append(block)
    if not any(part["type"] == "text" for part in parts):
        return []
    return [_item_of_part(part) for part in ResponsesRules("", "").pair_parts(parts)]


def _item_of_part(part: JsonDict, finder: str | None = None) -> JsonDict:
    """Return a part of an assistant turn as an item."""
    match part["type"]:
        case "text":
            return _write_message(part)
        case "thinking":
            return part["item"]
        case "tool_call" if _is_search(part, finder):
            return write_search(part["id"], part["input"], _read_item(part))
        case "tool_call":
            return _call(part)
        case "image":
            return image_item(part)
        case _:
            return {key: value for key, value in part.items() if key != LED_BY}


def _write_message(part: JsonDict) -> JsonDict:
    item = _read_item(part)
    wire_form = [
        {key: value for key, value in fields_of(each).items() if key != "logprobs"}
        for each in cast("list[Any]", item.get("content") or [])
    ]
    if "".join(each.get("text") or "" for each in wire_form) != part["text"]:
        wire_form = [{"type": "output_text", "text": part["text"]}]  # it was edited
    message: JsonDict = {"type": "message", "role": "assistant", "content": wire_form}
    for key in ("phase", "id"):
        if item.get(key):
            message[key] = item[key]
    if "id" in message:
        message["status"] = item.get("status") or "completed"
    return message


def _call(part: JsonDict) -> JsonDict:
    item = _read_item(part)
    call: JsonDict = {"type": "function_call", "call_id": part["id"], "name": part["name"]}
    if item.get("type") == PATCH_CALL:
        done = {"type": PATCH_CALL, "call_id": part["id"], "status": "completed"}
        item_id = {"id": item["id"]} if item.get("id") else {}
        return {**done, **item_id, "operation": part["input"]}
    if _is_custom(part):
        call |= {"type": "custom_tool_call", "input": part["input"].get("input", "")}
    else:
        call["arguments"] = _write_arguments(part["input"], item.get("arguments"))
    item_id = item.get("id")
    if isinstance(item_id, str) and item_id.startswith(("fc_", "ctc_")):
        call["id"] = item_id
    if item.get("namespace"):
        call["namespace"] = item["namespace"]
    return call


def _write_arguments(given: JsonDict, written: Any) -> str:
    """Return arguments as the model wrote them, unless they were changed."""
    if isinstance(written, str):
        try:
            if json.loads(written) == given:
                return written
        except ValueError:
            pass
    return json_bytes(given).decode()


def _is_search(call: JsonDict, finder: str | None) -> bool:
    return call.get("name") == finder and _read_item(call).get("type") == SEARCH_CALL


def _write_result(result: Result, finder: str | None) -> JsonDict:
    output: Any = result.output
    if _is_search(result.call, finder):
        return write_found(result.call_id, "" if result.is_error else output)
    if not isinstance(output, str):
        output = [input_part(block) for block in output] or ""
    if _read_item(result.call).get("type") == PATCH_CALL:
        status = "failed" if result.is_error else "completed"
        wire_form = {"type": f"{PATCH_CALL}_output", "call_id": result.call_id, "status": status}
        return {**wire_form, "output": output} if isinstance(output, str) and output else wire_form
    kind = "custom_tool_call_output" if _is_custom(result.call) else "function_call_output"
    return {"type": kind, "call_id": result.call_id, "output": output}


def _is_custom(call: JsonDict) -> bool:
    return _read_item(call).get("type") == "custom_tool_call"


def _read_item(part: JsonDict) -> JsonDict:
    return fields_of(part.get("item"))


def _write_reasoning(item: JsonDict) -> JsonDict:
    sent = {key: item[key] for key in _OF_REASONING if item.get(key)}
    return {"type": "reasoning", "summary": [], **sent}


def _without_id(part: JsonDict) -> JsonDict:
    item = _read_item(part)
    if "id" not in item or part["type"] == "image":
        return part
    return {**part, "item": {key: value for key, value in item.items() if key != "id"}}
