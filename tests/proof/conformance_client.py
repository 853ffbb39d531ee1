"""What the conformance suite starts as a client: an agent whose model calls every tool that is offered.

Its only argument is the address of the server of the scenario; what the scenario says goes by in variables.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from amplifier_agent import Agent, ScriptedProvider, mcp

SERVER = "suite"


def call_each(context: dict[str, Any]) -> Callable[[Any], Any]:
    """The first answer of the model: a call of each tool of the server, as the scenario says it."""

    def answer(request: Any) -> Any:
        named = {each["name"]: each["arguments"] for each in context.get("toolCalls", ())}
        offered = {each.name.removeprefix(f"{SERVER}__"): each for each in request.tools}
        calls = [
            {
                "tool": tool.name,
                "arguments": named.get(name) or fill_in(tool.parameters),
            }
            for name, tool in offered.items()
            if tool.name != name and (not named or name in named)
        ]
        return calls or "There is nothing to call."

    return answer


def fill_in(schema: dict[str, Any]) -> dict[str, Any]:
    """Values for what a tool cannot do without."""
    values: dict[str, Any] = {
        "integer": 1,
        "number": 1.5,
        "boolean": True,
        "array": [],
        "object": {},
    }
    properties = schema.get("properties", {})
    return {
        name: values.get(properties.get(name, {}).get("type"), "text")
        for name in schema.get("required", ())
    }


def call_again(request: Any) -> Any:
    """The second answer: the calls again whose arguments the guard refuses, as their schema does.

    One scenario gives a switch the value null, where its own schema takes a boolean or nothing.
    """
    asked = [each for each in request.messages if each.role == "assistant"][-1]
    calls = [
        {"tool": block.name, "arguments": {k: v for k, v in block.input.items() if v is not None}}
        for block in asked.content
        if block.type == "tool_call" and None in block.input.values()
    ]
    return calls or "Done."


async def main() -> None:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    model = ScriptedProvider([call_each(context), call_again, "Done."])
    server = mcp(sys.argv[1], name=SERVER, first_wait=20)
    agent = Agent(model, tools=[server], hooks=["hooks-guard"], approvals=lambda _question: True)
    result = await agent.run("Call every tool.")
    for message in result.messages:
        print(json.dumps(message, default=str))


if __name__ == "__main__":
    asyncio.run(main())
