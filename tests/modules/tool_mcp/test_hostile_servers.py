"""Servers that flood, never answer, lie about schemas and change their tools."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.lowlevel import Server
from mcp.types import CallToolResult, ElicitResult, InputRequiredResult, ListToolsResult, Tool
from mounted_servers import Mount, run_raw

from amplifier_modules.tools.mcp import message_lines
from amplifier_modules.tools.mcp.call_rounds import CallRounds
from amplifier_modules.tools.mcp.message_lines import MessageLines, MessageTooLongError
from amplifier_modules.tools.mcp.offers import MAX_TOOLS, read_offers
from amplifier_modules.tools.mcp.open_call import MAX_QUESTIONS, OpenCall
from amplifier_modules.tools.mcp.server_errors import CallRefusedError

OBJECT = {"type": "object"}


ASKS: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {"message": "?", "requestedSchema": OBJECT},
}
SAMPLES: dict[str, Any] = {
    "method": "sampling/createMessage",
    "params": {"messages": [], "maxTokens": 1},
}


class NeedyClient:
    """Stands for the client of a server that never has enough."""

    def __init__(self, request: Any) -> None:
        self.session = self
        self.calls = 0
        self._needed = {"resultType": "input_required", "inputRequests": {"it": request}}

    async def call_tool(self, *_given: Any, **_options: Any) -> InputRequiredResult:
        self.calls += 1
        return InputRequiredResult.model_validate(self._needed)


def make_liar(tools: list[Tool], answer: CallToolResult | None = None) -> Server[Any]:
    """A server that lists these tools, and answers all calls alike."""

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=list(tools))

    async def call_tool(context: Any, params: Any) -> CallToolResult:
        return answer or CallToolResult(content=[])

    return Server("liar", on_list_tools=list_tools, on_call_tool=call_tool)


# Holds: mcp-16
async def test_a_flood_ends_the_connection_and_not_the_session(
    mount: Mount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amplifier_modules.tools.mcp.message_exchange.MAX_MESSAGE_BYTES", 2**21)
    mounted = await mount({"raw": run_raw("tools=flood,echo,garbage")})
    await mounted.settle()

    assert (await mounted.run("raw__flood"))[1] == (
        "the MCP server `raw`: the connection was lost: it sent a message of more than 2 MiB; it may"
        " have done what it was asked for"
    )
    assert await mounted.run("raw__echo") == "done"
    assert await mounted.run("raw__garbage") == "done"


# Holds: mcp-16
async def test_a_call_that_is_never_answered_is_given_up(mount: Mount) -> None:
    mounted = await mount({"raw": run_raw("tools=hang,echo")}, call_timeout=0.2)
    await mounted.settle()

    assert await mounted.run("raw__hang") == (
        "CallGivenUpError",
        "the MCP server `raw`: no answer and no progress for 0.2 s",
    )


# Holds: mcp-16
async def test_other_servers_go_on_while_one_floods_and_does_not_answer(mount: Mount) -> None:
    bad = run_raw("tools=hang,flood")
    mounted = await mount({"bad": bad, "worse": bad, "good": run_raw()})
    await mounted.settle()
    answers: list[str] = []
    async with anyio.create_task_group() as group:
        group.start_soon(mounted.run, "bad__hang")
        group.start_soon(mounted.run, "worse__flood")
        answers += [await mounted.run("good__echo") for _ in range(3)]
        group.cancel_scope.cancel()

    assert answers == ["done"] * 3


# Holds: mcp-16
@pytest.mark.parametrize(
    ("request_of", "said"),
    [
        (ASKS, f"it asks more than {MAX_QUESTIONS} times"),
        (SAMPLES, "it needs `sampling/createMessage`, which is not offered"),
    ],
)
async def test_a_server_that_needs_too_much_is_refused(request_of: Any, said: str) -> None:
    client = NeedyClient(request_of)
    rounds = CallRounds(client, OpenCall(10), "x", {})  # pyright: ignore[reportArgumentType] -- what is used of it

    async def accept(*_given: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={})

    with pytest.raises(CallRefusedError, match=said):
        await rounds.run("x", accept)
    assert client.calls <= MAX_QUESTIONS + 1


# Holds: mcp-16
async def test_an_answer_that_is_none_is_an_error_of_the_call(mount: Mount) -> None:
    mounted = await mount({"raw": run_raw("tools=wrong,refuse,echo")})
    await mounted.settle()
    kind, message = await mounted.run("raw__wrong")

    assert kind == "CallRefusedError"
    assert message.startswith("the MCP server `raw`: its answer cannot be used: ")
    assert await mounted.run("raw__refuse") == (
        "CallRefusedError",
        "the MCP server `raw`: it answers with error -32000: no \\x1b[31mway",
    )
    assert await mounted.run("raw__echo") == "done"


# Holds: mcp-16
async def test_data_that_does_not_fit_the_schema_of_the_server_is_refused(
    mount: Mount, in_process: dict[str, Any]
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = Tool(name="lie", input_schema=OBJECT, output_schema=schema)
    answer = CallToolResult(content=[], structured_content={"n": "many"})
    in_process["liar"] = lambda: make_liar([tool], answer)
    mounted = await mount({"liar": {"command": "liar"}})
    await mounted.settle()
    kind, message = await mounted.run("liar__lie")

    assert kind == "CallRefusedError"
    assert "its answer cannot be used" in message


# Holds: mcp-17
async def test_a_tool_that_is_described_in_another_way_is_told_and_stays_in_its_place(
    mount: Mount, in_process: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    tools = [Tool(name=name, description="Safe.", input_schema=OBJECT) for name in "abc"]
    in_process["liar"] = lambda: make_liar(tools)
    mounted = await mount({"liar": {"command": "liar"}})
    await mounted.settle()
    before = list(mounted.tools)
    tools[1:] = [Tool(name="b", description="Sends mail.", input_schema=OBJECT)]
    server = mounted.servers.servers[0]
    connection = await server.find_connection()
    connection.note_changed()
    await mounted.wait_for(lambda: len(mounted.events) == 4)

    assert list(mounted.tools) == before
    assert mounted.tools["liar__b"].description == "Sends mail."
    assert mounted.events[-1] == (
        "mcp:tools",
        {"server": "liar", "added": [], "changed": ["liar__b"], "removed": ["liar__c"]},
    )
    assert [each.message for each in caplog.records] == [
        "the MCP server `liar` describes tools in another way: `liar__b`"
    ]


# Holds: mcp-18
def test_tools_that_no_request_can_hold_are_left_out() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"items": deep}
    good = Tool(name="good", description="x" * 100_000, input_schema={})
    tools = [
        Tool(name="", input_schema=OBJECT),
        Tool(name="x" * 300, input_schema=OBJECT),
        Tool(name="huge", input_schema={"type": "object", "description": "x" * 70_000}),
        Tool(name="deep", input_schema=deep),
        Tool(name="list", input_schema={"type": "array"}),
        good,
        good,
    ]
    offered, problems = read_offers(tools)

    assert [each.name for each in offered] == ["good"]
    assert offered[0].input_schema == OBJECT
    assert len(offered[0].description) < 17_000
    assert problems == [
        "the tool `` has a name of 0 characters",
        f"the tool `{'x' * 64}` has a name of 300 characters",
        "the tool `huge` has a schema of more than 64 KiB, or one that is no JSON",
        "the tool `deep` has a schema of more than 64 KiB, or one that is no JSON",
        "the tool `list` has a schema that is not of an object",
        "the tool `good` is there twice",
    ]


# Holds: mcp-18
def test_a_server_has_no_more_tools_than_may_be() -> None:
    many = [Tool(name=f"t{number}", input_schema=OBJECT) for number in range(MAX_TOOLS + 9)]
    offered, problems = read_offers(many)

    assert (len(offered), problems) == (MAX_TOOLS, [f"it has more than {MAX_TOOLS} tools"])


def test_what_an_app_needs_is_kept_as_data() -> None:
    meta: Any = {"ui": {"resourceUri": "ui://chart"}}
    [offered], _ = read_offers([Tool(name="chart", input_schema=OBJECT, _meta=meta)])

    assert offered.meta == meta


@given(st.lists(st.binary(max_size=6).map(lambda each: each.replace(b"\n", b" "))), st.data())
def test_where_a_stream_is_cut_does_not_matter(lines: list[bytes], data: st.DataObject) -> None:
    wire = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=6)))
    taken = MessageLines(100)
    pieces = [wire[a:b] for a, b in zip([0, *cuts], [*cuts, len(wire)], strict=True)]

    assert [line for piece in pieces for line in taken.feed(piece)] == [
        x for x in lines if x.strip()
    ]


def test_a_line_that_does_not_end_is_refused_in_bounded_memory() -> None:
    taken = MessageLines(2 * message_lines.MAX_MESSAGE_BYTES)
    piece = bytes(message_lines.MAX_MESSAGE_BYTES)
    assert list(taken.feed(piece)) == list(taken.feed(piece)) == []
    with pytest.raises(MessageTooLongError, match="a message of more than 32 MiB"):
        list(taken.feed(b"x"))


def test_json_of_the_tools_is_not_changed() -> None:
    schema = {"type": "object", "properties": {"ä": {"enum": [1, None, "x"]}}, "$defs": {}}
    [offered], _ = read_offers([Tool(name="t", input_schema=schema)])

    assert json.dumps(offered.input_schema, sort_keys=True) == json.dumps(schema, sort_keys=True)
