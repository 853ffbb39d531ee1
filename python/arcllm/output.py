"""Answers as objects: `complete(..., output=City)`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

from pydantic_core import to_json

from amplifier_providers.answers.output_type import ANSWER_DESCRIPTION, ANSWER_TOOL, OutputType
from amplifier_providers.answers.response_facts import CUT_SHORT, REFUSED
from amplifier_providers.prices.amounts import MOST_TOKENS
from amplifier_providers.running.closing import closing

from .deltas import RetractedDelta, TextDelta, ThinkingDelta, ToolCallDelta
from .exceptions import ArcLLMParseError
from .step import Call, Piece, Step
from .types import LLMResponse, Message, Tool, Usage

OutputT = TypeVar("OutputT")

_COST = "cost_usd"
"""In the metadata of a response: US dollars, if they are known."""
_UNREPORTED = "unreported"
"""There, too: the counts that are not known."""


class StructuredResponse(LLMResponse, Generic[OutputT]):
    """An answer with the object in it."""

    output: OutputT
    """The object; None while the model calls tools."""


@lru_cache(maxsize=64)
def output_type(type_: type[OutputT]) -> OutputType[OutputT]:
    """Return how answers of a type are asked for and read.

    Raises:
        TypeError: The type has no JSON schema.
    """
    return OutputType(type_)


class OutputCall(Generic[OutputT]):
    """A call whose answer is an object; what does not fit is answered once more.

    Args:
        stack: What is asked.
        call: What is asked of it.
        type_: The type of the object.
        is_native: Whether the service holds its model to a schema; else the model gets a tool to
            answer by.
    """

    def __init__(
        self, stack: Step, call: Call, type_: OutputType[OutputT], *, is_native: bool
    ) -> None:
        self._stack = stack
        self._type = type_
        self._call = _held_to_schema(call, type_) if is_native else _with_tool(call, type_)

    async def complete(self) -> StructuredResponse[OutputT]:
        """Return the answer.

        Raises:
            ArcLLMParseError: It does not fit the type, not the second time either.
        """
        response, problem = await self._ask(self._call)
        if problem is None:
            return response
        second, problem = await self._ask(self._repeat_call(response, problem))
        return self._settle(response, second, problem)

    async def stream(self) -> AsyncGenerator[Piece]:
        """Yield the answer as it arrives; what does not fit is taken back before the second one.

        Raises:
            ArcLLMParseError: It does not fit the type, not the second time either.
        """
        call, refused = self._call, None
        while True:
            blocks: dict[int, None] = {}
            read: tuple[StructuredResponse[OutputT], str | None] | None = None
            try:
                async with closing(self._stack.stream(call)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, LLMResponse):
                            read = self._read(piece)
                            continue
                        shown = _as_text(piece)
                        if isinstance(shown, TextDelta | ThinkingDelta):
                            blocks[shown.block] = None
                        yield shown
            except ArcLLMParseError as error:
                read = self._read_unparsed(error)
            if read is None:  # the stack ends each stream with a response, or raises
                return
            response, problem = read
            if refused is not None:
                yield self._settle(refused, response, problem)
                return
            if problem is None:
                yield response
                return
            call, refused = self._repeat_call(response, problem), response
            for block in blocks:
                yield RetractedDelta(block)

    async def _ask(self, call: Call) -> tuple[StructuredResponse[OutputT], str | None]:
        try:
            return self._read(await self._stack.complete(call))
        except ArcLLMParseError as error:
            return self._read_unparsed(error)

    def _read_unparsed(self, error: ArcLLMParseError) -> tuple[StructuredResponse[OutputT], str]:
        """Return an answer whose object is no JSON, and what is wrong with it.

        Raises:
            ArcLLMParseError: It is something else that cannot be read.
        """
        response = error.response
        if response is None or not _has_unparsed_answer(response):
            raise error
        update: dict[str, Any] = {"content": error.raw_string, "tool_calls": [], "opaque": None}
        return _build_response(response.model_copy(update=update), None), str(error.original_error)

    def _read(self, response: LLMResponse) -> tuple[StructuredResponse[OutputT], str | None]:
        """Return an answer with its object, and what is wrong with it."""
        answers = [call for call in response.tool_calls if call.name == ANSWER_TOOL]
        others = [call for call in response.tool_calls if call.name != ANSWER_TOOL]
        if others:
            return _build_response(response, None), None
        if answers:
            answer = self._type.answer_in(answers[-1].arguments)
            text = to_json(answer).decode()
            response = response.model_copy(
                update={
                    "content": text,
                    "tool_calls": [],
                    "stop_reason": "end_turn",
                    "opaque": None,
                }
            )
        value, problem = self._type.read(response.content or "")
        if problem is not None and response.stop_reason in CUT_SHORT | REFUSED:
            raise ArcLLMParseError(
                response.content or "",
                ValueError(f"it ended with `{response.stop_reason}`: {problem}"),
            )
        return _build_response(response, value), problem

    def _repeat_call(self, response: LLMResponse, problem: str) -> Call:
        schema = to_json(self._type.schema).decode()
        complaint = f"{self._type.repair_prompt(problem)} The schema: {schema}"
        return replace(
            self._call,
            messages=[
                *self._call.messages,
                Message(role="assistant", content=response.content or "(no text)"),
                Message(role="user", content=complaint),
            ],
        )

    def _settle(
        self,
        first: LLMResponse,
        second: StructuredResponse[OutputT],
        problem: str | None,
    ) -> StructuredResponse[OutputT]:
        if problem is not None:
            raise ArcLLMParseError(second.content or "", ValueError(problem))
        second.usage = _add_usage(first.usage, second.usage)
        one, other = first.metadata.get(_COST), second.metadata.pop(_COST, None)
        if one is not None and other is not None:
            second.metadata[_COST] = one + other
        lists = (each.metadata.get(_UNREPORTED, ()) for each in (first, second))
        if unreported := list(dict.fromkeys(name for names in lists for name in names)):
            second.metadata[_UNREPORTED] = unreported
        self._call.notes["output_retries"] = 1
        return second


def _has_unparsed_answer(response: LLMResponse) -> bool:
    calls: list[dict[str, Any]] = response.metadata.get("unparsed_calls", [])
    return any(call["name"] == ANSWER_TOOL for call in calls)


def _held_to_schema(call: Call, type_: OutputType[Any]) -> Call:
    form = {"type": "json_schema", "json_schema": type_.schema}
    return replace(call, options={**call.options, "response_format": form})


def _with_tool(call: Call, type_: OutputType[Any]) -> Call:
    answer = Tool(name=ANSWER_TOOL, description=ANSWER_DESCRIPTION, parameters=type_.tool_schema)
    return replace(
        call,
        tools=[*(call.tools or ()), answer],
        options={"tool_choice": "required", **call.options},
    )


def _build_response(response: LLMResponse, output: object) -> StructuredResponse[Any]:
    fields: dict[str, Any] = {name: getattr(response, name) for name in type(response).model_fields}
    fields["output"] = output
    return StructuredResponse[Any].model_construct(**fields)


def _as_text(piece: Piece) -> Piece:
    """Return the arguments of the tool that takes the answer as the text that they are."""
    if isinstance(piece, ToolCallDelta) and piece.name == ANSWER_TOOL:
        return TextDelta(piece.arguments, piece.index)
    return piece


def _add_usage(first: Usage, second: Usage) -> Usage:
    counts = {
        name: None if one is None and other is None else min((one or 0) + (other or 0), MOST_TOKENS)
        for name in Usage.model_fields
        for one, other in [(getattr(first, name), getattr(second, name))]
    }
    return Usage(**cast("dict[str, Any]", counts))
