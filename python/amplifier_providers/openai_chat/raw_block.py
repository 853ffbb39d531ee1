"""Decoded blocks in the form that Chat Completions has for them."""

from __future__ import annotations

import json

from ..wire.fields import JsonDict


def raw_block(block: JsonDict, shown_thinking: str) -> JsonDict:
    """Return a decoded block as a service sends it.

    Args:
        block: The block.
        shown_thinking: The field with the text of its thinking.
    """
    match block.get("type"):
        case "tool_call":
            arguments = block.get("raw_arguments")
            if not isinstance(arguments, str):
                arguments = json.dumps(block.get("arguments"), ensure_ascii=False)
            call_id = {"id": block["id"]} if block.get("id") else {}
            function = {"name": block.get("name"), "arguments": arguments}
            return {**call_id, "type": "function", "function": function}
        case "text" if block.get("refusal"):
            return {"type": "refusal", "refusal": block["refusal"]}
        case "thinking" if shown_thinking == "content":
            thought = {"type": "text", "text": block.get("thinking")}
            return {"type": "thinking", "thinking": [thought]}
        case "thinking":
            raw = {shown_thinking: block.get("thinking")}
            details = block.get("reasoning_details")
            return {**raw, "reasoning_details": details} if details else raw
        case _:
            return block
