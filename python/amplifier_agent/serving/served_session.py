"""The session that serves: open as long as somebody is connected, shared by all of them."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult, TextContent

from amplifier_core import world
from amplifier_core.llm_errors import ConfigurationError
from amplifier_modules.loops.answers.response import RequestedCall
from amplifier_modules.loops.boundary.call_context import TOOL_PROGRESS
from amplifier_modules.loops.loop import Loop
from amplifier_modules.loops.settings import UNLIMITED
from amplifier_modules.running.session_bound import session_bound
from amplifier_providers.base import BaseProvider

from ..plan import AgentOptions, Parts, parts_of
from ..session import Session
from ..start import foreign_loop
from .call_gate import CallGate
from .questions import ASKER
from .results import make_result, read_data
from .sdk_tool import SDK_CALL, SdkCall, SdkTool
from .waiting_call import ClientCall, ServedResult, WaitingCalls

logger = logging.getLogger(__name__)

_REPLACED = "a hook has put a text in the place of the result, which must be an object"


class NoModel(BaseProvider):
    """The provider of a server whose plan names none: only sub-agents would ask it."""

    name = "no-model"

    async def complete(self, request: Any, **kwargs: Any) -> Any:
        """Refuse.

        Raises:
            ConfigurationError: Always.
        """
        raise ConfigurationError("the server has no model: name one under `providers` of its plan")


def parts_of_server(options: AgentOptions) -> Parts:
    """Sort what a server is made of; without a provider it has one that answers nothing.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: One cannot be used.
    """
    plan: dict[str, Any] = dict(options.get("plan") or {})
    if isinstance(plan.get("session"), Mapping) and "store" in plan["session"]:
        logger.warning("a server keeps no sessions: `store` of its plan has no effect")
        plan["session"] = dict(plan["session"])
        del plan["session"]["store"]
    has_model = bool(plan.get("providers"))
    if options.get("approvals") == "wait":
        raise ValueError('`approvals="wait"` needs a session, by which questions are answered')
    return parts_of({**options, "plan": plan, "model": None if has_model else NoModel()})


class ServedSession:
    """A session whose tools clients call; it begins with the first of them and ends with the last."""

    def __init__(
        self, parts: Parts, state: object, prepare: Callable[[Any], object] | None
    ) -> None:
        """Serve the tools of an agent.

        Args:
            parts: What it is made of.
            state: What its tools find.
            prepare: Called with the coordinator of each session before its modules are loaded.
        """
        self._parts = parts
        self._state = state
        self._prepare = prepare
        self._users = 0
        self._session: Session[None] | None = None
        self._gate: CallGate | None = None
        self._waiting = WaitingCalls()
        self._calls: dict[str, ClientCall] = {}
        self._opening: anyio.Lock

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[None]:
        """Keep the session open in this block.

        Raises:
            ConfigurationError: All that is wrong with the modules, in one list.
        """
        if not self._users:
            self._opening = anyio.Lock()  # of the event loop that runs
        self._users += 1
        try:
            async with self._opening:
                if self._session is None:
                    await self._open()
            yield
        finally:
            self._users -= 1
            if not self._users:
                with anyio.CancelScope(shield=True):
                    await self._close()

    def list_tools(self) -> dict[str, Any]:
        """Return the tools by name.

        Raises:
            RuntimeError: The session is not open.
        """
        return dict(self._coordinator.get("tools") or {})

    async def call(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any],
        more: Mapping[str, SdkTool],
    ) -> ServedResult:
        """Answer a request for a call.

        Args:
            name: The tool.
            arguments: What it is called with.
            context: The request.
            more: Further tools by name.

        Raises:
            MCPError: A tool of the SDK refused the request.
            LookupError: The answers of the request are for a call that has ended.
        """

        async def run() -> ServedResult:
            return await self._run(name, arguments, context, more)

        return await self._waiting.run(context, run)

    async def _run(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any],
        more: Mapping[str, SdkTool],
    ) -> ServedResult:
        coordinator, gate = self._coordinator, self._gate
        assert gate is not None
        loop: Loop = coordinator.get("orchestrator")
        tools: dict[str, Any] = {**more, **self.list_tools()}
        call = RequestedCall(world.random_bytes(16).hex(), name, arguments)
        sdk_call = SdkCall(context)
        client: Any = ASKER.get()
        is_exclusive = getattr(tools.get(name), "parallel", True) is False
        token = SDK_CALL.set(sdk_call)
        try:
            async with gate.hold(is_exclusive=is_exclusive):
                self._calls[call.id] = client
                run = await loop.run_call(call, tools, coordinator)
        finally:
            self._calls.pop(call.id, None)
            SDK_CALL.reset(token)
        if sdk_call.error is not None and run.failure is sdk_call.error:
            raise sdk_call.error
        if sdk_call.result is not None and run.returned is not None:
            return sdk_call.result
        result = make_result(run)
        return _with_data(result) if name in more and more[name].has_output_schema else result

    async def _open(self) -> None:
        session: Session[None] = Session(self._parts, state=self._state)
        coordinator: Any = session.session.coordinator
        if self._prepare is not None:
            self._prepare(coordinator)
        await session.__aenter__()
        try:
            if (foreign := foreign_loop(coordinator)) is not None:
                raise ConfigurationError(f"the loop `{foreign}` cannot serve; use one of ours")
        except ConfigurationError:
            await session.__aexit__()
            raise
        coordinator.hooks.register(TOOL_PROGRESS, self._report, name="mcp-progress")
        most = coordinator.get("orchestrator").settings.max_parallel_tools
        self._gate = CallGate(None if most == UNLIMITED else most)
        self._session = session

    async def _close(self) -> None:
        session, self._session = self._session, None
        waiting, self._waiting = self._waiting, WaitingCalls()
        await waiting.end()
        if session is not None:
            await session.__aexit__()

    @property
    def _coordinator(self) -> Any:
        if self._session is None:
            raise RuntimeError("the server does not run: its session is not open")
        return self._session.session.coordinator

    @session_bound
    async def _report(self, _event: str, data: dict[str, Any]) -> None:
        """Tell the client of a call how far it is."""
        if (call := self._calls.get(data["tool_call_id"])) is None:
            return
        try:
            await call.report(data["message"], data["fraction"])
        except Exception as error:  # noqa: BLE001 -- a client that has gone is no failure of the tool
            logger.debug("the progress of `%s` reached no client: %r", data["tool_name"], error)


def _with_data(result: CallToolResult) -> CallToolResult:
    """Return a result that a hook has changed, of a tool that has promised data, with its data."""
    if result.is_error:
        return result
    data = read_data(getattr(result.content[0], "text", "") if result.content else "")
    if data is None:
        return CallToolResult(content=[TextContent(type="text", text=_REPLACED)], is_error=True)
    return result.model_copy(update={"structured_content": data})
