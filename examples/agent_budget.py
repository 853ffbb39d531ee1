"""A turn that ends at its budget, and is taken up again with a new one."""

import asyncio

from amplifier_agent import Agent, Budget, ScriptedProvider, tool


@tool
def look(page: int) -> str:
    """Look at a page."""
    return f"page {page}: nothing"


async def main() -> None:
    calls = [{"tool": "look", "arguments": {"page": page}} for page in (1, 2, 3)]
    model = ScriptedProvider([*calls[:2], "Nothing on two pages.", calls[2], "On no page."])
    async with Agent(model, tools=[look], budget=Budget(model_calls=2)).session() as session:
        for prompt in ("Find it", "Go on"):
            result = await session.run(prompt)
            print(f"{result.status}: {result.text}")


asyncio.run(main())
