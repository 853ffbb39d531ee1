"""The servers of a session: their tools are mounted as they come, and their prompts are listed."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from .connection import OpenConnection, read_pages
from .known_tools import KnownTools, OfferedTool
from .mcp_tool import McpTool
from .offers import read_offers
from .prompts import Prompt, list_contents, list_prompts
from .results import Results
from .server import Server, ServerStatus, State
from .server_entry import ServerEntry
from .server_errors import ServerError
from .tool_names import choose_server_names, choose_tool_names

logger = logging.getLogger(__name__)

SERVER_STATE = "mcp:server"
"""Event: a server is connected, or is not any more."""
TOOLS_CHANGED = "mcp:tools"
"""Event: the tools of a server are others than before."""
PROMPTS_CHANGED = "mcp:prompts"
"""Event: the prompts of a server are others than before."""

_MAX_COMPLAINTS = 200
_MAX_RESOURCES = 500
_MAX_LINE_BYTES = 500

MountTool = Callable[[McpTool], Awaitable[None]]
Emit = Callable[[str, dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class ServerContents:
    """What one server has, as a person reads it."""

    tools: tuple[tuple[str, str], ...]
    """The names by which models call its tools, each with what it does."""
    prompts: tuple[Prompt, ...] = ()
    resources: tuple[tuple[str, str], ...] = ()
    """The addresses of its resources, each with its name."""


@dataclass(frozen=True)
class SessionLinks:
    """What the servers do in their session."""

    mount: MountTool
    list_names: Callable[[], Sequence[str]]
    """Returns the names of all tools of the session."""
    emit: Emit


class Servers:
    """All servers of one session."""

    def __init__(
        self,
        entries: Sequence[ServerEntry],
        connect: Callable[[ServerEntry], OpenConnection],
        known: KnownTools,
        results: Results,
        links: SessionLinks,
        *,
        patience: float,
    ) -> None:
        """Describe the servers; nothing is started yet.

        Args:
            entries: What is written of them.
            connect: Returns what opens a connection to one.
            known: What they offered last.
            results: Makes results of their answers.
            links: What they do in the session.
            patience: Seconds that a call waits for a connection.
        """
        self._known = known
        self._results = results
        self._links = links
        self._tools: dict[str, dict[str, McpTool]] = {each.name: {} for each in entries}
        self._offers: dict[str, dict[str, OfferedTool]] = {}
        self._prefixes = choose_server_names(each.name for each in entries)
        self._entries = {each.name: each for each in entries}
        self._complaints: set[str] = set()
        self.servers = [
            Server(
                entry.name,
                connect(entry),
                self._make_taker(entry),
                self._note_state,
                partial(self._links.emit, PROMPTS_CHANGED, {"server": entry.name}),
                patience,
            )
            for entry in entries
        ]
        """Each of them, in the order in which they are written."""

    async def mount_known(self) -> list[Server]:
        """Mount the tools that are known from the last time; return the servers of which none are."""
        unknown: list[Server] = []
        hashes = [self._entries[each.name].hash for each in self.servers]
        found = await anyio.to_thread.run_sync(lambda: list(map(self._known.find, hashes)))
        for server, tools in zip(self.servers, found, strict=True):
            if tools is None:
                unknown.append(server)
                continue
            self._offers[server.name] = {each.name: each for each in tools}
            await self._mount_new(server, tools)
            server.set_known(len(tools))
        return unknown

    def start(self) -> None:
        """Connect all servers in the background."""
        for each in self.servers:
            each.start()

    async def close(self) -> None:
        """End all of them, at the same time."""
        async with anyio.create_task_group() as group:
            for each in self.servers:
                group.start_soon(each.close)
        await anyio.to_thread.run_sync(self._results.put_aside.close)

    def watch_secrets(self, note: Callable[[list[str]], None]) -> None:
        """Call this with each token that a login of a server brings."""
        self._results.watch_secrets(note)

    def list_states(self) -> list[ServerStatus]:
        """Return where each server is."""
        return [each.status for each in self.servers]

    def report_states(self) -> list[dict[str, Any]]:
        """Return the data of an event `mcp:server` for each server, as it is now."""
        return [self._describe_status(each) for each in self.list_states()]

    def awaits_tools(self) -> bool:
        """Whether a server has never said which tools it has, and still may."""
        return any(
            each.name not in self._offers and each.status.state is not State.UNUSABLE
            for each in self.servers
        )

    def describe(self) -> str:
        """Return one line about all of them."""
        states = self.list_states()
        connected = sum(each.state is State.CONNECTED for each in states)
        line = f"{connected} of {len(states)} MCP servers connected"
        problems = [each.describe() for each in states if each.problem]
        return "; ".join([line, *problems])

    async def list_prompts(self) -> list[Prompt]:
        """Return the prompts of the servers that are connected."""
        prompts: list[Prompt] = []
        for server in self.servers:
            if server.status.state is not State.CONNECTED:
                continue
            try:
                connection = await server.find_connection()
                prompts += await list_prompts(server.name, connection, self._results)
            except ServerError as error:
                logger.warning("the prompts of the MCP server `%s`: %s", server.name, error)
        return prompts

    async def list_contents(self, server: str) -> ServerContents:
        """Return what a server has; only its tools where it is not connected.

        Raises:
            LookupError: There is no such server.
            ServerError: It does not say.
        """
        found = self._find_server(server)
        tools = tuple(
            (tool.name, self._results.clean(tool.description, _MAX_LINE_BYTES))
            for tool in self._tools[server].values()
        )
        if found.status.state is not State.CONNECTED:
            return ServerContents(tools)
        connection = await found.find_connection()
        prompts = await list_prompts(server, connection, self._results)
        client, listed = connection.client, list[Any]()
        if client.server_capabilities.resources is not None:
            listed = await connection.request(
                lambda: read_pages(client.list_resources, "resources", _MAX_RESOURCES)
            )
        resources = (
            tuple(self._results.clean(text, _MAX_LINE_BYTES) for text in (each.uri, each.name))
            for each in listed
        )
        return ServerContents(tools, tuple(prompts), tuple((uri, name) for uri, name in resources))

    async def get_prompt(
        self, server: str, name: str, arguments: Mapping[str, str] | None = None
    ) -> str:
        """Return the text of a prompt.

        Raises:
            LookupError: There is no such server.
            ServerError: It has no such prompt, or is not connected.
        """
        connection = await self._find_server(server).find_connection()
        given = dict(arguments or {})
        answer = await connection.request(lambda: connection.client.get_prompt(name, given))
        return await self._results.make_prompt(list_contents(answer.messages))

    def _find_server(self, name: str) -> Server:
        found = next((each for each in self.servers if each.name == name), None)
        if found is None:
            raise LookupError(f"there is no server `{name}`")
        return found

    def _make_taker(self, entry: ServerEntry) -> Callable[[list[Any]], Awaitable[int]]:
        async def take(tools: list[Any]) -> int:
            offered, problems = read_offers(tools)
            for problem in problems[:8]:
                self._warn_once(
                    f"the MCP server `{entry.name}`: {self._results.clean(problem, 300)}"
                )
            server = next(each for each in self.servers if each.name == entry.name)
            if await self._mount(server, offered):
                await anyio.to_thread.run_sync(self._known.keep, entry.hash, offered)
            return len(offered)

        return take

    async def _mount(self, server: Server, offered: list[OfferedTool]) -> bool:
        """Mount the tools of a server that are new or others; return whether any are.

        A tool that is gone stays: to take it away would make the rest of every request new to the
        service, and a call of it says what there is to say.
        """
        now = {each.name: each for each in offered}
        before, self._offers[server.name] = self._offers.get(server.name), now
        if before == now:
            return False
        mounted = self._tools[server.name]
        changed = [
            tool.name
            for name, tool in mounted.items()
            if now.get(name, tool.offered) != tool.offered
        ]
        for name, tool in mounted.items():
            tool.take_offer(now.get(name, tool.offered))
        added = await self._mount_new(
            server, [each for each in offered if each.name not in mounted]
        )
        removed = [mounted[name].name for name in before or () if name not in now]
        if changed:
            shown = ", ".join(f"`{name}`" for name in changed)
            self._warn_once(
                f"the MCP server `{server.name}` describes tools in another way: {shown}"
            )
        await self._links.emit(
            TOOLS_CHANGED,
            {"server": server.name, "added": added, "changed": changed, "removed": removed},
        )
        return True

    async def _mount_new(self, server: Server, offered: list[OfferedTool]) -> list[str]:
        """Mount tools; return their names."""
        prefix, mounted = self._prefixes[server.name], self._tools[server.name]
        names = choose_tool_names(prefix, [each.name for each in offered], self._links.list_names())
        renamed: list[str] = []
        for each in offered:
            if (name := names.get(each.name)) is None:
                self._warn_once(
                    f"a tool of the MCP server `{server.name}` has no name that is free"
                )
                continue
            entry_hash = self._entries[server.name].hash
            mounted[each.name] = McpTool(name, server, each, self._results, entry_hash)
            await self._links.mount(mounted[each.name])
            if name != (plain := f"{server.name}__{each.name}"):
                renamed.append(f"`{self._results.clean(plain, 200)}` as `{name}`")
        if renamed:
            self._warn_once(f"names that models do not take are replaced: {', '.join(renamed)}")
        return [names[each.name] for each in offered if each.name in names]

    async def _note_state(self, status: ServerStatus) -> None:
        if status.state in (State.DOWN, State.UNUSABLE):
            # The same problem is one line, however often it is tried.
            self._warn_once(
                f"the MCP server `{status.name}`: {self._results.clean(status.problem, 700)}"
            )
        await self._links.emit(SERVER_STATE, self._describe_status(status))

    def _describe_status(self, status: ServerStatus) -> dict[str, Any]:
        return {
            "server": status.name,
            "state": status.state.value,
            "tools": status.tools,
            "problem": self._results.clean(status.problem, 700) or None,
        }

    def _warn_once(self, line: str) -> None:
        if line not in self._complaints:
            if len(self._complaints) >= _MAX_COMPLAINTS:
                self._complaints.clear()
            self._complaints.add(line)
            logger.warning("%s", line)
