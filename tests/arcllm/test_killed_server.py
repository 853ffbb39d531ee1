"""A server process that is killed: a typed error that says so, nothing left open, and then it works."""

from __future__ import annotations

import sys
from typing import Any

import anyio
import pytest
from killed_server import Moment, serving

from arcllm import ArcLLMAPIError, LLMResponse, Model, TextDelta, load_model

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="reads the table of connections of Linux"
)
HANGS = 30
MOMENTS = pytest.mark.parametrize(
    ("moment", "shown", "said"),
    [
        ("before", [], "lost the connection to `http://127.0.0.1:"),
        ("middle", ["Hel"], "the answer of `m` was cut off: peer"),
    ],
)


def model_of(url: str) -> Model:
    return load_model("openai_chat:m", base_url=url, api_key="a-key")


def check(error: ArcLLMAPIError, said: str) -> None:
    assert str(error).startswith(f"`openai_chat`: {said}")
    assert (error.status_code, error.provider, error.retryable) == (None, "openai_chat", True)


# Holds: arcllm-12
@MOMENTS
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_call_whose_server_is_killed_ends_and_the_next_one_works(
    moment: Moment, shown: list[str], said: str, is_stream: bool
) -> None:
    pieces: list[str] = []

    async def ask(model: Model) -> Any:
        if not is_stream:
            return (await model.complete("Hi")).content
        answer = None
        async for piece in model.stream("Hi"):
            if isinstance(piece, TextDelta):
                pieces.append(piece.text)
            answer = piece.content if isinstance(piece, LLMResponse) else None
        return answer

    with anyio.fail_after(HANGS):
        with serving(moment) as server, server.killed_once_asked():
            model = model_of(server.url)
            with pytest.raises(ArcLLMAPIError) as caught:
                await ask(model)
        check(caught.value, said)
        assert pieces == (shown if is_stream else [])
        assert server.connections == 0

        with serving("never", server.port) as again:
            assert await ask(model) == "Hello"
            await model.close()
            assert again.connections == 0


# Holds: arcllm-12
@MOMENTS
@pytest.mark.parametrize("is_stream", [False, True])
def test_a_call_without_await_whose_server_is_killed_ends_and_the_next_one_works(
    moment: Moment, shown: list[str], said: str, is_stream: bool
) -> None:
    pieces: list[str] = []

    def ask(model: Model) -> Any:
        if not is_stream:
            return model.complete_sync("Hi").content
        answer = None
        for piece in model.stream_sync("Hi"):
            if isinstance(piece, TextDelta):
                pieces.append(piece.text)
            answer = piece.content if isinstance(piece, LLMResponse) else None
        return answer

    with serving(moment) as server, server.killed_once_asked():
        model = model_of(server.url)
        with pytest.raises(ArcLLMAPIError) as caught:
            ask(model)
    check(caught.value, said)
    assert pieces == (shown if is_stream else [])
    assert server.connections == 0

    with serving("never", server.port) as again:
        assert [ask(model), ask(model)] == ["Hello", "Hello"]
        assert again.connections == 1  # kept for further calls


async def test_a_server_that_was_killed_between_two_calls_is_asked_over_a_new_connection() -> None:
    with anyio.fail_after(HANGS):
        with serving("never") as server:
            model = model_of(server.url)
            assert (await model.complete("Hi")).content == "Hello"
            assert server.connections == 1
            server.kill()
        with pytest.raises(ArcLLMAPIError, match="cannot connect to") as caught:
            await model.complete("Hi")
        assert caught.value.retryable
        assert server.connections == 0

        with serving("never", server.port):
            assert (await model.complete("Hi")).content == "Hello"
            await model.close()


async def test_many_streams_of_a_server_that_is_killed_all_end() -> None:
    errors: list[ArcLLMAPIError] = []
    with anyio.fail_after(HANGS), serving("middle") as server:
        model = model_of(server.url)
        begun = anyio.Event()

        async def ask() -> None:
            try:
                async for _ in model.stream("Hi"):
                    begun.set()
            except ArcLLMAPIError as error:
                errors.append(error)

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(ask)
            await begun.wait()
            server.kill()
        assert len(errors) == 8
        assert server.connections == 0
        await model.close()
