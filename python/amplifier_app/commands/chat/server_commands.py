"""The prompts of the MCP servers of a conversation as its commands."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.chat.command import Command, CommandContext, Group, Shown, wait_always
from amplifier_app.commands.chat.server_prompts import PREFIX, ServerPrompts
from amplifier_app.commands.chat.slash_commands import SlashCommand
from amplifier_app.failure import report
from amplifier_core.session_capabilities import MCP_SERVERS

if TYPE_CHECKING:
    from amplifier_app.commands.conversation import Conversation

_PROMPTS_CHANGED = "mcp:prompts"


class ServerCommands:
    """A source of commands: the prompts of the servers of the session that goes on."""

    def __init__(self) -> None:
        """Begin without a session."""
        self._prompts = ServerPrompts()
        self._readings: set[asyncio.Task[None]] = set()

    def watch(self, conversation: Conversation) -> None:
        """Have the prompts of the servers of a conversation as these come."""
        # Late, as the display takes a while to import.
        from amplifier_app.display.server_lines import SERVER_STATE

        self._prompts.clear()

        def take(event: str, data: Mapping[str, Any]) -> None:
            servers = conversation.find_capability(MCP_SERVERS)
            is_new = event == _PROMPTS_CHANGED or data.get("state") == "connected"
            if is_new and servers is not None:
                self._start_reading(self._prompts.read_prompts(servers))

        for event in (SERVER_STATE, _PROMPTS_CHANGED):
            conversation.listen(event, take)

    def list_commands(self) -> Iterator[Command]:
        """Yield those that are known: of the servers that are connected."""
        for usage, about in self._prompts.describe().items():
            name, _, arguments = usage.partition(" ")
            yield self._make_command(name, arguments, about)

    def find_command(self, name: str) -> Command | None:
        """Return the command of a prompt, also of a server that is not connected yet."""
        if not name.startswith(PREFIX):
            return None
        known = {each.name: each for each in self.list_commands()}
        return known.get(name) or self._make_command(name)

    def cancel(self) -> None:
        """End what nobody waits for."""
        for reading in self._readings:
            reading.cancel()

    def _make_command(self, name: str, usage: str = "", about: str = "") -> Command:
        async def run(context: CommandContext, argument: str) -> Shown:
            conversation = await context.turns.begin()
            servers = conversation.find_capability(MCP_SERVERS)
            prompt = await self._prompts.write_prompt(SlashCommand(name, argument), servers)
            await context.turns.run(prompt)
            return ()

        return Command(name, about, about, Group.MORE, run, usage, wait_always)

    def _start_reading(self, work: Coroutine[object, object, None]) -> None:
        reading = asyncio.create_task(_run_reporting(work))
        self._readings.add(reading)
        reading.add_done_callback(self._readings.discard)


async def _run_reporting(work: Coroutine[object, object, None]) -> None:
    try:
        await work
    except Exception as error:  # noqa: BLE001 - the last place that can report it in one line
        report(error)
