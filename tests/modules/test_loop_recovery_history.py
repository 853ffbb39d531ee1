"""The history that errors leave is accepted by services with native calls."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_agent import Agent, ScriptedProvider, tool
from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    OllamaServer,
    ResponsesServer,
)

ANSWERS = [
    "<tool>{bad</tool>",
    '<tool>{"arguments": {}}</tool>',
    '<tool>{"tool_name": "a b</x", "arguments": {"x": 1}}</tool>',
    f'<tool>{{"tool_name": "{"n" * 100}"}}</tool><tool>{{"tool_name": "look"}}</tool>',
    "Hello",
    '<tool>{"tool_name": "finish"}</tool>',
]


@tool
def look(x: int) -> str:
    """Look."""
    return "seen"


@tool(is_loop_breaking=True)
def finish() -> str:
    """Finish."""
    return "The end."


@pytest.mark.parametrize(
    ("server", "provider", "address", "model"),
    [
        (AnthropicServer, "provider-anthropic", "base_url", "claude-sonnet-4-5"),
        (ChatServer, "provider-openai-chat", "base_url", "gpt-4.1"),
        (ResponsesServer, "provider-openai", "base_url", "gpt-5"),
        (OllamaServer, "provider-ollama", "host", "llama3.2"),
    ],
)
def test_a_service_with_native_calls_accepts_what_errors_leave_in_the_history(
    server: Any, provider: str, address: str, model: str
) -> None:
    loop = {"module": "loop-tagged", "config": {"require_call": True}}
    agent = Agent(ScriptedProvider(ANSWERS), tools=[look, finish], loop=loop)
    before = agent.run_sync("Look")
    assert (before.text, len(before.messages)) == ("The end.", 14)

    with server(["Fine."]) as service:
        config: dict[str, Any] = {address: service.url, "default_model": model}
        config["prices"] = {"*": {"input": 0, "output": 0}}
        config |= {} if provider == "provider-ollama" else {"api_key": "any"}
        plan = {"providers": [{"module": provider, "config": config}]}
        after = Agent(plan=plan, tools=[look]).run_sync("Go on", messages=before.messages)
        assert (after.text, service.refusals) == ("Fine.", [])
