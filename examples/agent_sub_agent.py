"""A sub-agent and a budget."""

from amplifier_agent import Agent, Budget

reader = Agent("demo", tools=["tool-search"], system="Answer in one line.")
lead = Agent(
    "anthropic:claude-sonnet-4-5",
    tools=[reader.as_tool("look_up", "Looks things up in this folder.")],
    budget=Budget(model_calls=20),
)
result = lead.run_sync("What is this project?")
print(result.text if result.status == "completed" else result.reason, result.cost)
