"""A model that is asked: on a fake provider for the rules, on strict servers for the wire."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest
from fake_step import FakeStep, api_error, response

from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    Fault,
    ModelServer,
    OllamaServer,
    ResponsesServer,
)
from arcllm import (
    ArcLLMAPIError,
    ArcLLMBatchError,
    ArcLLMConfigError,
    LLMProvider,
    LLMResponse,
    Message,
    Model,
    RetractedDelta,
    TextDelta,
    Tool,
    clear_cache,
    load_model,
)
from arcllm.step import Call, Piece

USER = Message(role="user", content="Hi")
TOOL = Tool(name="weather", description="Forecast.", parameters={"type": "object"})
KEY = "a-key-of-the-tests"


@pytest.fixture(autouse=True)
def _no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("ARCLLM_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    clear_cache()
    yield
    clear_cache()


def model_of(step: Any) -> Model:
    return Model(step, step, lambda: None)


async def is_soon(is_so: Callable[[], bool]) -> bool:
    """Wait until the server, which is in another thread, has seen it; no longer than 10 seconds."""
    with anyio.move_on_after(10):
        while not is_so():  # noqa: ASYNC110 -- no event tells it
            await anyio.sleep(0.01)
    return is_so()


SERVERS: dict[str, Callable[[], ModelServer]] = {
    "anthropic:claude-sonnet-4-5": AnthropicServer,
    "openai:gpt-5": ResponsesServer,
    "openai_chat:gpt-4o": ChatServer,
    "ollama:llama3.2": OllamaServer,
}


def served(name: str, server: ModelServer, **options: Any) -> Model:
    key = {} if name.startswith("ollama") else {"api_key": KEY}
    return load_model(name, base_url=server.url, **key, **options)


async def test_a_text_is_one_message_of_the_user() -> None:
    step = FakeStep()

    await model_of(step).complete("Hi")
    await model_of(step).complete([USER])

    assert step.calls == [Call([USER]), Call([USER])]


async def test_tools_and_options_go_along() -> None:
    step = FakeStep()

    await model_of(step).invoke([USER], [TOOL], temperature=0.5, stop=["x"])

    assert step.calls == [Call([USER], [TOOL], {"temperature": 0.5, "stop": ["x"]})]


async def test_the_messages_of_the_program_stay_as_they_are() -> None:
    step, messages = FakeStep(), [USER]

    class Greedy(FakeStep):
        async def complete(self, call: Call) -> LLMResponse:
            call.messages.append(USER)
            return await super().complete(call)

    step = Greedy()
    await model_of(step).complete(messages)

    assert messages == [USER]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ([{"role": "user", "content": "Hi"}],),
            "`messages` holds a `dict` as message 0, of the role `user`,",
        ),
        ((["Hi"],), "`messages` holds a `str` as message 0 (must be text"),
        (([USER], [{"name": "weather"}]), "`tools` holds a `dict` (must be a list of `Tool`)"),
        ((None,), "`messages` is a `NoneType` (must be text, or a list of `Message`)"),
        ((USER,), "`messages` is a `Message` (must be text, or a list of `Message`)"),
        (("Hi", TOOL), "`tools` is a `Tool` (must be a list of `Tool`)"),
    ],
)
async def test_what_is_no_message_or_tool_is_refused_before_anything_is_sent(
    arguments: Any, said: str
) -> None:
    step = FakeStep()
    model = model_of(step)

    for ask in (model.complete_sync, model.stream, model.stream_sync):
        with pytest.raises(TypeError) as caught:
            ask(*arguments)
        assert said in str(caught.value)
    with pytest.raises(TypeError):
        await model.complete(*arguments)
    assert step.calls == []


async def test_what_layers_note_is_in_the_metadata() -> None:
    class Noting(FakeStep):
        async def complete(self, call: Call) -> LLMResponse:
            call.notes["attempts"] = 2
            return await super().complete(call)

        async def stream(self, call: Call) -> AsyncGenerator[Piece]:
            async for piece in super().stream(call):
                yield piece
            call.notes["attempts"] = 2  # after the response

    step = Noting([response(metadata={"request_id": "r"})])
    expected = {"request_id": "r", "attempts": 2}

    assert (await model_of(step).complete("Hi")).metadata == expected
    stream = model_of(step).stream("Hi")
    assert [piece async for piece in stream][-1] == stream.response
    assert stream.response is not None
    assert stream.response.metadata == expected


async def test_a_stream_yields_deltas_then_the_response() -> None:
    step = FakeStep([response("Hello you")])

    pieces = [piece async for piece in model_of(step).stream([USER], [TOOL], temperature=1)]

    assert pieces == [TextDelta("Hello"), TextDelta("you"), response("Hello you")]
    assert step.calls == [Call([USER], [TOOL], {"temperature": 1})]


async def test_a_stream_that_is_left_early_ends_its_call() -> None:
    step = FakeStep([response("Hello you all")])

    async with model_of(step).stream("Hi") as stream:
        async for _ in stream:
            break
        assert step.open == 1
    assert step.open == 0
    async with aclosing(model_of(step).stream("Hi")) as stream:
        await anext(stream)
    assert step.open == 0


@pytest.mark.parametrize("layers", [{}, {"retry": True, "security": True, "telemetry": True}])
def test_a_loop_may_end_with_a_stream_that_was_left(
    layers: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    async def leave() -> None:
        async for _ in served("anthropic", server, **layers).stream("Hi"):
            break

    with AnthropicServer(["word " * 500]) as server:
        asyncio.run(leave())
    gc.collect()
    assert capfd.readouterr().err == ""


async def test_nothing_stays_open_once_the_response_is_there() -> None:
    step = FakeStep()

    async for piece in model_of(step).stream("Hi"):
        if isinstance(piece, LLMResponse):
            assert step.open == 0
            break


# Holds: arcllm-19
async def test_a_bare_and_a_wrapped_model_are_context_managers() -> None:
    step = FakeStep()
    async with model_of(step) as model:
        await model.complete("Hi")
    assert step.closed == 1

    with AnthropicServer() as server:
        for options in ({}, {"retry": True}, {"retry": True, "fallback": {"chain": ["ollama:a"]}}):
            async with served("anthropic:claude-sonnet-4-5", server, **options) as model:
                assert isinstance(model, LLMProvider)
                await model.complete("Hi")
                assert server.connections == 1
            assert await is_soon(lambda: server.connections == 0)


async def test_a_closed_model_answers_again() -> None:
    with AnthropicServer(["one", "two"]) as server:
        async with served("anthropic", server) as model:
            first = await model.complete("Hi")
            await model.close()
            second = await model.complete("Hi")

    assert [first.content, second.content] == ["one", "two"]


@pytest.mark.parametrize("name", SERVERS)
async def test_each_provider_answers_in_every_way(name: str) -> None:
    with SERVERS[name]() as server:
        server.answers = ["Hello there"] * 4
        async with served(name, server) as model:
            whole = await model.complete([USER], max_tokens=2048)
            pieces = [piece async for piece in model.stream("Hi")]
            with pytest.warns(
                RuntimeWarning, match="`complete_sync` was called where an event loop"
            ):
                sync = model.complete_sync("Hi")
            with pytest.warns(RuntimeWarning, match="`stream_sync` was called where an event loop"):
                sync_pieces = list(model.stream_sync("Hi"))
        assert server.refusals == []

    deltas = [piece.text for piece in pieces if isinstance(piece, TextDelta)]
    assert "".join(deltas) == whole.content == sync.content == "Hello there"
    assert isinstance(pieces[-1], LLMResponse)
    assert [type(piece) for piece in sync_pieces] == [type(piece) for piece in pieces]
    assert whole.usage == pieces[-1].usage == sync.usage


async def test_another_model_of_the_provider_is_asked_with_the_same_settings() -> None:
    with AnthropicServer(["Hello"], faults=[Fault(status=500)]) as server:
        chain = {"chain": ["anthropic:claude-haiku-4-5"]}
        model = served("anthropic:claude-sonnet-4-5", server, fallback=chain, max_tokens=20_001)
        async with model:
            answer = await model.complete("Hi")

    assert answer.content == "Hello"
    assert [(each.body["model"], each.body["max_tokens"]) for each in server.requests] == [
        ("claude-sonnet-4-5", 20_001), ("claude-haiku-4-5", 20_001),
    ]  # fmt: skip
    assert {each.headers["x-api-key"] for each in server.requests} == {KEY}


async def test_what_a_service_refuses_is_an_error_of_the_call() -> None:
    with AnthropicServer(faults=[Fault(status=401)] * 2) as server:
        async with served("anthropic", server) as model:
            with pytest.raises(ArcLLMAPIError) as caught:
                await model.complete("Hi")
            assert (caught.value.status_code, caught.value.provider) == (401, "anthropic")
            with pytest.raises(ArcLLMAPIError, match="401"):
                _ = [piece async for piece in model.stream("Hi")]


async def test_the_default_temperature_of_the_file_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "c.toml"
    file.write_text(
        '[providers.work]\napi_format = "openai_chat"\napi_key_required = false\n'
        "default_temperature = 0.25\n[modules.retry]\nenabled = true\n"
        "backoff_base_seconds = 0.001\n"
    )
    monkeypatch.setenv("ARCLLM_CONFIG", str(file))
    with ChatServer(faults=[Fault(status=503)]) as server:
        async with load_model("work:gpt-4o", base_url=server.url) as model:
            answer = await model.complete("Hi")
            await model.complete("Hi", temperature=0.75)

        assert [each.body["temperature"] for each in server.requests] == [0.25, 0.25, 0.75]
        assert {each.headers["authorization"] for each in server.requests} == {"Bearer unused"}
    assert answer.model.startswith("gpt-4o")


def test_a_configuration_is_valid_as_long_as_its_key_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = load_model("openai")

    assert model.validate_config() is True
    monkeypatch.delenv("OPENAI_API_KEY")
    assert model.validate_config() is False
    with pytest.raises(ArcLLMConfigError):
        load_model("openai")


async def test_a_batch_keeps_the_order_and_its_limit() -> None:
    running, most = 0, 0

    class Counting(FakeStep):
        async def complete(self, call: Call) -> LLMResponse:
            nonlocal running, most
            running += 1
            most = max(most, running)
            number = int(str(call.messages[0].content))
            for _ in range(20 - number):
                await anyio.lowlevel.checkpoint()
            running -= 1
            return response(str(number))

    model = model_of(Counting())
    answers = await model.batch([str(number) for number in range(20)], limit=3)

    assert [answer.content for answer in answers] == [str(number) for number in range(20)]
    assert most == 3
    assert await model.batch([]) == []


# Holds: arcllm-21
async def test_a_failure_of_a_batch_does_not_lose_the_other_answers() -> None:
    error = api_error()
    step = FakeStep([response("a"), error, response("c")])

    with pytest.raises(ArcLLMBatchError) as caught:
        await model_of(step).batch(["1", [USER], "3"], limit=1)
    assert caught.value.results == [response("a"), error, response("c")]
    assert caught.value.__cause__ is error
    assert str(caught.value) == f"1 of 3 calls failed; the first: {error}"

    step = FakeStep([response("a"), error, response("c")])
    assert await model_of(step).batch(["1", "2", "3"], limit=1, return_exceptions=True) == [
        response("a"), error, response("c"),
    ]  # fmt: skip


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "8", None])
async def test_a_batch_needs_a_limit_and_a_list(limit: Any) -> None:
    if limit is not True:
        with pytest.raises(ValueError, match="`limit` is"):
            await model_of(FakeStep()).batch(["Hi"], limit=limit)
    with pytest.raises(TypeError, match="`prompts` is text"):
        await model_of(FakeStep()).batch("Hi")  # type: ignore[arg-type]


async def test_a_cancelled_batch_leaves_nothing_open() -> None:
    class Endless(FakeStep):
        async def complete(self, call: Call) -> LLMResponse:
            self.open += 1
            try:
                await anyio.sleep_forever()
            finally:
                self.open -= 1
            raise AssertionError

    step = Endless()
    with anyio.move_on_after(0.05) as scope:
        await model_of(step).batch(["Hi"] * 10)
    assert scope.cancelled_caught
    assert step.open == 0


# Holds: arcllm-20
async def test_a_thousand_calls_at_once_are_answered() -> None:
    with AnthropicServer() as server:
        async with served("anthropic", server) as model:
            answers = await model.batch([f"Number {number}" for number in range(1000)], limit=1000)

        assert len(server.requests) == 1000
    assert {answer.content for answer in answers} == {"Hello! How can I help?"}


# Holds: arcllm-20
def test_a_model_is_shared_by_the_loops_of_threads() -> None:
    answers: list[str | None] = []

    async def ask_often(model: Model) -> None:
        for _ in range(10):
            answers.append((await model.complete("Hi")).content)
            stream = model.stream("Hi")
            answers.extend([piece.content async for piece in stream if piece is stream.response])
        await model.close()

    with AnthropicServer() as server:
        model = served("anthropic", server, retry=True)
        threads = [threading.Thread(target=lambda: asyncio.run(ask_often(model))) for _ in range(6)]
        threads += [
            threading.Thread(target=lambda: answers.append(model.complete_sync("Hi").content))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert answers == ["Hello! How can I help?"] * (6 * 20 + 6)


async def test_a_block_that_was_taken_back_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wavering(FakeStep):
        async def stream(self, call: Call) -> AsyncGenerator[Piece]:
            yield TextDelta("No")
            yield RetractedDelta(0)
            yield TextDelta("Yes")
            yield response("Yes")

    pieces = [piece async for piece in model_of(Wavering()).stream("Hi")]

    assert pieces == [TextDelta("No"), RetractedDelta(0), TextDelta("Yes"), response("Yes")]


async def test_a_call_may_say_for_whom_it_is_and_nobody_sends_it() -> None:
    step = FakeStep()

    answer = await model_of(step).complete("Hi", agent="writer", temperature=0)

    assert answer.metadata == {"agent": "writer"}
    assert [call.options for call in step.calls] == [{"temperature": 0}]
    with pytest.raises(TypeError, match=r"`agent` is '' \(must be a name of 1 to 100 characters\)"):
        await model_of(step).complete("Hi", agent="")


# Holds: layer-20
async def test_the_key_of_the_provider_is_a_secret_for_the_layers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG", "arcllm.audit")
    key = "a-key-that-looks-like-words"
    with AnthropicServer([f"you said: {key}"]) as server:
        model = load_model(
            "anthropic", "claude-sonnet-4-5", base_url=server.url, api_key=key,
            security=True, audit={"include_messages": True},
        )  # fmt: skip
        async with model:
            answer = await model.complete(f"my key is {key}")

    assert answer.content == "you said: [REDACTED:secret]"
    assert answer.metadata["security"] == {"request": ["SECRET"], "response": ["SECRET"]}
    assert key not in caplog.text
    assert "my key is [REDACTED:secret]" in caplog.text


def test_a_plain_for_over_a_stream_says_what_is_right() -> None:
    stream: Any = model_of(FakeStep([response("Hi")])).stream("Hi")
    for take in (iter, list, tuple):
        with pytest.raises(TypeError, match=r"use `async for`, or `model\.stream_sync`"):
            take(stream)
