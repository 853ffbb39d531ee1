"""Sub-agents in the background, started by a tool and by the model."""

from amplifier_agent import Agent, Budget, ScriptedProvider, ToolContext, tool


@tool
async def compare(context: ToolContext, first: str, second: str) -> str:
    """Have two sub-agents read a page each, at the same time."""
    spawn = context.session.coordinator.get_capability("session.spawn")
    pages = [
        await spawn(f"Sum up {page}.", system="Answer in one line.", background=True)
        for page in (first, second)
    ]
    results = [await spawn.result(page) for page in pages]
    return "\n".join(f"{each.status}: {each.text}" for each in results)


model = ScriptedProvider(
    [
        {"tool": "compare", "arguments": {"first": "a.md", "second": "b.md"}},
        "It is about birds.",
        "It is about birds.",
        {"tool": "task", "arguments": {"prompt": "Which birds?", "description": "birds"}},
        "Owls.",
        "Both are about owls.",
    ]
)
agent = Agent(model, tools=[compare, "tool-task"], budget=Budget(model_calls=20))
result = agent.run_sync("What do the pages say?")
print(result.text, result.model_calls, "model calls")
