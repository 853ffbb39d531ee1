"""The server: it listens, and ends its streams before it ends itself."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn
from typing_extensions import override

from amplifier_guard import Rate

from ..opening import StorePlace, open_store
from .access import USUAL_RATE, Access, Tokens, is_loopback
from .app import make_app
from .tokens import TokenFile

logger = logging.getLogger(__name__)

_CLOSE_SECONDS = 5
_BACKLOG = 128
_MAX_CONNECTIONS = 1000


class Server:
    """Serves the sessions of a store over HTTP, those of an owner to each."""

    def __init__(
        self,
        store: StorePlace,
        tokens: Tokens,
        *,
        names: Sequence[str] = (),
        folders: Sequence[str] = (),
        rate: Rate = USUAL_RATE,
        say: Callable[[str], object] = logger.info,
    ) -> None:
        """Describe a server; nothing is opened yet.

        Args:
            store: Where the sessions are that workers run.
            tokens: Whose tokens are whose.
            names: Names by which clients reach the server, beside those of this machine.
            folders: New sessions may work in these folders and what is in them; else in that of the
                agent alone.
            rate: How many requests each owner may make.
            say: Takes a line about where it listens, and about what fails.
        """
        self._place = store
        self._tokens = tokens
        self._names = names
        self._folders = folders
        self._rate = rate
        self._say = say
        self._is_stopping = False
        self._running: _Uvicorn | None = None
        self.port = 0
        """Where it listens; 0 before that."""

    def stop(self) -> None:
        """End the streams and `run`; from any thread."""
        self._is_stopping = True
        if self._running is not None:
            self._running.should_exit = True

    async def run(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Serve until `stop`.

        Args:
            host: Where to listen; others than this machine reach it only where it is another one.
            port: The port; 0 for any that is free.

        Raises:
            ValueError: Others could reach a server that has no tokens.
            OSError: Nothing can listen there.
            ConfigurationError: The store cannot be opened.
        """
        if not is_loopback(host) and not has_tokens(self._tokens):
            raise ValueError(
                f"others can reach `{host}`, and there are no tokens"
                " (`amplifier-core serve token add OWNER` makes one)"
            )
        with listen(host, port) as listener:
            self.port = listener.getsockname()[1]
            async with open_store(self._place) as store:
                ended = anyio.Event()
                app: Any = make_app(store, ended, self._folders, self._say)
                config = uvicorn.Config(
                    Access(app, self._tokens, host, self._names, self._rate),
                    log_config=None,
                    lifespan="off",
                    access_log=False,
                    server_header=False,
                    limit_concurrency=_MAX_CONNECTIONS,
                    timeout_graceful_shutdown=_CLOSE_SECONDS,
                )
                self._running = _Uvicorn(config, ended)
                self._running.should_exit = self._is_stopping
                shown = f"[{host}]" if ":" in host else host
                self._say(f"serves at http://{shown}:{self.port}")
                await self._running.serve(sockets=[listener])


class _Uvicorn(uvicorn.Server):
    """A server that leaves signals to others, and ends streams before it waits for requests."""

    def __init__(self, config: uvicorn.Config, ended: anyio.Event) -> None:
        super().__init__(config)
        self._ended = ended

    @override
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ended.set()
        await super().shutdown(sockets)


def has_tokens(tokens: Tokens) -> bool:
    """Whether a file of tokens has one."""
    return isinstance(tokens, TokenFile) and bool(tokens.list_tokens())


@contextmanager
def listen(host: str, port: int) -> Generator[socket.socket]:
    """Listen at an address.

    Raises:
        OSError: Nothing can.
    """
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    with socket.create_server((host, port), family=family, backlog=_BACKLOG) as listener:
        yield listener
