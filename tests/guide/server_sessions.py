"""A session whose server changes its tools, dies and comes back."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from event_sessions import Payload, Seen

from amplifier_agent import Agent, ScriptedProvider, hook, mcp
from amplifier_modules.tools.mcp.servers import PROMPTS_CHANGED, SERVER_STATE, TOOLS_CHANGED

RAW = Path(__file__).parents[1] / "modules" / "tool_mcp" / "raw_server.py"


async def of_servers(seen: Seen) -> None:
    """Every state of a server, and other tools and prompts than before."""

    @hook(SERVER_STATE, TOOLS_CHANGED, PROMPTS_CHANGED)
    def note(event: str, data: Payload) -> None:
        seen.payloads[event].append(dict(data))
        if event == PROMPTS_CHANGED:
            has_changed.set()

    has_changed = anyio.Event()
    script = [
        {"tool": "raw__die", "arguments": {}},
        {"tool": "raw__echo", "arguments": {}},
        "Done.",
    ]
    server = mcp(f"{sys.executable} -S -E {RAW}", name="raw", args=["tools=die,echo,prompt"])
    before = os.environ.get("XDG_CACHE_HOME")
    with TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        try:
            await Agent(ScriptedProvider(script), tools=[server], hooks=[note]).run("go")
            model = ScriptedProvider([{"tool": "raw__prompt", "arguments": {}}, "Done."])
            async with Agent(model, tools=[server], hooks=[note]).session() as session:
                await session.run("go")
                await has_changed.wait()
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            if before is not None:
                os.environ["XDG_CACHE_HOME"] = before
