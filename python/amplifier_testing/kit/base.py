"""What the author of a provider says about it, and what all tests of the kit share."""

from __future__ import annotations

import inspect
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from types import FunctionType
from typing import Any

import anyio
import pytest
import sniffio

from amplifier_core.message_models import ChatRequest

from ..servers import ModelServer, Script
from .bench import Bench
from .clock import KitClock
from .failing import fail
from .recorder import KitHooks
from .returned import checked_awaitable, checked_pieces, checked_provider

SECRET = b"the secret of the kit"
"""What servers sign with: equal answers are equal to the byte."""
HANGS = 60
"""Seconds after which a call counts as hanging."""
_anyio_sleep = anyio.sleep


class ProviderUnderTest:
    """What the kit knows about a provider; its author overrides it."""

    server: Callable[..., ModelServer]
    """The strict server of the dialect: a class, or a function that makes one with its arguments."""
    key: str = "sk-kit-3f9a1c7e5b2d4a60"
    """The API key that the server demands, and that nothing may ever say."""
    backends: tuple[str, ...] = ("asyncio", "trio")
    """The event loops under which the provider works."""
    thinking: bool = True
    """Whether the model thinks, and the provider returns its thoughts and sends them back."""
    images: bool = True
    """Whether the provider sends the images of messages."""
    retries: bool = True
    """Whether the provider asks again by itself after a failure that may pass."""
    models: bool = True
    """Whether `list_models` asks the service."""
    call_ids: bool = True
    """Whether the dialect has ids of calls."""
    cached_tokens: bool = True
    """Whether the dialect counts the tokens that were in a cache."""
    stride: int = 1
    """Bytes from one cut of a stream to the next; 1 tries every byte."""
    pieces: int = 40
    """How many sizes of pieces a stream is split into, besides the eight smallest."""
    histories: int = 60
    """How many random histories are sent."""
    patches_clocks: bool = True
    """Whether the clocks and `sleep` of the libraries are replaced, too; False for a provider that
    reads the time of `amplifier_core.world` and waits there."""

    def provider(self, base_url: str, hooks: Any) -> Any:
        """Make the provider.

        Args:
            base_url: The address of the server.
            hooks: The registry that gets its events; a provider without events needs none.
        """
        raise NotImplementedError(f"`{type(self).__name__}` must define `provider`")

    def base_url(self, server: Any) -> str:
        """Return the address that a provider is given, which is `url` of the server."""
        return server.url

    @cached_property
    def clock(self) -> KitClock:
        """The time of this test: for a provider that takes a clock or a `sleep`."""
        return KitClock()


class KitBase(ProviderUnderTest):
    """What the tests of the kit share."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test under each event loop of the provider."""
        if "backend" in metafunc.fixturenames:
            metafunc.parametrize("backend", self.backends)

    def run(
        self, check: Callable[[], Awaitable[None]], backend: str, *, seconds: float = HANGS
    ) -> None:
        """Run a check under an event loop, where waits take no time; one that hangs fails."""
        if backend == "trio":
            pytest.importorskip("trio", reason="trio is not installed")

        async def run_guarded() -> None:
            with anyio.CancelScope() as scope, _cancel_after(scope, seconds):
                await check()
            if scope.cancelled_caught:
                fail(f"a call did not end within {seconds} s")

        with self.clock.use(patches=self.patches_clocks):
            anyio.run(run_guarded, backend=backend)

    @contextmanager
    def serving(self, answers: Iterable[Script] = (), **options: Any) -> Any:
        """Run the server of the dialect, which demands the key."""
        declared = inspect.getattr_static(type(self), "server", None)
        if declared is None:
            raise NotImplementedError(f"`{type(self).__name__}` must define `server`")
        is_method = isinstance(declared, FunctionType | classmethod)
        make: Any = declared.__func__ if isinstance(declared, staticmethod) else declared
        if is_method:
            make = self.server
        with make(answers, **{"api_key": self.key, "secret": SECRET, **options}) as server:
            server.clock = self.clock.monotonic
            yield server

    @asynccontextmanager
    async def bench(
        self, answers: Iterable[Script] = (), *, server: ModelServer | None = None, **options: Any
    ) -> AsyncGenerator[Bench]:
        """Give a provider of its own beside its server, and close it at the end.

        Args:
            answers: What the server answers.
            server: A server that runs already.
            **options: Those of the server.
        """
        if server is None:
            with self.serving(answers, **options) as started:
                async with self.bench(server=started) as bench:
                    yield bench
            return
        hooks = KitHooks()
        provider = self.make_provider(self.base_url(server), hooks)
        server.requests.clear()
        server.refusals.clear()
        try:
            yield Bench(provider, server, hooks)
        finally:
            await close(provider)

    def make_provider(self, base_url: str, hooks: Any) -> Any:
        """Return the provider that its author makes."""
        return checked_provider(self.provider(base_url, hooks), self)

    def check_claim(self, name: str) -> None:
        """Skip a test about what the provider does not claim, and say so."""
        if not getattr(self, name):
            pytest.skip(f"the provider does not claim it: `{name} = False`")

    def chunks_of(self, bench: Bench) -> Callable[..., Any]:
        """Return `chunks` of a provider, or skip a test about it."""
        chunks = getattr(bench.provider, "chunks", None)
        if chunks is None:
            pytest.skip("the provider has no `chunks`")

        def check_pieces(request: ChatRequest) -> AsyncGenerator[Any]:
            return checked_pieces(chunks(request))

        return check_pieces


@contextmanager
def _cancel_after(scope: anyio.CancelScope, seconds: float) -> Generator[None]:
    """Cancel after so many seconds by a watch of its own: the time of the loop leaps."""
    if sniffio.current_async_library() == "trio":
        import trio

        call = trio.lowlevel.current_trio_token().run_sync_soon
    else:
        import asyncio

        call = asyncio.get_running_loop().call_soon_threadsafe
    timer = threading.Timer(seconds, call, [scope.cancel])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


async def close(provider: Any) -> None:
    """Close a provider that can be closed."""
    closing = getattr(provider, "close", None)
    if closing is not None:
        await checked_awaitable(closing(), "close")


async def wait_until(condition: Callable[[], bool], seconds: float = 5) -> bool:
    """Wait until a condition holds, and tell whether it did."""
    with anyio.move_on_after(seconds):
        while not condition():
            await _anyio_sleep(0.002)
        return True
    return False
