"""An agent that gives a tour of the current folder, on the demo model."""

from amplifier_agent import Agent, tool


@tool
def weather(city: str, days: int = 1) -> str:
    """Forecast for a city.

    Args:
        city: Name of the city.
        days: How many days, 1 to 7.
    """
    return f"{city}: sunny for {days} days"


agent = Agent("demo", tools=[weather, "tool-filesystem", "tool-search"])
result = agent.run_sync("Give me a tour of this project")
print(result.text, result.usage)
