"""A turn that is cancelled, and the next one."""

import asyncio

from amplifier_agent import Agent, ScriptedProvider


async def main() -> None:
    slow = ScriptedProvider(["one two three four five", "Hello!"], delay=1)
    async with Agent(slow).session() as s:
        turn = asyncio.create_task(s.run("Count"))
        await asyncio.sleep(2)
        s.cancel()
        print((await turn).status, (await s.run("Hi")).text)  # cancelled Hello!


asyncio.run(main())
