"""Resources are listed and read by one tool, and prompts are texts for the person."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from mounted_servers import Mount, Mounted, run_raw

from amplifier_modules.tools.mcp import Prompt, State


def make_server() -> MCPServer:
    server = MCPServer("notes")

    @server.resource("note://one", description="The first.")
    def one() -> str:
        return "hello"

    @server.resource("note://{name}/page")
    def page(name: str) -> str:
        return f"page of {name}"

    @server.prompt(description="Greets.")
    def greet(name: str, tone: str = "kind") -> str:
        return f"Greet {name} in a {tone} tone."

    return server


@pytest.fixture
async def mounted(mount: Mount, in_process: dict[str, Any]) -> Mounted:
    in_process["notes"] = make_server
    mounted = await mount({"notes": {"command": "notes"}, "raw": run_raw()})
    await mounted.settle()
    return mounted


# Holds: mcp-14
async def test_the_resources_of_all_servers_are_listed(mounted: Mounted) -> None:
    assert await mounted.run("mcp_resources") == {
        "resources": [
            {
                "server": "notes",
                "uri": "note://one",
                "name": "one",
                "description": "The first.",
                "type": "text/plain",
            }
        ],
        "templates": [
            {"server": "notes", "uri": "note://{name}/page", "name": "page", "type": "text/plain"}
        ],
    }


# Holds: mcp-14
async def test_a_resource_is_read_by_its_address(mounted: Mounted) -> None:
    found = await mounted.run("mcp_resources", server="notes", uri="note://ada/page")

    assert found == "[resource `note://ada/page`]\npage of ada"


async def test_what_is_wrong_with_a_request_is_said(mounted: Mounted) -> None:
    said = [
        await mounted.run("mcp_resources", uri="note://one"),
        await mounted.run("mcp_resources", server="note"),
        await mounted.run("mcp_resources", server="notes", uri="note://none"),
        await mounted.run("mcp_resources", offset=-1),
    ]

    assert said[:2] == [
        ("invalid_arguments", "`server` is missing: it says who has `note://one`"),
        ("invalid_arguments", "there is no server `note` (did you mean `notes`?)"),
    ]
    assert said[2][0] == "CallRefusedError"
    assert said[3][0] == "invalid_arguments"


# Holds: mcp-15
async def test_prompts_are_listed_and_had_as_text(mounted: Mounted) -> None:
    assert await mounted.servers.list_prompts() == [
        Prompt("notes", "greet", "Greets.", ("name", "tone"), ("name",))
    ]
    text = await mounted.servers.get_prompt("notes", "greet", {"name": "Ada"})
    assert text == "Greet Ada in a kind tone."
    with pytest.raises(LookupError, match="there is no server `other`"):
        await mounted.servers.get_prompt("other", "greet")


async def test_servers_without_prompts_or_connection_have_none(mount: Mount) -> None:
    mounted = await mount({"gone": {"command": "/nowhere"}})
    await mounted.settle(State.DOWN)

    assert await mounted.servers.list_prompts() == []
