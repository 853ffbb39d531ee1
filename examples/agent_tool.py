"""A tool, and its test."""

from amplifier_agent import Agent, ScriptedProvider, tool


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


model = ScriptedProvider([{"tool": "add", "arguments": {"a": "2"}}, "Three."])
assert Agent(model, tools=[add]).run_sync("2 + 1?").text == "Three."
assert model.requests[1].messages[-1].content == "3"
