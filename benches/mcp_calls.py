"""What a call of an MCP server costs through `tool-mcp`, and what known servers cost the first request.

A call is compared with one of the SDK's own client of the same server, a process that is spoken to by
standard input and output; its own processor time counts for nobody. The start is compared with that of
a session without servers: all times are of a processor.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from side_by_side import Figure, Times, run

SERVERS = 10
SESSIONS = 30
SLICES, CALLS = 40, 100
ARGUMENTS = {"text": "Say something.", "count": 3}
ALLOWED = {"allowed start": 0.010}
"""Seconds that reading what is known may take: nothing is started before the first request."""


def serve() -> None:
    """Be a server of 2026-07-28 that repeats what it is given."""
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "count": {"type": "integer"}},
    }
    kept: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    about: dict[str, Any] = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "server/discover":
            result = {**kept, **about, "serverInfo": {"name": "bench", "version": "1"}}
        elif message["method"] == "tools/list":
            result = {**kept, "tools": [{"name": "repeat", "inputSchema": schema}]}
        elif message["method"] == "tools/call":
            text = json.dumps(message["params"]["arguments"])
            result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
        else:
            continue
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def describe_servers(count: int) -> dict[str, Any]:
    """The entries of servers that are this program."""
    words = ["-S", "-E", __file__, "serve"]
    return {f"s{number}": {"command": sys.executable, "args": words} for number in range(count)}


async def time_calls() -> Times:
    """CPU seconds of a call by the client of the SDK, and of the mounted tool: the least of many slices in turns."""
    from mcp import Client, StdioServerParameters

    from amplifier_core import ModuleCoordinator
    from amplifier_modules.tools import mcp as tool_mcp

    coordinator: Any = ModuleCoordinator()
    entries = describe_servers(1)
    await tool_mcp.mount(coordinator, {"servers": entries})
    await coordinator.get_capability("mcp.servers").servers[0].find_connection()
    tool: Any = coordinator.get("tools")["s0__repeat"]
    async with Client(StdioServerParameters(**entries["s0"])) as client:
        await client.list_tools()

        async def call_sdk() -> None:
            await client.call_tool("repeat", ARGUMENTS)

        async def call_tool() -> None:
            assert (await tool.execute(dict(ARGUMENTS))).success

        taken: dict[str, list[float]] = {"sdk": [], "tool": []}
        for _ in range(SLICES):
            for name, call in (("sdk", call_sdk), ("tool", call_tool)):
                begun = time.process_time()
                for _ in range(CALLS):
                    await call()
                taken[name].append((time.process_time() - begun) / CALLS)
    await coordinator.cleanup()
    return {name: min(times) for name, times in taken.items()}


async def time_starts() -> Times:
    """CPU seconds from an agent to its first request, with servers that are known and without."""
    from amplifier_agent import Agent, ScriptedProvider

    tools = [{"module": "tool-mcp", "config": {"servers": describe_servers(SERVERS)}}]
    taken: dict[str, list[float]] = {"without": [], "known": []}
    for _ in range(1 + SESSIONS):
        for name, times in taken.items():
            asked: list[float] = []

            def answer(_request: object, asked: list[float] = asked) -> str:
                asked.append(time.process_time())
                return "Hello."

            given = tools if name == "known" else []
            agent = Agent(ScriptedProvider([answer]), tools=given)
            begun = time.process_time()
            await agent.run("Hello.")
            times.append(asked[0] - begun)
    # In the first one the servers were not known.
    medians = {name: statistics.median(times[1:]) for name, times in taken.items()}
    return medians | {"later": medians["known"] - medians["without"]}


def measure() -> Times:
    """The times of the ways, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = str(Path(folder) / "caches")
        return asyncio.run(time_calls()) | asyncio.run(time_starts()) | ALLOWED


FIGURES = [
    Figure("a call through tool-mcp, against the SDK's client", "tool", share=1.3, against="sdk"),
    Figure(
        f"the first request with {SERVERS} known servers, later by", "later", share=1.0,
        against="allowed start",
    ),
]  # fmt: skip

if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        run(__file__, measure, "calls of MCP servers", FIGURES, rounds_by_default=3)
