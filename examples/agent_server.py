"""A web server that streams."""

from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from amplifier_agent import Agent, TextDelta

agent = Agent("demo")


async def chat(request: Request) -> StreamingResponse:
    async def body() -> AsyncIterator[str]:
        async with agent.stream(request.query_params["q"]) as stream:
            async for event in stream:
                if isinstance(event, TextDelta):
                    yield event.text

    return StreamingResponse(body(), media_type="text/plain")


app = Starlette(routes=[Route("/chat", chat)])
