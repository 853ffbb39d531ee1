"""Calls without `await`: in scripts, in notebooks, in threads, and interrupted."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import closing, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest
import trio
from fake_step import FakeStep, api_error, response

from amplifier_testing.servers import AnthropicServer
from arcllm import ArcLLMAPIError, LLMResponse, Model, TextDelta
from arcllm.step import Call, Piece

PATIENCE = 20
"""Seconds after which something that should have happened will not."""


def model_of(step: Any) -> Model:
    return Model(step, step, lambda: None)


class Endless(FakeStep):
    """Says one word, and then nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.ended = threading.Event()

    async def complete(self, call: Call) -> LLMResponse:
        self.loop = asyncio.get_running_loop()
        self.loop.call_soon(self.begun.set)  # once the call waits
        try:
            await anyio.sleep_forever()
        finally:
            self.ended.set()
        raise AssertionError

    async def stream(self, call: Call) -> AsyncGenerator[Piece]:
        yield TextDelta("Well")
        await self.complete(call)


def test_a_script_gets_answers_and_streams() -> None:
    step = FakeStep([response("Hello you")])
    model = model_of(step)

    assert model.complete_sync("Hi") == response("Hello you")
    assert list(model.stream_sync("Hi")) == [
        TextDelta("Hello"), TextDelta("you"), response("Hello you"),
    ]  # fmt: skip
    assert step.closed == 0  # further calls use the connections


def test_objects_are_answers_too() -> None:
    model = model_of(FakeStep([response("[1]")]))

    assert model.complete_sync("?", output=list[int]).output == [1]
    *_, last = model.stream_sync("?", output=list[int])
    assert isinstance(last, LLMResponse)
    assert last.output == [1]


def test_what_a_call_raises_is_raised() -> None:
    step = FakeStep([api_error()])
    broken = FakeStep([response("Hello you all")], fails_after=2)
    shown: list[Any] = []

    with pytest.raises(ArcLLMAPIError):
        model_of(step).complete_sync("Hi")
    with pytest.raises(ArcLLMAPIError):
        shown.extend(piece for piece in model_of(broken).stream_sync("Hi"))
    with pytest.raises(ArcLLMAPIError):
        list(map(shown.append, model_of(broken).stream_sync("Hi")))
    assert shown[-2:] == [TextDelta("Hello"), TextDelta("you")]
    assert (step.open, broken.open) == (0, 0)


def test_nothing_is_asked_before_a_stream_is_read() -> None:
    step = FakeStep()
    stream = model_of(step).stream_sync("Hi")

    assert step.calls == []
    stream.close()
    assert step.calls == []


@pytest.mark.parametrize("leave", [closing, None])
def test_a_stream_that_is_left_early_ends_its_call(leave: Any) -> None:
    step = Endless()
    stream = model_of(step).stream_sync("Hi")
    if leave is not None:
        with leave(stream):
            assert next(stream) == TextDelta("Well")
    else:
        for _ in stream:
            break
        del stream
        gc.collect()

    assert step.ended.wait(PATIENCE)
    assert [each.name for each in threading.enumerate() if each.name == "stream_sync"] == []


async def test_within_a_loop_it_uses_a_thread_and_warns() -> None:
    model = model_of(FakeStep())

    with pytest.warns(RuntimeWarning, match=r"use `await complete\(...\)`") as caught:
        assert model.complete_sync("Hi") == response()
    with pytest.warns(RuntimeWarning, match=r"use `async for ... in stream\(...\)`") as more:
        assert list(model.stream_sync("Hi"))[-1] == response()
    assert {caught[0].filename, more[0].filename} == {__file__}


async def test_a_notebook_is_not_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = ModuleType("IPython")
    notebook.get_ipython = lambda: object()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", notebook)

    assert model_of(FakeStep()).complete_sync("Hi") == response()
    assert list(model_of(FakeStep()).stream_sync("Hi"))[-1] == response()


def _complete(model: Model) -> None:
    model.complete_sync("Hi")


def _stream(model: Model) -> None:
    for _ in model.stream_sync("Hi"):
        pass


# Holds: arcllm-23
@pytest.mark.parametrize(
    ("ask", "is_in_loop"),
    [(_complete, False), (_complete, True), (_stream, False), (_stream, True)],
)
@pytest.mark.filterwarnings("ignore:.*event loop runs:RuntimeWarning")
def test_ctrl_c_ends_the_call(ask: Callable[[Model], None], is_in_loop: bool) -> None:
    step = Endless()
    model, main = model_of(step), threading.main_thread().ident or 0

    def press() -> None:
        step.begun.wait(PATIENCE)
        signal.pthread_kill(main, signal.SIGINT)
        # A signal that comes as the loop begins to wait would be seen at its next event alone.
        with suppress(RuntimeError):
            step.loop.call_soon_threadsafe(bool)

    async def within() -> None:
        ask(model)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(within()) if is_in_loop else ask(model)
    presser.join()
    assert step.ended.wait(PATIENCE)


@pytest.mark.filterwarnings("ignore:.*event loop runs:RuntimeWarning")
@pytest.mark.parametrize("library", ["asyncio", "trio"])
def test_ctrl_c_between_two_pieces_ends_the_stream_too(library: str) -> None:
    step = Endless()

    async def within() -> None:
        for _ in model_of(step).stream_sync("Hi"):
            step.begun.wait(PATIENCE)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(within()) if library == "asyncio" else trio.run(within)
    assert step.ended.wait(PATIENCE)


@pytest.mark.filterwarnings("ignore:.*event loop runs:RuntimeWarning")
def test_a_task_that_was_cancelled_before_may_still_read_a_stream() -> None:
    async def within() -> int:
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            return len(list(model_of(FakeStep()).stream_sync("Hi")))
        raise AssertionError

    async def main() -> int:
        task = asyncio.ensure_future(within())
        await asyncio.sleep(0)
        task.cancel()
        return await task

    assert asyncio.run(main()) > 1


def test_many_threads_share_a_model() -> None:
    step = FakeStep([response("Hello you")])
    model = model_of(step)
    answers: list[Any] = []

    def ask() -> None:
        answers.append(model.complete_sync("Hi"))
        answers.append(list(model.stream_sync("Hi"))[-1])

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [response("Hello you")] * 32


def test_a_model_that_nobody_has_is_freed() -> None:
    model = model_of(FakeStep())
    model.complete_sync("Hi")
    list(model.stream_sync("Hi"))
    freed = weakref.ref(model)
    del model
    gc.collect()

    assert freed() is None


NOTEBOOK = """
import asyncio, sys
from types import ModuleType

notebook = sys.modules["IPython"] = ModuleType("IPython")
notebook.get_ipython = lambda: notebook

from arcllm import load_model

async def cell():
    model = load_model("anthropic", base_url=sys.argv[1], api_key="a-key-of-tests")
    print(model.complete_sync("Hi").content)
    print(list(model.stream_sync("Hi"))[-1].content)
    print((await model.complete("Hi")).content)
    await model.close()

asyncio.run(cell())
"""


# Holds: arcllm-23
def test_a_cell_of_a_notebook_asks_in_every_way(tmp_path: Path) -> None:
    with AnthropicServer(["one", "two", "three"]) as server:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", NOTEBOOK, server.url],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )

    assert (done.returncode, done.stderr, done.stdout) == (0, "", "one\ntwo\nthree\n")
