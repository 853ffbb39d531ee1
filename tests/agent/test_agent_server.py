"""An agent as an MCP server: one tool that answers a prompt."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from mcp import Client
from mcp.types import ElicitResult

from amplifier_agent import Agent, ScriptedProvider, ToolContext, tool


@tool(needs_approval=True)
async def order(context: ToolContext, book: str) -> str:
    """Order a book."""
    await anyio.sleep(0.05)
    context.progress("asking the shop")
    await anyio.sleep(0.05)
    return f"ordered {book}"


def make_agent(**options: Any) -> Agent:
    script = [{"tool": "order", "arguments": {"book": "Emma"}}, "It is ordered."]
    return Agent(ScriptedProvider(script), tools=[order], **options)


# Holds: mcp-70
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_asks_an_agent_and_hears_what_it_does(mode: Any) -> None:
    heard: list[tuple[float, str | None]] = []
    asked: list[str] = []

    async def note(progress: float, _total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    async def answer(_context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"allow": True})

    server = make_agent().as_mcp("clerk", "Orders books.")
    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        (found,) = (await client.list_tools()).tools
        prompt = {"prompt": "Order Emma."}
        result = await client.call_tool("clerk", prompt, progress_callback=note)

    assert (found.name, found.description) == ("clerk", "Orders books.")
    assert [each.text for each in result.content] == ["It is ordered."]
    assert asked == ["the sub-agent `clerk` asks:\nrun `order`?\n| `book`: `Emma`"]
    messages = [each[1] for each in heard]
    assert messages[0] == "step 1: asks the model"
    assert "step 1: `order`: asking the shop" in messages
    assert sorted({each[0] for each in heard}) in (
        [1.0, 2.0, 3.0],
        [1.0, 2.0, 3.0, 4.0],
        [1.0, 2.0],
    )


# Holds: mcp-70
async def test_who_answers_the_agents_questions_answers_them_here_too() -> None:
    server = make_agent(approvals=lambda _question: "not today").as_mcp()
    async with Client(server) as client:
        result = await client.call_tool("agent", {"prompt": "Order Emma."})
    assert [each.text for each in result.content] == ["It is ordered."]

    with pytest.raises(ValueError, match="wait"):
        make_agent(approvals="wait").as_mcp()


# Holds: mcp-70
async def test_an_agent_that_does_not_complete_is_an_error() -> None:
    agent = Agent(ScriptedProvider(["Hello"]), hooks=["hooks-guard"]).replace(
        plan={
            "session": {"orchestrator": {"module": "loop-basic", "config": {"max_iterations": 1}}}
        },
        model=ScriptedProvider([{"tool": "order", "arguments": {"book": "Emma"}}, "Stopped."]),
        tools=[order],
        approvals=lambda _question: True,
    )
    async with Client(agent.as_mcp("clerk")) as client:
        result = await client.call_tool("clerk", {"prompt": "Order Emma."})

    assert result.is_error
    assert "the agent `clerk` ended as `limit`" in str(result.content[0])
