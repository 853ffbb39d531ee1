"""A tool of your own: mount it into a session and call it."""

import asyncio
from typing import Any

from amplifier_core import AmplifierSession, ToolResult


class WordCount:
    """Counts words."""

    name = "word_count"
    description = "Counts the words of a text."
    input_schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        return ToolResult(success=True, output={"words": len(input["text"].split())})


class Echo:
    """The smallest loop: one tool call, no model."""

    async def execute(self, prompt: str, tools: dict[str, Any], **kwargs: Any) -> str:
        result = await tools["word_count"].execute({"text": prompt})
        return f"{result.output['words']} words"


async def main() -> None:
    plan = {"session": {"orchestrator": "loop-basic", "context": "context-simple"}}
    async with AmplifierSession(plan) as session:
        await session.coordinator.mount("tools", WordCount())
        await session.coordinator.mount("orchestrator", Echo())
        print(await session.execute("How many words is this?"))


asyncio.run(main())
