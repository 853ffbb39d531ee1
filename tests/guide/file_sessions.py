"""A session whose model reads, makes and changes a file."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from event_sessions import Payload, Seen

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
