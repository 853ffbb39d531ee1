"""A session that waits for what a sub-agent of a sub-agent asks, and the processes around it.

`asked_sub_agent.py FOLDER MODE`: `wait` begins the session `chat`, prints `asked` where its question
waits, and goes on waiting. `yes` answers the question, and prints it. `go on` goes on with the turn, and prints
its answer. What the tool has wiped is in the file `wiped` of the folder.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from amplifier_agent import Agent, ScriptedProvider, tool


def make_agent(folder: Path) -> Agent[Any]:
    @tool(needs_approval=True)
    def wipe(path: str) -> str:
        """Wipe."""
        with (folder / "wiped").open("a") as file:
            file.write(f"{path}\n")
        return f"{path} is gone"

    def answer(request: Any) -> Any:
        last = request.messages[-1]
        if last.role == "tool":
            return f"I read: {last.content}"
        if last.content == "wipe":
            return {"tool": "wipe", "arguments": {"path": "old"}}
        below = {"go": "hand on", "hand on": "wipe"}[last.content]
        return {"tool": "task", "arguments": {"prompt": below}}

    return Agent(
        ScriptedProvider([answer], repeat=True),
        tools=[wipe, "tool-task"],
        approvals="wait",
        store={"module": "store-sqlite", "config": {"folder": str(folder / "sessions")}},
    )


async def run(folder: Path, mode: str) -> None:
    agent = make_agent(folder)
    if mode == "yes":
        (question,) = await agent.questions("chat")
        await agent.answer("chat", question.id, True)
        print(question.action)
        return
    async with agent.session(session_id="chat") as session:
        if mode == "go on":
            print((await session.resume_turn()).text)
            return
        turn = asyncio.create_task(session.run("go"))
        while not session.questions:  # noqa: ASYNC110 -- nothing tells of it
            await asyncio.sleep(0)
        print("asked", flush=True)
        await turn


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2]))
