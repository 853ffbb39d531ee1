"""A session whose model reads, makes and changes a file."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from event_sessions import Seen

from amplifier_agent import Agent, ScriptedProvider
from amplifier_core.events import ARTIFACT_READ, ARTIFACT_WRITE


async def of_files(seen: Seen) -> None:
    """A turn with one call of each tool that has events of files."""
    everything = Seen()
    path = {"path": "a.txt"}
    script = [
        {"tool": "write_file", "arguments": {**path, "content": "one"}},
        {"tool": "read_file", "arguments": path},
        {"tool": "edit_file", "arguments": {**path, "edits": [{"old": "one", "new": "two"}]}},
        "Done.",
    ]
    with TemporaryDirectory() as folder:
        agent = Agent(ScriptedProvider(script), tools=["tool-filesystem"], directory=folder)
        async with agent.session() as session:
            everything.observe(session.coordinator.hooks)
            await session.run("go")
    for event in (ARTIFACT_READ, ARTIFACT_WRITE):
        seen.payloads[event] += everything.payloads[event]
