"""Many tools with short answers, and what requests say of them."""

from __future__ import annotations

import json
from typing import Any

from amplifier_agent import tool
from amplifier_core.models import ToolResult


class Far:
    """A tool as a server has it."""

    deferred = True

    def __init__(self, name: str, description: str = "Says where it was.", **more: Any) -> None:
        self.name = name
        self.description = description
        self.input_schema = {
            "type": "object",
            "properties": {"at": {"type": "string", "description": "The place. " * 20}},
            "required": ["at"],
        }
        self.calls: list[dict[str, Any]] = []
        for key, value in more.items():
            setattr(self, key, value)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        self.calls.append(input)
        return ToolResult(success=True, output=f"{self.name} was at {input['at']}")


@tool
def near(at: str) -> str:
    """Look near."""
    return f"near {at}"


def make_far(count: int = 60) -> list[Far]:
    return [Far(f"far__look{number}", f"Looks at star {number}.") for number in range(count)]


def through(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": "call_tool", "arguments": {"name": name, "arguments": arguments}}


def directly(name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": name, "arguments": arguments}


def results_of(result: Any) -> list[tuple[str, Any]]:
    return [(each["name"], each["content"]) for each in result.messages if each["role"] == "tool"]


def calls_sent(request: Any) -> list[tuple[str, dict[str, Any]]]:
    """The calls of a request, and the names of its results."""
    return [
        (block.name, block.input)
        for message in request.messages
        if message.role == "assistant" and not isinstance(message.content, str)
        for block in message.content
        if block.type == "tool_call"
    ]


def tools_bytes(request: Any) -> str:
    return json.dumps([each.model_dump() for each in request.tools])
