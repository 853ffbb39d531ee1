"""What type checkers make of calls; pyright checks this file, nothing runs it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Literal, assert_type

from pydantic import BaseModel

from arcllm import (
    ArcLLMBatchError,
    Delta,
    LLMProvider,
    LLMResponse,
    Message,
    Model,
    ModelStream,
    StructuredResponse,
    Tool,
    load_model,
)


class City(BaseModel):
    name: str


async def ask(messages: list[Message], tools: list[Tool]) -> None:
    model = load_model("openai", "gpt-5", retry=True, fallback={"chain": ["ollama"]}, timeout=3)
    provider: LLMProvider = model

    assert_type(model, Model)
    assert_type(await provider.complete(messages, tools, temperature=1), LLMResponse)
    assert_type(await model.complete("Hi"), LLMResponse)
    assert_type(await model.invoke(messages, tools, temperature=1), LLMResponse)
    assert_type(await model.complete("Hi", output=City), StructuredResponse[City])
    assert_type((await model.complete("Hi", output=list[int])).output, list[int])
    assert_type((await model.complete("Hi", tools, output=City)).output, City | None)
    assert_type(model.complete_sync("Hi", output=City).output, City)
    assert_type(model.stream("Hi"), ModelStream[LLMResponse])
    async for piece in model.stream("Hi", output=City):
        assert_type(piece, Delta | StructuredResponse[City])
    assert_type(model.stream_sync("Hi"), Generator[Delta | LLMResponse])
    assert_type(await model.batch(["Hi", messages]), list[LLMResponse])
    assert_type(await model.batch(["Hi"], return_exceptions=True), list[LLMResponse | Exception])
    assert_type(await model.batch(["Hi"], output=City), list[StructuredResponse[City]])
    # What is no class, such as a `Literal`, has a type that checkers cannot follow.
    response = await model.complete("Hi", output=Literal["yes", "no"])
    assert_type(response, StructuredResponse[Any])
    try:
        await model.batch(["Hi"], tools)
    except ArcLLMBatchError as error:
        assert_type(error.results, list[LLMResponse | Exception])
