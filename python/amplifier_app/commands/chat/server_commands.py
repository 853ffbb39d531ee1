"""What a conversation does with MCP servers: `/mcp`, and the prompts of the servers as commands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from amplifier_app.commands.chat.server_prompts import ServerPrompts
from amplifier_app.commands.chat.slash_commands import SlashCommand
from amplifier_app.failure import report
from amplifier_app.notice import write_notice
from amplifier_core.session_capabilities import MCP_SERVERS

if TYPE_CHECKING:
    from amplifier_app.commands.chat.turns import Turns
    from amplifier_app.commands.conversation import Conversation

_PROMPTS_CHANGED = "mcp:prompts"


class ServerCommands:
    """Answers the commands about the servers of the session that goes on."""

    def __init__(self, offer: Callable[[Sequence[str]], None]) -> None:
        """Begin without a session; `offer` is called with the names of commands to complete."""
        self._prompts = ServerPrompts(offer)
        self._asides: set[asyncio.Task[None]] = set()

    def watch(self, conversation: Conversation) -> None:
        """Complete the prompts of the servers of a conversation as these come."""
        # Late, as the display takes a while to import.
        from amplifier_app.display.server_lines import SERVER_STATE

        self._prompts.clear()

        def take(event: str, data: Mapping[str, Any]) -> None:
            servers = conversation.find_capability(MCP_SERVERS)
            is_new = event == _PROMPTS_CHANGED or data.get("state") == "connected"
            if is_new and servers is not None:
                self._start_aside(self._prompts.read_prompts(servers))

        for event in (SERVER_STATE, _PROMPTS_CHANGED):
            conversation.listen(event, take)

    def describe_prompts(self) -> dict[str, str]:
        """Return what each prompt does, by its command with the arguments."""
        return self._prompts.describe()

    async def run_prompt(self, command: SlashCommand, turns: Turns) -> None:
        """Run a turn with a prompt of a server.

        Raises:
            Failure: There is no such prompt, an argument is missing, or the server does not answer.
            Exception: What keeps a turn from starting.
        """
        conversation = await turns.begin()
        servers = conversation.find_capability(MCP_SERVERS)
        await turns.run(await self._prompts.write_prompt(command, servers))

    async def show(self, name: str, turns: Turns) -> None:
        """Show where the servers are, between two turns; a conversation begins where none has.

        Args:
            name: The one to show all of; empty for a line about each.
            turns: Those of the conversation.

        Raises:
            Failure: There is no such server, or it does not say what it has.
            Exception: What keeps a session from starting.
        """
        await turns.begin()
        await _show(name, turns)

    def show_aside(self, name: str, turns: Turns) -> None:
        """Do the same while a turn goes on."""
        self._start_aside(_show(name, turns))

    def cancel(self) -> None:
        """End what nobody waits for."""
        for aside in self._asides:
            aside.cancel()

    def _start_aside(self, work: Coroutine[object, object, None]) -> None:
        aside = asyncio.create_task(_run_reporting(work))
        self._asides.add(aside)
        aside.add_done_callback(self._asides.discard)


async def _show(name: str, turns: Turns) -> None:
    from amplifier_app.commands.chat.server_states import write_states

    lines = await write_states(name, turns.find_capability(MCP_SERVERS))
    write_notice("\n".join(lines))


async def _run_reporting(work: Coroutine[object, object, None]) -> None:
    try:
        await work
    except Exception as error:  # noqa: BLE001 - the last place that can report it in one line
        report(error)
