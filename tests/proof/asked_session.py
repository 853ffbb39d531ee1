"""A session in which a person is asked about changes, killed at a step on the way to the commit.

`asked_session.py PROJECT FOLDER MODE STEP` begins the session `chat`, or goes on with it. A person
who is asked is noted in the file `asked` of the folder. At the step of this number the process kills
itself; 0 is none. `MODE` is `ask` for a person who says yes. `leave` leaves the question, which `yes`
and `no` answer; `wait` goes on then.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from amplifier_agent import Agent, Question, ScriptedProvider
from amplifier_modules.changes.change import Change
from amplifier_modules.changes.finishing import Finishing
from amplifier_modules.changes.open_change import OpenChange
from amplifier_modules.changes.session_changes import SessionChanges
from amplifier_modules.stores.sqlite import SqliteStore

COMMAND = "od -An -N8 -tx1 /dev/urandom > random; echo b >> old/a.txt; rm plan.txt"
STEPS: list[tuple[Any, str]] = [
    (OpenChange, "hold"),
    (SessionChanges, "open_held"),
    (Change, "commit"),
    (Finishing, "keep"),
]
STORED = ("append", "put")


class Steps:
    """Counts the steps from the first look at what a person is asked about."""

    def __init__(self, last: int, *, is_on: bool) -> None:
        self.last = last
        self.is_on = is_on
        self.count = 0

    def take(self, name: str) -> None:
        self.is_on = self.is_on or name == "hold"
        self.count += self.is_on
        if self.is_on and self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def count_around(self, owner: Any, name: str) -> None:
        inner: Callable[..., Any] = getattr(owner, name)

        def step(*given: Any, **options: Any) -> Any:
            self.take(name)
            result = inner(*given, **options)
            self.take(name)
            return result

        async def stored_step(*given: Any, **options: Any) -> Any:
            self.take(name)
            result = await inner(*given, **options)
            self.take(name)
            return result

        setattr(owner, name, stored_step if name in STORED else step)


async def run(project: str, folder: Path, mode: str) -> None:
    def ask(question: Question) -> bool:
        if "Run it again?" in question.action:
            return False
        with (folder / "asked").open("a") as file:
            file.write(json.dumps([question.id, question.action]) + "\n")
        return True

    store = {"module": "store-sqlite", "config": {"folder": str(folder / "sessions")}}
    is_new = not (folder / "sessions").exists()
    call = {"tool": "bash", "arguments": {"command": COMMAND}}
    agent = Agent(
        ScriptedProvider([call, "Done."] if is_new else ["Done."]),
        tools=["tool-bash"],
        directory=project,
        store=store,
        hooks=[{"module": "hooks-approval", "config": {"mode": "review"}}],
        approvals=ask if mode == "ask" else "wait",
    )
    if mode in ("yes", "no"):
        print(await answer(agent, mode == "yes"))
        return
    if mode == "leave":
        await leave(agent)
        return
    async with agent.session(session_id="chat") as session:
        result = await (session.run("go") if is_new else session.resume_turn())
    print(json.dumps([each for each in result.messages if each["role"] == "tool"]))


async def answer(agent: Agent[Any], is_yes: bool) -> str:
    """Answer the question; return what is said if another process was the first."""
    (question,) = await agent.questions("chat") or [None]
    try:
        await agent.answer("chat", "" if question is None else question.id, is_yes)
    except LookupError as error:
        return str(error)
    return ""


async def leave(agent: Agent[Any]) -> None:
    """Have a turn end with its question."""
    async with agent.session(session_id="chat") as session:
        turn = asyncio.create_task(session.run("go"))
        while not session.questions:  # noqa: ASYNC110 -- nothing tells of it
            await asyncio.sleep(0)
    assert (await turn).status == "awaiting_approval"


if __name__ == "__main__":
    project, folder, mode, last = sys.argv[1:]
    steps = Steps(int(last), is_on=mode == "wait")
    for owner, name in [*STEPS, *((SqliteStore, each) for each in STORED)]:
        steps.count_around(owner, name)
    asyncio.run(run(project, Path(folder), mode))
    print(steps.count)
