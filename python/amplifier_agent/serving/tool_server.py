"""`ToolServer`: an MCP server whose tools are called through the hooks of a session."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, InputRequiredResult, Tool
from typing_extensions import override

from amplifier_core.llm_errors import ConfigurationError

from .http_access import BearerToken, allow_names, check_token, is_loopback
from .questions import ElicitedApproval
from .results import describe_tool
from .sdk_tool import SdkTool
from .served_session import ServedSession, parts_of_server
from .standard_streams import LineReader, LineWriter, StandardStreams, take_standard_streams

if TYPE_CHECKING:
    from pathlib import Path

    import anyio
    from starlette.applications import Starlette

    from amplifier_core import Tool as OurTool

    from ..approvals import Approvals
    from ..function_hook import Hook
    from ..plan import Module


class ToolServer(MCPServer[dict[str, Any]]):
    """Tools for the clients of MCP: an `MCPServer` of the SDK that runs each call in a session.

        server = ToolServer("shop", tools=[find_book, "tool-filesystem"], directory=".")
        server.run()

    A call is judged by hooks, put to the person at the client where it needs approval, limited and
    answered as a call of a model. That holds for the tools of `@server.tool()`, too; resources,
    prompts and completions are those of the SDK.
    """

    def __init__(
        self,
        name: str,
        *,
        tools: Sequence[OurTool | Callable[..., object] | Module] = (),
        hooks: Sequence[Hook | Module] = (),
        plan: Mapping[str, Any] | None = None,
        directory: str | Path | None = None,
        approvals: Approvals | None = None,
        state: object = None,
        prepare: Callable[[Any], object] | None = None,
        **options: Any,
    ) -> None:
        """Describe a server; nothing is loaded before it runs.

        Args:
            name: What clients call it.
            tools: Functions, tools, and modules by id or entry.
            hooks: What `@hook` made, and modules by id or entry.
            plan: A mount plan to begin with.
            directory: The folder that our tools work in.
            approvals: Who is asked; None for the person at the client, and nobody where there is
                none.
            state: What tools find in `ToolContext.state`.
            prepare: Called with the coordinator of the session before its modules are loaded.
            **options: Those of the SDK, such as `title`, `instructions` and `version`.

        Raises:
            TypeError: An argument is of the wrong type.
            ValueError: An argument cannot be used.
        """
        parts = parts_of_server(
            {
                "tools": tools,
                "hooks": hooks,
                "plan": plan,
                "directory": directory,
                "approvals": ElicitedApproval() if approvals is None else approvals,
            }
        )
        self._served = ServedSession(parts, state, prepare)
        self._inner_lifespan: Any = options.pop("lifespan", None)
        # The SDK sets up logging, where the program has not; each message would be a line.
        options.setdefault("log_level", "WARNING")
        super().__init__(name, **options, lifespan=self._live)

    def open(self) -> AbstractAsyncContextManager[None]:
        """Keep the session open in an `async with`, also while no client is connected.

        Raises:
            ConfigurationError: All that is wrong with the modules, in one list.
        """
        return self._served.use()

    @override
    async def list_tools(self) -> list[Tool]:
        """List all tools: those of the session, then those that were added by the SDK."""
        ours = self._served.list_tools()
        return [
            *(describe_tool(name, each) for name, each in ours.items()),
            *(each for each in await super().list_tools() if each.name not in ours),
        ]

    @override
    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[dict[str, Any], Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool through the hooks of the session.

        Raises:
            MCPError: A tool of the SDK refused the request.
            LookupError: The answers of the request are for a call that has ended.
        """
        if context is None:
            context = Context(mcp_server=self, subscriptions=self._subscriptions)
        manager = self._tool_manager
        more = {each.name: SdkTool(each, manager) for each in manager.list_tools()}
        before = self._list_names()
        try:
            return await self._served.call(name, arguments, context, more)
        finally:
            if self._list_names() != before:
                await context.notify_tools_changed()

    @override
    async def run_stdio_async(self, streams: StandardStreams | None = None) -> None:
        """Serve whoever started this program, until its input ends.

        Nothing else is written on standard output meanwhile: what is printed goes to standard error.

        Args:
            streams: The wire, where the caller has taken it; None to take it here.
        """
        if streams is not None:
            await self._serve_streams(LineReader(streams.reader), LineWriter(streams.writer))
            return
        with take_standard_streams() as taken:
            if taken is None:
                await self._serve_streams(None, None)
            else:
                await self._serve_streams(LineReader(taken.reader), LineWriter(taken.writer))

    @override
    def streamable_http_app(
        self,
        *,
        token: str | None = None,
        allowed_names: Iterable[str] = (),
        host: str = "127.0.0.1",
        transport_security: TransportSecuritySettings | None = None,
        **options: Any,
    ) -> Starlette:
        """Return the server as an ASGI application, at `/mcp`.

        Args:
            token: What `Authorization: Bearer` must say; None where something else lets only the
                right clients through.
            allowed_names: Names by which clients reach it, beside those of this machine: what
                `Host` and `Origin` may say.
            host: The address that it listens at.
            transport_security: What `Host` and `Origin` may say, in the place of `allowed_names`.
            **options: Those of the SDK, such as `streamable_http_path` and `max_request_body_size`.

        Raises:
            ValueError: The token is too short, or no header can hold it.
        """
        security = transport_security or allow_names(host, allowed_names)
        app = super().streamable_http_app(host=host, transport_security=security, **options)
        if token is not None:
            app.add_middleware(BearerToken, token=check_token(token))
        return app

    @override
    async def run_streamable_http_async(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 8000,
        token: str | None = None,
        **options: Any,
    ) -> None:
        """Serve over HTTP until the program is ended.

        Args:
            host: The address to listen at: that of this machine alone, unless it is said.
            port: The port.
            token: As for `streamable_http_app`; needed at any other address.
            **options: As for `streamable_http_app`.

        Raises:
            ValueError: There is no token, though others can reach the server.
        """
        import uvicorn

        if token is None and not is_loopback(host):
            raise ValueError(f"a server at `{host}` needs a `token`: others can reach it")
        app = self.streamable_http_app(token=token, host=host, **options)
        config = uvicorn.Config(app, host=host, port=port, log_level="warning", access_log=False)
        await uvicorn.Server(config).serve()

    async def _serve_streams(self, reader: LineReader | None, writer: LineWriter | None) -> None:
        # They have what the SDK uses of files.
        wire = (cast("anyio.AsyncFile[str] | None", each) for each in (reader, writer))
        async with stdio_server(*wire) as (incoming, outgoing):
            server = self._lowlevel_server
            await server.run(incoming, outgoing, server.create_initialization_options())

    @asynccontextmanager
    async def _live(self, _server: MCPServer[Any]) -> AsyncGenerator[dict[str, Any]]:
        async with self.open():
            self._check_names()
            if self._inner_lifespan is None:
                yield {}
            else:
                async with self._inner_lifespan(self) as state:
                    yield state

    def _list_names(self) -> set[str]:
        return {
            *self._served.list_tools(),
            *(each.name for each in self._tool_manager.list_tools()),
        }

    def _check_names(self) -> None:
        ours = self._served.list_tools()
        twice = [each.name for each in self._tool_manager.list_tools() if each.name in ours]
        if twice:
            raise ConfigurationError(f"two tools are called `{twice[0]}`; give one another name")
