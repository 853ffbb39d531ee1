"""The calls of an answer, compared with the schemas of their tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from threading import Lock
from types import SimpleNamespace

from amplifier_core.llm_errors import InvalidToolCallError
from amplifier_providers.answers.argument_check import ArgumentCheck
from amplifier_providers.running.closing import closing

from ..step import Call, Piece, Step
from ..types import LLMResponse, Tool
from .layer import Layer

INVALID = "invalid_tool_calls"
"""In the metadata of a response: by the id of each call that must not run, why."""


class ToolCallLayer(Layer):
    """Names the calls that do not fit their tools in `metadata["invalid_tool_calls"]`.

    Such a call stays in the response: the conversation needs it, with a result for each call. Why it
    must not run is worded so that the text can be that result, after which models correct the call.
    What is no JSON at all never gets here: it is an `ArcLLMParseError` of the provider.

    Args:
        beneath: What is asked for the answer.
    """

    def __init__(self, beneath: Step) -> None:
        super().__init__(beneath)
        self._arguments = ArgumentCheck()
        self._checking = Lock()

    async def complete(self, call: Call) -> LLMResponse:
        """Return the whole answer."""
        return self._check_calls(await self.beneath.complete(call), call)

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives, at the end the response."""
        async with closing(self.beneath.stream(call)) as pieces:
            async for piece in pieces:
                yield self._check_calls(piece, call) if isinstance(piece, LLMResponse) else piece

    def _check_calls(self, response: LLMResponse, call: Call) -> LLMResponse:
        if not response.tool_calls or not call.tools:
            return response
        tools = {tool.name: tool for tool in call.tools}
        problems = {
            made.id: why
            for made in response.tool_calls
            if (why := self._find_problem(made.name, made.arguments, tools)) is not None
        }
        if problems:
            response.metadata[INVALID] = problems
        return response

    def _find_problem(
        self, name: str, arguments: dict[str, object], tools: dict[str, Tool]
    ) -> str | None:
        tool = tools.get(name)
        if tool is None:
            names = ", ".join(f"`{known}`" for known in tools)
            return f"unknown tool `{name}` (tools: {names})"
        try:
            # One at a time: two calls may have different tools of one name.
            with self._checking:
                schema = SimpleNamespace(input_schema=tool.parameters)
                self._arguments.check(name, schema, arguments)
        except InvalidToolCallError as error:
            return str(error)
        return None
