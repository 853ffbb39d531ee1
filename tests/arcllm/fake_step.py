"""A provider in memory, and a clock that only moves when somebody sleeps."""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel

from arcllm import ArcLLMAPIError, LLMResponse, Message, Usage
from arcllm.deltas import TextDelta
from arcllm.step import Call, Piece

Answer: TypeAlias = LLMResponse | Exception | Callable[[Call], LLMResponse]


def response(text: str = "Hello", **fields: Any) -> LLMResponse:
    usage = Usage(input_tokens=10, output_tokens=5, total_tokens=15)
    values = {"content": text, "usage": usage, "model": "small", "stop_reason": "end_turn"}
    return LLMResponse(**{**values, **fields})


def api_error(status: int | None = 503, retry_after: float | None = None) -> ArcLLMAPIError:
    return ArcLLMAPIError(status, "overloaded", "fake", retry_after)


def ask(text: str = "Hi", **fields: Any) -> Call:
    return Call([Message(role="user", content=text)], **fields)


@dataclass
class Clock:
    """The time in nanoseconds; `sleep` moves it on."""

    now: int = 0
    slept: list[float] = field(default_factory=list[float])
    pause: Callable[[], Awaitable[object]] = anyio.lowlevel.checkpoint
    """Awaited in each sleep."""

    def __call__(self) -> int:
        return self.now

    def seconds(self) -> float:
        return self.now / 1e9

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self.pause()
        self.now += round(seconds * 1e9)


@dataclass
class FakeStep:
    """Answers with what it was given, the last of it again and again.

    A stream yields each word of the text, then the response; `fails_after` words it breaks off.
    """

    answers: list[Answer] = field(default_factory=lambda: [response()])
    name: str = "fake"
    model_name: str = "small"
    fails_after: int | None = None
    calls: list[Call] = field(default_factory=list[Call])
    """The calls, as they came."""
    open: int = 0
    """The connections that are open."""
    closed: int = 0
    """How often it was closed."""
    pause: Callable[[], Awaitable[object]] = anyio.lowlevel.checkpoint
    """Awaited wherever a provider would wait for its service."""
    info: Any = None
    dollars_a_token: Any = None

    async def complete(self, call: Call) -> LLMResponse:
        answer = self._next(call)
        self.open += 1
        try:
            await self.pause()
            if isinstance(answer, Exception):
                raise answer
            return answer
        finally:
            self.open -= 1

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        answer = self._next(call)
        self.open += 1
        try:
            await self.pause()
            if isinstance(answer, Exception):
                raise answer
            for count, word in enumerate((answer.content or "").split()):
                if count == self.fails_after:
                    raise api_error()
                yield TextDelta(word)
                await self.pause()
            yield answer
        finally:
            self.open -= 1

    async def close(self) -> None:
        await self.pause()
        self.closed += 1

    def get_model_info(self) -> Any:
        return self.info

    def input_cost(self, tokens: int) -> Any:
        return None if self.dollars_a_token is None else self.dollars_a_token * tokens

    def _next(self, call: Call) -> LLMResponse | Exception:
        answer = self.answers[min(len(self.calls), len(self.answers) - 1)]
        self.calls.append(copy.deepcopy(call))
        if isinstance(answer, Exception):
            return answer
        return answer(call) if callable(answer) else answer.model_copy(deep=True)


async def take(pieces: AsyncGenerator[Piece], shown: list[Piece]) -> None:
    """Append what a stream yields, so that it is known where it breaks off."""
    async for piece in pieces:
        shown.append(piece)  # noqa: PERF401 -- a comprehension would lose all at an error
