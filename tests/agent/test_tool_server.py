"""Tools for the clients of MCP: each call runs as one of a session, in both protocols."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from mcp import Client, MCPError
from mcp.server.mcpserver import Context
from mcp.types import (
    AudioContent,
    CallToolResult,
    ElicitResult,
    ImageContent,
    TextContent,
)
from pydantic import BaseModel

from amplifier_agent import Budget, ToolContext, ToolServer, hook, tool
from amplifier_core import HookResult
from amplifier_core.llm_errors import ConfigurationError
from amplifier_core.models import ToolResult

ON_BOTH = pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
Connect = Callable[..., AbstractAsyncContextManager[Client]]
PNG = "iVBORw0KGgo="


@pytest.fixture
def anyio_backend() -> str:
    """Most is alike on both event loops; what is not says so."""
    return "asyncio"


@pytest.fixture(params=["2026-07-28", "2025-11-25"])
def connect(request: pytest.FixtureRequest) -> Connect:
    """Connect a client of a protocol to a server in the process: `async with connect(server) as client`."""
    mode = "auto" if request.param == "2026-07-28" else "legacy"

    @asynccontextmanager
    async def connect(server: ToolServer, answer: Any = None) -> AsyncIterator[Client]:
        asks = {} if answer is None else {"elicitation_callback": answer}
        async with Client(server, mode=mode, **asks) as client:
            assert client.protocol_version == request.param
            yield client

    return connect


class Person:
    """Answers questions with these contents, one after the other; None declines."""

    def __init__(self, *contents: dict[str, Any] | None) -> None:
        self.contents = list(contents)
        self.asked: list[tuple[str, list[str]]] = []

    async def __call__(self, _context: Any, params: Any) -> ElicitResult:
        fields = params.requested_schema["properties"]
        self.asked.append((params.message, list(fields)))
        content = self.contents.pop(0)
        if content is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=content)


def text_of(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@tool
def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@tool(needs_approval=True)
def order(book: str) -> str:
    """Order a book."""
    return f"ordered {book}"


@tool
async def ask(context: ToolContext, parts: list[str]) -> str:
    """Ask a person."""
    first = await context.ask("sure?", parts=parts)
    second = await context.ask("really?")
    return f"{first.is_yes} {first.parts} {second.is_yes} {second.words}"


# Holds: mcp-60
async def test_a_client_sees_the_tools_with_their_schemas(connect: Connect) -> None:
    @tool(read_only=True, idempotent=True)
    def look() -> str:
        """Look."""
        return ""

    async with connect(ToolServer("shop", tools=[add, look])) as client:
        tools = (await client.list_tools()).tools

    assert [(each.name, each.description) for each in tools] == [
        ("add", "Add two numbers."),
        ("look", "Look."),
    ]
    assert tools[0].input_schema["required"] == ["a", "b"]
    hints = tools[1].annotations
    assert hints is not None
    assert (hints.read_only_hint, hints.idempotent_hint) == (True, True)


# Holds: mcp-60, mcp-66
async def test_hooks_judge_each_call_and_change_its_arguments_and_its_result(
    connect: Connect,
) -> None:
    @hook("tool:pre")
    def judge(_event: str, data: dict[str, Any]) -> HookResult | None:
        if data["tool_input"]["a"] == 13:
            return HookResult(action="deny", reason="unlucky")
        changed = {**data, "tool_input": {**data["tool_input"], "b": 10}}
        return HookResult(action="modify", data=changed)

    @hook("tool:post")
    def replace(_event: str, data: dict[str, Any]) -> HookResult | None:
        if data["tool_input"]["a"] != 2:
            return None
        return HookResult(action="modify", data={**data, "result": "hidden"})

    server = ToolServer("shop", tools=[add], hooks=[judge, replace])
    async with connect(server) as client:
        results = [await client.call_tool("add", {"a": a, "b": 2}) for a in (1, 2, 13)]

    assert [(text_of(each), each.is_error) for each in results] == [
        ('{"sum": 11}', False),
        ("hidden", False),
        ("Denied by hook: unlucky", True),
    ]
    assert [each.structured_content for each in results] == [{"sum": 11}, None, None]


# Holds: mcp-60
async def test_tools_of_the_sdk_run_through_the_same_hooks(connect: Connect) -> None:
    seen: list[Any] = []

    @hook("tool:post")
    def judge(_event: str, data: dict[str, Any]) -> HookResult | None:
        seen.append(data["result"]["output"])
        if data["tool_name"] != "age":
            return None
        text = {"result": 3} if data["tool_input"]["name"] == "Ann" else "hidden"
        return HookResult(action="modify", data={**data, "result": text})

    server = ToolServer("shop", hooks=[judge])

    @server.tool()
    def sound() -> CallToolResult:
        """Return a sound."""
        return CallToolResult(
            content=[AudioContent(type="audio", data="AAAA", mime_type="audio/wav")]
        )

    @server.tool()
    def age(name: str) -> int:
        """Return an age."""
        return len(name)

    @server.tool()
    def refuse(context: Context) -> str:
        """Refuse the request."""
        raise MCPError(code=-32021, message="not for you")

    async with connect(server) as client:
        heard = await client.call_tool("sound", {})
        ages = [await client.call_tool("age", {"name": name}) for name in ("Ann", "Bob")]
        wrong = await client.call_tool("age", {})
        with pytest.raises(MCPError, match="not for you"):
            await client.call_tool("refuse", {})

    assert [each.type for each in heard.content] == ["audio"]
    assert seen[0]["content"] == [{"type": "audio", "data": "3 bytes", "mimeType": "audio/wav"}]
    assert [(each.structured_content, each.is_error) for each in ages] == [
        ({"result": 3}, False),
        (None, True),
    ]
    assert wrong.is_error


# Holds: mcp-66
async def test_a_failure_is_a_result_with_its_reason(connect: Connect) -> None:
    @tool
    def fail() -> str:
        """Fail."""
        raise ValueError("no such book")

    async with connect(ToolServer("shop", tools=[add, fail])) as client:
        results = [
            await client.call_tool(name, arguments)
            for name, arguments in (("fail", {}), ("add", {"a": 1}), ("sell", {}))
        ]

    assert [(text_of(each), each.is_error) for each in results] == [
        ("Error: tool `fail` failed: ValueError: no such book", True),
        ("Error: the arguments of `add` cannot be used: `b` is missing", True),
        ("Error: unknown tool `sell` (mounted: `add`, `fail`)", True),
    ]


# Holds: mcp-66
async def test_images_are_images_of_the_protocol(connect: Connect) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": PNG}

    @tool
    def paint() -> ToolResult:
        """Paint."""
        blocks: Any = [{"type": "text", "text": "here"}, {"type": "image", "source": source}]
        return ToolResult(output="here", content=blocks)

    async with connect(ToolServer("shop", tools=[paint])) as client:
        result = await client.call_tool("paint", {})

    assert result.content == [
        TextContent(type="text", text="here"),
        ImageContent(type="image", data=PNG, mime_type="image/png"),
    ]


# Holds: mcp-61
async def test_the_person_at_the_client_is_asked_before_a_call_that_needs_it(
    connect: Connect,
) -> None:
    person = Person({"allow": True}, {"allow": False, "reason": "too dear"}, None, {})
    async with connect(ToolServer("shop", tools=[order]), person) as client:
        results = [await client.call_tool("order", {"book": "Emma"}) for _ in range(4)]

    assert [each.is_error for each in results] == [False, True, True, True]
    assert text_of(results[0]) == "ordered Emma"
    assert "too dear" in text_of(results[1])
    assert person.asked[0] == ("run `order`?\n| `book`: `Emma`", ["allow", "reason"])


# Holds: mcp-61
async def test_a_yes_lasts_for_the_session_only_where_that_is_said() -> None:
    @tool
    async def open_shop(context: ToolContext) -> bool:
        """Ask for the whole session."""
        return (await context.ask("open?", for_session="the shop")).for_session

    lasting = {"allow": True, "lasts": "for this session"}
    person = Person({"allow": True}, {"allow": True, "lasts": "once"}, lasting)
    async with Client(ToolServer("shop", tools=[open_shop]), elicitation_callback=person) as client:
        said = [text_of(await client.call_tool("open_shop", {})) for _ in range(3)]

    assert said == ["False", "False", "True"]
    assert person.asked[0] == ("open?", ["allow", "lasts", "reason"])


# Holds: mcp-62
async def test_the_answer_is_no_where_the_client_can_ask_nobody(connect: Connect) -> None:
    async with connect(ToolServer("shop", tools=[order, ask])) as client:
        ordered = await client.call_tool("order", {"book": "Emma"})
        asked = await client.call_tool("ask", {"parts": []})

    assert "nobody could be asked" in text_of(ordered)
    assert ordered.is_error
    assert text_of(asked) == "False None False "


# Holds: mcp-62
async def test_whoever_the_server_names_is_asked_instead(connect: Connect) -> None:
    server = ToolServer("shop", tools=[order], approvals=lambda _question: True)
    async with connect(server) as client:
        assert text_of(await client.call_tool("order", {"book": "Emma"})) == "ordered Emma"


# Holds: mcp-63
@ON_BOTH
async def test_a_tool_asks_while_it_runs_and_goes_on_with_the_answers(connect: Connect) -> None:
    person = Person({"allow": True, "parts": ["a"]}, {"allow": False, "reason": "enough"})
    async with connect(ToolServer("shop", tools=[ask]), person) as client:
        result = await client.call_tool("ask", {"parts": ["a", "b"]})

    assert text_of(result) == "True ('a',) False enough"
    assert person.asked == [
        ("sure?", ["allow", "parts", "reason"]),
        ("really?", ["allow", "reason"]),
    ]


# Holds: mcp-63
async def test_parts_that_are_no_list_agree_to_nothing(connect: Connect) -> None:
    person = Person({"allow": True, "parts": "a"}, {"allow": True, "parts": "a"})
    async with connect(ToolServer("shop", tools=[ask]), person) as client:
        result = await client.call_tool("ask", {"parts": ["a", "b"]})

    assert text_of(result) == "False None True "


# Holds: mcp-63
async def test_answers_for_a_call_that_has_ended_are_an_error() -> None:
    person = Person({"allow": True})
    server = ToolServer("shop", tools=[order])
    async with Client(server, elicitation_callback=person) as client:
        session, arguments = client.session, {"book": "Emma"}
        asked = await session.call_tool("order", arguments, allow_input_required=True)
        (key,) = asked.input_requests or ()
        yes = {key: ElicitResult(action="accept", content={"allow": True})}
        more = {"input_responses": yes, "request_state": asked.request_state}
        first, second = [
            await session.call_tool("order", arguments, **more, allow_input_required=True)
            for _ in range(2)
        ]

    assert (text_of(first), first.is_error) == ("ordered Emma", False)
    assert (text_of(second), second.is_error) == (
        "the call that was asked about has ended; make it anew",
        True,
    )


# Holds: mcp-65
async def test_a_call_that_waits_for_an_answer_ends_with_its_client() -> None:
    events: list[str] = []

    @hook("cancel:completed", "session:end")
    def note(event: str, _data: dict[str, Any]) -> None:
        events.append(event)

    server = ToolServer("shop", tools=[order], hooks=[note])
    async with Client(server, elicitation_callback=Person()) as client:
        asked = await client.session.call_tool("order", {"book": "Emma"}, allow_input_required=True)
        assert type(asked).__name__ == "InputRequiredResult"

    assert events == ["cancel:completed", "session:end"]


# Holds: mcp-64
async def test_progress_of_a_tool_reaches_the_client_and_always_grows(connect: Connect) -> None:
    @tool
    async def work(context: ToolContext) -> str:
        """Work."""
        for fraction in (0.0, 0.5, 0.5, None):
            context.progress(f"at {fraction}", fraction)
            await anyio.sleep(0.05)
        return "done"

    heard: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async with connect(ToolServer("shop", tools=[work])) as client:
        await client.call_tool("work", {}, progress_callback=note)

    assert [each[2] for each in heard] == ["at 0.0", "at 0.5", "at 0.5", "at None"]
    assert [each[1] for each in heard] == [1.0, 1.0, 1.0, None]
    assert sorted({each[0] for each in heard}) == [each[0] for each in heard]


# Holds: mcp-65
@ON_BOTH
@pytest.mark.parametrize("answer", [None, Person()])
async def test_a_request_that_is_cancelled_cancels_its_call(
    connect: Connect, answer: Person | None
) -> None:
    begun, ended = anyio.Event(), anyio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with connect(ToolServer("shop", tools=[wait, add]), answer) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "wait", {})
            await begun.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(5):
            await ended.wait()
        assert text_of(await client.call_tool("add", {"a": 1, "b": 2})) == '{"sum": 3}'


# Holds: mcp-67
@ON_BOTH
async def test_calls_run_together_but_for_those_of_an_exclusive_tool(connect: Connect) -> None:
    running: list[str] = []
    names = ("one0", "one1", "alone2", "one3")
    may_end = {name: anyio.Event() for name in names}

    async def run(name: str) -> str:
        running.append(name)
        await may_end[name].wait()
        running.remove(name)
        return name

    @tool
    async def one(name: str) -> str:
        """Run."""
        return await run(name)

    @tool(parallel=False)
    async def alone(name: str) -> str:
        """Run alone."""
        return await run(name)

    together: list[list[str]] = []
    async with (
        connect(ToolServer("shop", tools=[one, alone])) as client,
        anyio.create_task_group() as group,
    ):
        for name in names:
            group.start_soon(client.call_tool, name.rstrip("0123"), {"name": name})
            await anyio.wait_all_tasks_blocked()
        for name in names:
            together.append(sorted(running))
            may_end[name].set()
            await anyio.wait_all_tasks_blocked()

    assert together == [["one0", "one1"], ["one1"], ["alone2"], ["one3"]]


# Holds: mcp-71
async def test_clients_share_a_session_that_ends_with_the_last_of_them(connect: Connect) -> None:
    events: list[str] = []

    @hook("session:start", "session:end")
    def note(event: str, _data: dict[str, Any]) -> None:
        events.append(event)

    server = ToolServer("shop", tools=[add], hooks=[note])
    for _ in range(2):
        async with connect(server) as first, connect(server) as second:
            for client in (first, second):
                await client.call_tool("add", {"a": 1, "b": 2})

    assert events.count("session:end") == 2


# Holds: mcp-71
async def test_what_is_wrong_with_a_server_is_said_when_it_opens() -> None:
    server = ToolServer("shop", tools=[add, "tool-nowhere"])
    with pytest.raises(ConfigurationError, match="tool-nowhere"):
        async with server.open():
            pass
    with pytest.raises(ValueError, match="wait"):
        ToolServer("shop", approvals="wait")


# Holds: mcp-74
async def test_a_call_is_a_turn_without_a_model_and_has_its_budget(connect: Connect) -> None:
    events: list[str] = []

    @hook("*")
    def note(event: str, _data: dict[str, Any]) -> None:
        events.append(event)

    budget = Budget(tool_calls=1).config()
    loop = {"module": "loop-basic", "config": {"budget": budget}}
    plan = {"session": {"orchestrator": loop}}
    async with connect(ToolServer("shop", tools=[add], hooks=[note], plan=plan)) as client:
        results = [await client.call_tool("add", {"a": 1, "b": 2}) for _ in range(2)]

    assert [each.is_error for each in results] == [False, False]
    of_a_turn = ["execution:start", "tool:pre", "tool:start", "tool:post", "tool:result"]
    of_a_turn += ["turn:end", "orchestrator:complete", "execution:end"]
    assert [each for each in events if not each.startswith("session:")] == of_a_turn * 2


# Holds: mcp-75
async def test_a_listening_client_hears_of_tools_that_come_with_a_call() -> None:
    server = ToolServer("shop", tools=[add])

    @server.tool()
    def grow() -> str:
        """Add a tool."""
        server.add_tool(lambda: "new", name="new", description="New.")
        return "grown"

    async with Client(server) as client:
        async with client.listen(tools_list_changed=True) as heard:
            await client.call_tool("grow", {})
            with anyio.fail_after(5):
                event = await anext(aiter(heard))
        assert [each.name for each in (await client.list_tools()).tools] == ["add", "grow", "new"]
    assert type(event).__name__ == "ToolsListChanged"


class Cart(BaseModel):
    """What a tool finds."""

    books: list[str] = []


# Holds: mcp-60
async def test_tools_find_the_state_of_the_server(connect: Connect) -> None:
    @tool
    def put(context: ToolContext[Cart], book: str) -> list[str]:
        """Put a book into the cart."""
        context.state.books.append(book)
        return context.state.books

    server = ToolServer("shop", tools=[put], state=Cart())
    async with connect(server) as client:
        result = await client.call_tool("put", {"book": "Emma"})
    assert text_of(result) == '["Emma"]'
