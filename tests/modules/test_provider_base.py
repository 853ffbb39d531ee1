"""Providers in a few lines: what they may yield."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_agent import Agent, BaseProvider, Result
from amplifier_core.message_models import ChatResponse, TextBlock


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
