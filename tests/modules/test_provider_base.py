"""Providers in a few lines: what they may yield."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_agent import Agent, BaseProvider, Result, ScriptedProvider, TextDelta
from amplifier_core.message_models import ChatRequest, ChatResponse, TextBlock
from amplifier_core.models import ModelInfo


class Model(BaseProvider):
    name = "model"

    def __init__(self, *pieces: Any) -> None:
        self.pieces = pieces

    async def chunks(self, request: Any, **options: Any) -> Any:
        for piece in self.pieces:
            yield piece


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
async def test_the_texts_are_the_answer_unless_a_response_is(loop: str) -> None:
    whole = ChatResponse(content=[TextBlock(text="whole")])
    for pieces, text in ((("a ", "b"), "a b"), ((), ""), (("a ", "b", whole), "whole")):
        result: Result[None] = await Agent(Model(*pieces), loop=loop).run("hi")
        assert (result.text, result.status) == (text, "completed")


@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
async def test_a_piece_that_is_no_text_is_refused_and_not_dropped(loop: str) -> None:
    with pytest.raises(TypeError, match="`chunks` of `Model` yielded a `int`"):
        await Agent(Model("a", 3), loop=loop).run("hi")


async def shown(provider: Any) -> list[str]:
    """The texts that are shown of an answer, as they come."""
    async with Agent(provider).stream("hi") as events:
        return [event.text async for event in events if isinstance(event, TextDelta)]


def test_no_provider_has_the_attribute_that_makes_loops_of_others_stream() -> None:
    for provider in (Model(), ScriptedProvider(["hi"])):
        assert not hasattr(provider, "stream")


async def test_chunks_are_shown_as_they_come() -> None:
    assert await shown(Model("a ", "b")) == ["a ", "b"]


async def test_a_provider_that_defines_complete_is_asked_by_it() -> None:
    class Whole(Model):
        async def complete(self, request: Any, **options: Any) -> ChatResponse:
            return await super().complete(request, **options)

    assert await shown(Whole("a ", "b")) == ["a b"]


async def test_chunks_of_a_provider_without_the_base_class_are_its_own_affair() -> None:
    class Plain:
        name = "plain"

        def chunks(self, request: Any, **options: Any) -> Any:
            raise AssertionError("not asked")

        async def complete(self, request: Any, **options: Any) -> ChatResponse:
            return ChatResponse(content=[TextBlock(text="a b")])

        def parse_tool_calls(self, response: ChatResponse) -> list[Any]:
            return []

        def get_info(self) -> Any: ...

        async def list_models(self) -> list[Any]:
            return []

    assert await shown(Plain()) == ["a b"]


def test_a_provider_knows_no_budget_unless_it_knows_its_model() -> None:
    class Known(Model):
        def get_model_info(self) -> ModelInfo:
            return ModelInfo(
                id="m", display_name="M", context_window=100_000, max_output_tokens=20_000
            )

    asking = ChatRequest(messages=[], max_output_tokens=50_000)

    assert (Model().get_model_info(), Model().request_budget(asking)) == (None, None)
    assert Known().request_budget() == 100_000 - 10_000 - 4_096
    assert Known().request_budget(asking) == 50_000, "never less than half of the window"
