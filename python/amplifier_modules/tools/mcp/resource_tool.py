"""The tool `mcp_resources`: lists and reads what servers offer beside tools, and long results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio.to_thread
from pydantic import Field

from amplifier_core.models import ToolResult
from amplifier_core.suggest import suggest_or_list
from amplifier_modules.tools.blocking import (
    INVALID,
    Arguments,
    InvalidArgumentsError,
    build_schema,
    check_arguments,
    make_failure,
)
from amplifier_modules.tools.result_bytes import ResultBytes

from .connection import Connection, read_pages
from .put_aside import PREFIX
from .results import Results
from .server import Server
from .server_errors import ServerError

_MAX_LISTED = 500
_MAX_TEXT_BYTES = 1000


class _Request(Arguments):
    server: str | None = Field(
        default=None, description="The server; it may be left out where there is only one."
    )
    uri: str | None = Field(
        default=None,
        description="The address of what to read, as listed; without it resources are listed.",
    )
    offset: int = Field(default=0, ge=0, description="The byte to begin at, in what was put aside.")


class ResourceTool:
    """Lists and reads the resources of all servers."""

    name = "mcp_resources"
    is_session_bound = False
    description = (
        "List the resources of the MCP servers, or read one by its `uri`. Results that were too"
        f" long are read on at their address `{PREFIX}…`, from `offset`."
    )

    def __init__(self, servers: Sequence[Server], results: Results) -> None:
        """Read from these servers."""
        self._servers = {each.name: each for each in servers}
        self._results = results
        self.input_schema = build_schema(_Request)

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """List or read; what goes wrong is in the result."""
        try:
            request = check_arguments(_Request, input)
            if request.uri is None:
                return ToolResult(output=await self._list(self._choose(request.server)))
            if request.uri.startswith(PREFIX):
                return await self._read_on(request.uri, request.offset)
            return await self._read(request.uri, self._choose(request.server))
        except InvalidArgumentsError as error:
            return make_failure(str(error), INVALID, self._results.max_bytes)
        except (LookupError, OSError, ServerError) as error:
            message = self._results.clean(str(error), 4096)
            return make_failure(message, type(error).__name__, self._results.max_bytes)

    def _choose(self, name: str | None) -> list[Server]:
        """Return the servers that are asked.

        Raises:
            InvalidArgumentsError: There is no such server.
        """
        if name is None:
            return list(self._servers.values())
        if name not in self._servers:
            advice = suggest_or_list(name, list(self._servers))
            raise InvalidArgumentsError(f"there is no server `{name}`{advice}")
        return [self._servers[name]]

    async def _list(self, servers: list[Server]) -> dict[str, Any]:
        listed: dict[str, Any] = {"resources": [], "templates": []}
        problems: list[dict[str, str]] = []

        async def ask(server: Server) -> None:
            try:
                connection = await server.find_connection()
                found = await connection.request(lambda: _list_resources(connection))
            except ServerError as error:
                problems.append({"server": server.name, "problem": str(error)})
                return
            for kind, items in zip(("resources", "templates"), found, strict=True):
                listed[kind] += [self._describe(server.name, each) for each in items]

        async with anyio.create_task_group() as group:
            for server in servers:
                group.start_soon(ask, server)
        room = ResultBytes(self._results.max_bytes, {"problems": problems})
        output: dict[str, Any] = {}
        for kind, items in listed.items():
            output[kind] = room.take_first(
                sorted(items, key=lambda each: (each["server"], each["uri"])), lambda each: each
            )
            if (omitted := len(items) - len(output[kind])) > 0:
                output[f"omitted_{kind}"] = omitted
        return {**output, "problems": problems} if problems else output

    def _describe(self, server: str, item: Any) -> dict[str, Any]:
        described = {
            "server": server,
            "uri": getattr(item, "uri", None) or item.uri_template,
            "name": item.title or item.name,
            "description": item.description,
            "type": item.mime_type,
        }
        cleaned = {
            key: self._results.clean(text, _MAX_TEXT_BYTES)
            for key, text in described.items()
            if text
        }
        size = getattr(item, "size", None)
        return {**cleaned, **({} if size is None else {"bytes": size})}

    async def _read(self, uri: str, servers: list[Server]) -> ToolResult:
        if len(servers) != 1:
            raise InvalidArgumentsError(f"`server` is missing: it says who has `{uri[:200]}`")
        connection = await servers[0].find_connection()
        answer = await connection.request(lambda: connection.client.read_resource(uri))
        return await self._results.read_resource(answer.contents)

    async def _read_on(self, address: str, offset: int) -> ToolResult:
        put_aside, most = self._results.put_aside, self._results.max_bytes - 300
        text, end, size = await anyio.to_thread.run_sync(put_aside.read, address, offset, most)
        note = f"\n[{size - end:,} more bytes: read on from `offset` {end}]" if end < size else ""
        return ToolResult(output=text + note)


async def _list_resources(connection: Connection) -> tuple[list[Any], list[Any]]:
    client = connection.client
    if client.server_capabilities.resources is None:
        return [], []
    return (
        await read_pages(client.list_resources, "resources", _MAX_LISTED),
        await read_pages(client.list_resource_templates, "resource_templates", _MAX_LISTED),
    )
