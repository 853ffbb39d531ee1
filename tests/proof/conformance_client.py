"""What the conformance suite starts as a client: an agent whose model calls every tool that is offered.

Its only argument is the address of the server of the scenario; what the scenario says goes by in variables.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

from amplifier_agent import Agent, ScriptedProvider, mcp
from amplifier_modules.tools.mcp.login.login_flow import KnownClient, Person, log_in
from amplifier_modules.tools.mcp.login.login_store import LoginStore
from amplifier_modules.tools.mcp.server_entry import Address

SERVER = "suite"
MAX_LOGINS = 3
DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The address that describes the client of the suite, where a service reads that."""
NEEDED = re.compile(r"it needs a login(?:.*--scope '?(?P<scope>[^'`]+))?")


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


class Warnings(logging.Handler):
    """Keeps what the session warns of."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


async def log_in_to(url: str, context: dict[str, Any], scope: str) -> None:
    """Log in as `amplifier-core mcp login` does; the browser follows each address that it is given."""
    client = KnownClient(context.get("client_id", DOCUMENT), context.get("client_secret"))
    person = Person(open_page, wait_for_nothing)
    await log_in(Address(url, {}, SERVER), LoginStore(), person, client=client, scope=scope)


async def open_page(url: str) -> None:
    def follow() -> None:
        with suppress(HTTPError), urlopen(url, timeout=20):
            pass

    await asyncio.to_thread(follow)


async def wait_for_nothing() -> str:
    await asyncio.Event().wait()
    return ""


async def main() -> None:
    url, context = sys.argv[1], json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    warnings = Warnings()
    logging.getLogger("amplifier_modules.tools.mcp").addHandler(warnings)
    for _ in range(1 + MAX_LOGINS):
        warnings.lines.clear()
        results = await run_agent(url, context)
        needed = next(filter(None, map(NEEDED.search, [*results, *warnings.lines])), None)
        if needed is None:
            break
        await log_in_to(url, context, needed["scope"] or "")


async def run_agent(url: str, context: dict[str, Any]) -> list[str]:
    """Have the model call every tool; returns what it gets."""
    model = ScriptedProvider([call_each(context), call_again, "Done."])
    server = mcp(url, name=SERVER, first_wait=20)
    agent = Agent(model, tools=[server], hooks=["hooks-guard"], approvals=lambda _question: True)
    result = await agent.run("Call every tool.")
    return [str(each["content"]) for each in result.messages if each["role"] == "tool"]


if __name__ == "__main__":
    asyncio.run(main())
