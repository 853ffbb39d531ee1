"""A long conversation in a small window: what is sent stays short, what is kept is whole."""

import asyncio

from amplifier_agent import Agent, ScriptedProvider, Status, tool
from amplifier_modules.contexts.simple import SimpleContext


@tool
def read_log() -> str:
    """Read the log."""
    return "\n".join(f"{number}: nothing happened" for number in range(20_000))


async def main() -> None:
    answers = ["Nothing happened.", *["word " * 400] * 9]
    model = ScriptedProvider([{"tool": "read_log"}, *answers])
    context = SimpleContext({"max_tokens": 3_000})
    async with Agent(model, tools=[read_log], context=context).session() as session:
        result = await session.run("What happened?")
        print(len(str(result.messages[2]["content"])), "characters of the log were sent")
        for number in range(9):
            async for event in session.stream(f"Question {number}"):
                if isinstance(event, Status) and event.kind == "context:compaction":
                    print(event.text)
    print(len(await context.get_messages()), "messages are kept")
    print(len(model.requests[-1].messages), "were sent at last")


asyncio.run(main())
