"""Turns of a checked history as messages of the Anthropic API."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..wire.fields import JsonDict
from ..wire.rules import HistoryRules, NameForm, Writer
from ..wire.turn import Result, Turn
from .models import is_same_model

OF_RESULT = frozenset({"image", "document", "search_result"})
OF_USER = frozenset({"image", "document", "search_result", "container_upload"})
"""Block types that a user turn may contain besides text and results."""
OF_ASSISTANT = frozenset(
    {
        "server_tool_use", "web_search_tool_result", "web_fetch_tool_result",
        "code_execution_tool_result", "bash_code_execution_tool_result",
        "text_editor_code_execution_tool_result", "tool_search_tool_result", "container_upload",
        "mcp_tool_use", "mcp_tool_result", "compaction", "advisor_tool_result", "fallback",
    }
)  # fmt: skip
"""Block types that an assistant turn may contain besides text, thinking and calls."""
TOOL_NAMES = NameForm(max_length=128)
_SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})
_OF_FILE = frozenset({"type", "source", "title", "context", "citations"})


@dataclass(frozen=True)
class AnthropicRules(HistoryRules):
    """What the Messages API accepts of a history."""

    user_blocks: frozenset[str] = OF_USER
    assistant_blocks: frozenset[str] = OF_ASSISTANT
    result_blocks: frozenset[str] = OF_RESULT
    tool_names: NameForm = TOOL_NAMES
    received: frozenset[str] | set[str] | dict[str, None] = field(
        default=frozenset(), compare=False
    )
    """Signatures that came from the API in this process."""

    def is_same_model(self, one: str, other: str) -> bool:
        """Whether two names mean the same model; a dated name equals its alias."""
        return is_same_model(one, other)

    def own_thinking(self, block: JsonDict, writer: Writer) -> JsonDict | None:
        """Return thinking that this model signed, unchanged."""
        signature = block.get("signature") or block.get("data")
        if not self.is_of_model(writer) or (
            # Not all loops keep who wrote a message.
            writer.name is None and signature not in self.received
        ):
            return None
        if block.get("type") == "redacted_thinking" and block.get("data"):
            return {"type": "redacted_thinking", "data": block["data"]}
        if block.get("type") == "thinking" and block.get("signature"):
            return {
                "type": "thinking",
                "thinking": block.get("thinking") or "",
                "signature": block["signature"],
            }
        return None

    def make_unique(self, parts: list[JsonDict], taken: dict[str, None]) -> list[JsonDict]:
        """Return the parts without calls of the server's tools whose id is taken."""
        kept: list[JsonDict] = []
        for part in parts:
            if part["type"] in _SERVER_CALLS:
                call_id = str(part.get("id"))
                if call_id in taken:
                    continue
                taken[call_id] = None
            kept.append(part)
        return kept

    def pair_parts(self, parts: list[JsonDict]) -> list[JsonDict]:
        """Return the parts without the calls and results of the server's tools that are alone."""
        kept: list[JsonDict] = []
        open_calls: set[Any] = set()
        for position, part in enumerate(parts):
            if part["type"] in _SERVER_CALLS:
                later = (each.get("tool_use_id") for each in parts[position + 1 :])
                if part.get("id") not in later:
                    continue
                open_calls.add(part["id"])
            elif _is_server_result(part):
                if part.get("tool_use_id") not in open_calls:
                    continue
                open_calls.remove(part["tool_use_id"])
            kept.append(part)
        return kept


def _is_server_result(part: JsonDict) -> bool:
    return part["type"].endswith("_tool_result")


def turn_message(turn: Turn) -> JsonDict:
    """Return a turn as a message of the API."""
    results = [_write_result(result) for result in turn.results]
    return {"role": turn.role, "content": results + [_write_part(part) for part in turn.parts]}


def _write_part(part: JsonDict) -> JsonDict:
    match part["type"]:
        case "tool_call":
            wire: JsonDict = {
                "type": "tool_use",
                "id": part["id"],
                "name": part["name"],
                "input": part["input"],
            }
            if part.get("caller"):
                wire["caller"] = part["caller"]
            return wire
        case "text":
            return {key: part[key] for key in ("type", "text", "citations") if key in part}
        case "image" | "document" as kind if not part.get("source"):
            return {"type": "text", "text": f"(The source of this {kind} is missing.)"}
        case "image" | "document":
            return {key: value for key, value in part.items() if key in _OF_FILE}
        case _:
            return part


def _write_result(result: Result) -> JsonDict:
    wire: JsonDict = {"type": "tool_result", "tool_use_id": result.call_id}
    if result.output:
        wire["content"] = (
            result.output
            if isinstance(result.output, str)
            else [_write_part(block) for block in result.output]
        )
    if result.is_error:
        wire["is_error"] = True
    return wire
