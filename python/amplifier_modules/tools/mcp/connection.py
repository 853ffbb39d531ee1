"""The connection to one server: what it offers, calls of its tools, and what it asks."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import anyio

from amplifier_core import world

from .call_rounds import CallRounds
from .known_tools import OfferedTool
from .open_call import OpenCall
from .required_input import Answered
from .server_errors import (
    CallGivenUpError,
    CallRefusedError,
    ConnectionLostError,
    StartTimeoutError,
    describe_problem,
)

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult, ErrorData

T = TypeVar("T")
Kind: TypeAlias = Literal["tools", "prompts"]
"""What a server tells that it has changed."""

logger = logging.getLogger(__name__)

_MAX_PAGES = 100
_MAX_ROUNDS = 100_000
"""How often a call may ask for input or for time; its deadline and its questions are limited."""
_AGAIN_SECONDS = 1.0
_MAX_AGAIN_SECONDS = 60.0
_MAX_LOST_SUBSCRIPTIONS = 3
_SILENT = logging.NullHandler()

_CURRENT: ContextVar[OpenCall | None] = ContextVar("mcp_call", default=None)

OpenTransport = Callable[[Callable[[str], None]], Any]
"""Opens the way to a server; what it is given is called with the reason when that is over."""


@dataclass(frozen=True)
class ConnectionRules:
    """How long things may take, and who answers questions."""

    start_seconds: float
    call_seconds: float
    answer: Callable[[OpenCall, ElicitRequestParams], Awaitable[ElicitResult]] | None
    """Puts a question of the server to a person; None where nobody can be asked."""


class Connection:
    """A server that is connected."""

    def __init__(self, client: Client, rules: ConnectionRules) -> None:
        """Speak to a server by a client that is connected."""
        self.client = client
        self.lost = anyio.Event()
        """Set when the connection is over."""
        self.problem = ""
        """Why it is over."""
        self.tools: list[OfferedTool] = []
        """What the server offered first."""
        self._rules = rules
        self._open: list[OpenCall] = []
        self._changed: dict[Kind, anyio.Event] = {"tools": anyio.Event(), "prompts": anyio.Event()}

    def note_lost(self, problem: str) -> None:
        """Note that the connection is over, and end the calls that wait for it."""
        if not self.lost.is_set():
            self.problem = problem
            self.lost.set()
        for call in tuple(self._open):
            call.note_lost()

    def note_changed(self, kind: Kind = "tools") -> None:
        """Note that the server has changed its tools, or its prompts."""
        self._changed[kind].set()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], id: str, answered: Answered | None = None
    ) -> CallToolResult:
        """Call a tool, or go on with a call of it.

        Args:
            name: What the server calls it.
            arguments: Those of the call.
            id: What the tool is known by where the call is gone on with.
            answered: What the server has asked for in another process; None for a call that begins.

        Raises:
            ServerError: There is no result, and why.
            QuestionPutOff: A person is asked, and answers when the turn has ended.
        """
        call = OpenCall(self._rules.call_seconds)
        rounds = CallRounds(self.client, call, name, arguments)
        return await self._run(call, partial(rounds.run, id, self._rules.answer, answered))

    async def request(self, function: Callable[[], Awaitable[T]]) -> T:
        """Ask the server something else than a call.

        Raises:
            ServerError: There is no answer, and why.
        """
        return await self._run(OpenCall(self._rules.call_seconds), function)

    async def _run(self, call: OpenCall, function: Callable[[], Awaitable[T]]) -> T:
        from mcp import MCPError

        if self.lost.is_set():
            raise ConnectionLostError(f"the connection was lost: {self.problem}")
        self._open.append(call)
        token = _CURRENT.set(call)
        try:
            with call.scope:
                return await function()
        except MCPError as error:
            raise self._read_error(error) from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise self._note_over("its connection was closed") from error
        except (RuntimeError, ValueError, ExceptionGroup) as error:
            # Results that do not fit what the server itself has said of them, among others.
            raise CallRefusedError(
                f"its answer cannot be used: {describe_problem(error)}"
            ) from error
        finally:
            _CURRENT.reset(token)
            self._open.remove(call)
            call.close()
        if call.is_lost:
            raise ConnectionLostError(f"the connection was lost: {self.problem}")
        raise CallGivenUpError(f"no answer and no progress for {self._rules.call_seconds:g} s")

    def _read_error(self, error: Any) -> Exception:
        """Return what an error of the protocol means."""
        message = describe_problem(CallRefusedError(str(error)))
        # By the words of the SDK: servers use its numbers for errors of their own, too.
        if message in ("Connection closed", "Session terminated"):
            return self._note_over(message)
        if message.startswith("SSE stream"):
            return ConnectionLostError(f"the answer was lost: {message}")
        return CallRefusedError(f"it answers with error {error.code}: {message}")

    def _note_over(self, problem: str) -> ConnectionLostError:
        self.note_lost(problem)
        return ConnectionLostError(f"the connection was lost: {self.problem}")

    async def list_tools(self) -> list[Any]:
        """Return all tools that the server offers, in its own order.

        Raises:
            Exception: It does not answer as the protocol says.
        """
        capabilities = self.client.server_capabilities
        if capabilities.tools is None:
            return []
        return await read_pages(self.client.list_tools, "tools")

    async def answer(self, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        """Put a question of the server to a person, as one of the call that it belongs to."""
        from mcp.types import ElicitResult

        current = _CURRENT.get()
        call = current if current in self._open else next(reversed(self._open), None)
        answer = self._rules.answer
        if call is None or answer is None:
            return ElicitResult(action="cancel")
        with call.hold():
            return await call.run_inside(lambda: answer(call, params))

    async def watch_changes(
        self,
        take_tools: Callable[[list[Any]], Awaitable[None]],
        note_prompts: Callable[[], Awaitable[None]],
    ) -> None:
        """Hand on the tools of the server each time that it has changed them, until cancelled.

        Args:
            take_tools: Takes all of them.
            note_prompts: Called each time that it has changed its prompts.
        """

        async def list_again() -> None:
            await take_tools(await self.list_tools())

        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, "prompts", note_prompts)
            group.start_soon(self._watch, "tools", list_again)
            if kinds := self._list_changing():
                await self._listen(kinds)

    def _list_changing(self) -> list[Kind]:
        """Return the kinds of which the server says that it tells when they change."""
        said = self.client.server_capabilities
        kinds: dict[Kind, Any] = {"tools": said.tools, "prompts": said.prompts}
        return [kind for kind, each in kinds.items() if each is not None and each.list_changed]

    async def _watch(self, kind: Kind, act: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._changed[kind].wait()
            self._changed[kind] = anyio.Event()
            with suppress(Exception):  # it goes on with what is known
                with anyio.fail_after(self._rules.start_seconds):
                    await act()
            # A server that changes them all the time changes them once a second here.
            await world.sleep(_AGAIN_SECONDS)

    async def _listen(self, kinds: Sequence[Kind]) -> None:
        """Wait for changes by the protocol of 2026; earlier servers send them unasked."""
        from mcp import MCPError
        from mcp.client.subscriptions import (
            ListenNotSupportedError,
            PromptsListChanged,
            SubscriptionLost,
        )

        wait, lost = _AGAIN_SECONDS, 0
        while lost < _MAX_LOST_SUBSCRIPTIONS:
            try:
                subscribing = self.client.listen(
                    tools_list_changed="tools" in kinds, prompts_list_changed="prompts" in kinds
                )
                async with subscribing as subscription:
                    # What has changed since they were listed is not told again.
                    for kind in kinds:
                        self.note_changed(kind)
                    lost = 0
                    async for event in subscription:
                        wait = _AGAIN_SECONDS
                        is_of_prompts = isinstance(event, PromptsListChanged)
                        self.note_changed("prompts" if is_of_prompts else "tools")
            except ListenNotSupportedError:
                return
            except (MCPError, SubscriptionLost, TimeoutError):
                lost += 1
            await world.sleep(wait)
            wait = min(2 * wait, _MAX_AGAIN_SECONDS)
        self.note_lost("it cannot be listened to any more")


@asynccontextmanager
async def open_connection(
    open_transport: OpenTransport, rules: ConnectionRules
) -> AsyncGenerator[Connection]:
    """Connect to a server, and list its tools.

    Raises:
        StartTimeoutError: It has not answered in time.
        Exception: It cannot be reached, or does not speak the protocol.
    """
    from mcp import Client
    from mcp.types import (
        Implementation,
        PromptListChangedNotification,
        ToolListChangedNotification,
    )

    for name in ("mcp", "client"):
        if _SILENT not in (sdk := logging.getLogger(name)).handlers:
            sdk.addHandler(_SILENT)
    box: list[Connection] = []
    early: list[str] = []

    def note_lost(problem: str) -> None:
        if box:
            box[0].note_lost(problem)
        else:
            early.append(problem)

    async def take_message(message: Any) -> None:
        if box and isinstance(message, ToolListChangedNotification):
            box[0].note_changed("tools")
        elif box and isinstance(message, PromptListChangedNotification):
            box[0].note_changed("prompts")

    async def take_question(context: Any, params: Any) -> Any:
        del context  # which call it belongs to is known otherwise
        return await box[0].answer(params)

    with anyio.CancelScope() as starting:
        starting.deadline = anyio.current_time() + rules.start_seconds
        client = Client(
            open_transport(note_lost),
            message_handler=take_message,
            elicitation_callback=None if rules.answer is None else take_question,
            client_info=Implementation(name="amplifier-core", version=_find_version()),
            input_required_max_rounds=_MAX_ROUNDS,
            cache=None,
        )
        try:
            async with client:
                connection = Connection(client, rules)
                box.append(connection)
                connection.tools = await connection.list_tools()
                starting.deadline = inf
                yield connection
        except Exception as error:
            if early:  # it says more than that the streams are closed
                raise ConnectionLostError(early[0]) from error
            raise
    if starting.cancelled_caught:
        raise StartTimeoutError(f"it has not started within {rules.start_seconds:g} s")


@cache
def _find_version() -> str:
    from importlib.metadata import version

    return version("amplifier-core")


async def read_pages(
    read: Callable[..., Awaitable[Any]], kind: str, most: int = 10_000
) -> list[Any]:
    """Return the items of all pages of a list, at most so many."""
    items: list[Any] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        page = await read(cursor=cursor)
        items += getattr(page, kind)
        cursor = page.next_cursor
        if cursor is None or len(items) >= most:
            break
    return items[:most]


OpenConnection = Callable[[], AbstractAsyncContextManager[Connection]]
