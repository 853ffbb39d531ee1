"""A session whose model runs commands in the background."""

from __future__ import annotations

from tempfile import TemporaryDirectory

from event_sessions import Payload, Seen

from amplifier_agent import Agent, ScriptedProvider, hook
from amplifier_modules.tools.bash.job import JOB_END, JOB_START


async def of_commands(seen: Seen) -> None:
    """Two jobs: one that exits, and one that is ended."""

    @hook(JOB_START, JOB_END)
    def note(event: str, data: Payload) -> None:
        seen.payloads[event].append(dict(data))

    in_background = {"run_in_background": True}
    script = [
        {"tool": "bash", "arguments": {"command": "exit 3", **in_background}},
        {"tool": "bash", "arguments": {"command": "sleep 60", **in_background}},
        {"tool": "bash_job", "arguments": {"action": "wait", "id": "job-1"}},
        "Done.",
    ]
    bash = {"module": "tool-bash", "config": {"safety_profile": "unrestricted"}}
    with TemporaryDirectory() as folder:
        model = ScriptedProvider(script)
        await Agent(model, tools=[bash], directory=folder, hooks=[note]).run("go")
