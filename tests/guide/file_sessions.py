"""Sessions whose models read, make and change a file."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from event_sessions import Payload, Seen, opened

from amplifier_agent import Agent, ScriptedProvider, hook
from amplifier_core.events import ARTIFACT_READ, ARTIFACT_WRITE


async def of_files(seen: Seen) -> None:
    """A turn with one call of each tool that has events of files."""

    @hook(ARTIFACT_READ, ARTIFACT_WRITE)
    def note(event: str, data: Payload) -> None:
        seen.payloads[event].append(dict(data))

    path = {"path": "a.txt"}
    script = [
        {"tool": "write_file", "arguments": {**path, "content": "one"}},
        {"tool": "read_file", "arguments": path},
        {"tool": "edit_file", "arguments": {**path, "edits": [{"old": "one", "new": "two"}]}},
        "Done.",
    ]
    with TemporaryDirectory() as folder:
        tools = ["tool-filesystem"]
        await Agent(ScriptedProvider(script), tools=tools, directory=folder, hooks=[note]).run("go")


async def of_a_later_answer(seen: Seen) -> None:
    """A call that goes on in another process, once a person has answered."""
    write = {"tool": "write_file", "arguments": {"path": "a.txt", "content": "one"}}
    with TemporaryDirectory() as folder:
        options: dict[str, Any] = {
            "tools": ["tool-filesystem"],
            "directory": folder,
            "approvals": "wait",
            "store": {"module": "store-sqlite", "config": {"folder": f"{folder}/sessions"}},
            "hooks": [{"module": "hooks-approval", "config": {"mode": "review"}}],
        }
        asked = await Agent(ScriptedProvider([write]), **options).run("go")
        agent = Agent(ScriptedProvider(["Done."]), **options)
        await agent.answer(asked.session_id, asked.questions[0].id, True)
        async with opened(seen, agent, session_id=asked.session_id) as session:
            await session.resume_turn()
