"""A session whose MCP server asks a person: `killed_input.py FOLDER MODE`.

`ask` kills the process while the question is open; `answer` answers it and goes on with the turn.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from amplifier_agent import Agent, Question, ScriptedProvider

SERVER = Path(__file__).parents[1] / "modules" / "tool_mcp" / "stateless_server.py"


def end(question: Question) -> bool:
    """End this process while a person is asked."""
    del question
    os.kill(os.getpid(), signal.SIGKILL)
    return False


async def run(folder: Path, mode: str) -> None:
    words = ["-S", "-E", str(SERVER), str(folder / "log")]
    servers = {"desk": {"command": sys.executable, "args": words}}
    call: dict[str, Any] = {"tool": "desk__greet", "arguments": {}}
    model = ScriptedProvider([call if mode == "ask" else "Done."])
    tools = [{"module": "tool-mcp", "config": {"servers": servers, "first_wait": 60}}]
    agent = Agent(
        model,
        tools=tools,
        store={"module": "store-sqlite", "config": {"folder": str(folder / "sessions")}},
        approvals=end if mode == "ask" else "wait",
    )
    if mode == "ask":
        # A conversation does not wait for its servers: here they are known.
        await Agent(ScriptedProvider(["Hello."]), tools=tools).run("What is there?")
    else:
        (question,) = await agent.questions("chat")
        await agent.answer("chat", question.id, "Ada")
    async with agent.session(session_id="chat") as session:
        await (session.run("go") if mode == "ask" else session.resume_turn())
    print(json.dumps(model.requests[0].messages[-1].content))


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2]))
