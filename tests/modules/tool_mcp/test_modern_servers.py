"""Servers of the protocol of 2026-07-28: changes that are listened to, and questions as results."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import InputRequiredResult
from mounted_servers import Mount
from pydantic import BaseModel

from amplifier_agent import Agent, ScriptedProvider


class Name(BaseModel):
    name: str


async def find_name(ctx: Context[Any, Any]) -> Name | Elicit[Name]:
    return Elicit("who are you?", Name)


def make_server() -> MCPServer:
    server = MCPServer("modern")
    states: list[str | None] = []

    @server.tool()
    async def grow(ctx: Context[Any, Any]) -> str:
        server.add_tool(lambda: "new", name="later", description="Is new.")
        await ctx.notify_tools_changed()
        return "grown"

    @server.tool()
    async def prompt(ctx: Context[Any, Any]) -> str:
        server.add_prompt(Prompt.from_function(lambda: "Hello.", name="later"))
        await ctx.notify_prompts_changed()
        return "added"

    @server.tool()
    async def greet(who: Annotated[Name, Resolve(find_name)]) -> str:
        return f"Hello {who.name}."

    @server.tool()
    async def wait(ctx: Context[Any, Any]) -> str | InputRequiredResult:
        states.append(ctx.request_state)
        if len(states) < 4:
            return InputRequiredResult(request_state=f"step {len(states)}")
        return json.dumps(states)

    return server


# Holds: mcp-7
async def test_changes_are_listened_to(mount: Mount, in_process: dict[str, Any]) -> None:
    in_process["modern"] = make_server
    mounted = await mount({"modern": {"command": "modern"}})
    await mounted.settle()
    connection = await mounted.servers.servers[0].find_connection()

    assert connection.client.protocol_version == "2026-07-28"
    assert await mounted.run("modern__grow") == "grown"
    await mounted.wait_for(lambda: "modern__later" in mounted.tools)
    assert await mounted.run("modern__later") == "new"


# Holds: mcp-85
async def test_changes_of_prompts_are_listened_to(mount: Mount, in_process: dict[str, Any]) -> None:
    in_process["modern"] = make_server
    mounted = await mount({"modern": {"command": "modern"}})
    await mounted.settle()
    await mounted.wait_for(lambda: ("mcp:prompts", {"server": "modern"}) in mounted.events)
    mounted.events.clear()
    await mounted.run("modern__prompt")
    await mounted.wait_for(lambda: ("mcp:prompts", {"server": "modern"}) in mounted.events)

    assert [each.name for each in await mounted.servers.list_prompts()] == ["later"]


# Holds: mcp-20
@pytest.mark.parametrize(
    ("answer", "said"), [("Ada", "Hello Ada."), (False, "elicitation was decline")]
)
async def test_a_question_that_is_a_result_is_answered_and_the_call_goes_on(
    in_process: dict[str, Any], answer: Any, said: str
) -> None:
    in_process["modern"] = make_server
    config = {"servers": {"modern": {"command": "modern"}}}
    model = ScriptedProvider([{"tool": "modern__greet", "arguments": {}}, "Done."])
    tools = [{"module": "tool-mcp", "config": config}]
    await Agent(model, tools=tools, approvals=lambda _question: answer).run("go")

    assert said in str(model.requests[1].messages[-1].content)


# Holds: mcp-1
async def test_a_server_that_needs_more_time_gets_its_state_back(
    mount: Mount, in_process: dict[str, Any]
) -> None:
    in_process["modern"] = make_server
    mounted = await mount({"modern": {"command": "modern"}})
    await mounted.settle()
    states = json.loads(await mounted.run("modern__wait"))

    assert states == [None, "step 1", "step 2", "step 3"]
