"""A message to the model while its turn runs."""

import asyncio

from amplifier_agent import Agent, TextDelta, ToolFinished


async def main() -> None:
    async with Agent("demo", tools=["tool-search"]).session() as s:
        async for event in s.stream("Find every TODO"):
            if isinstance(event, ToolFinished):
                s.steer("Only in src.")
            elif isinstance(event, TextDelta):
                print(event.text, end="", flush=True)


asyncio.run(main())
