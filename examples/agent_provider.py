"""A provider that streams."""

from collections.abc import AsyncIterator
from typing import Any

from amplifier_agent import Agent, BaseProvider
from amplifier_core import ChatRequest, ChatResponse


class Echo(BaseProvider):
    name = "echo"

    async def chunks(
        self, request: ChatRequest, **options: Any
    ) -> AsyncIterator[str | ChatResponse]:
        for word in ("Hello ", "world"):
            yield word


print(Agent(Echo()).run_sync("Hi").text)
