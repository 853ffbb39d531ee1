"""A loop of tool calls: the model asks, the program answers, until there is no call left."""

import asyncio

from arcllm import Message, Tool, ToolResultBlock, load_model

FORECASTS = {"Paris": "rain", "Rome": "sun"}
weather = Tool(
    name="weather",
    description="Forecast for a city.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


async def main() -> None:
    messages = [Message(role="user", content="Where is it dry: Paris or Rome?")]
    async with load_model("anthropic") as model:
        response = await model.complete(messages, [weather])
        while response.tool_calls:
            messages.append(response.message)
            for call in response.tool_calls:
                forecast = FORECASTS.get(call.arguments["city"], "unknown")
                result = ToolResultBlock(tool_use_id=call.id, content=forecast)
                messages.append(Message(role="tool", content=[result]))
            response = await model.complete(messages, [weather])
    print(response.content)


asyncio.run(main())
