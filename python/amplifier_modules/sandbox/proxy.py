"""The proxy through which commands without a network reach the hosts that they may reach."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from socket import socket
from threading import Lock, Thread
from weakref import WeakSet

from .network.address import LookUp, judge_addresses, look_up_host
from .network.patience import call_in_thread
from .network.problem import ProxyProblem
from .network.refusals import Refusals
from .network.relay import Relay, Side, make_side, open_side
from .network.request import PlainRequest, TunnelRequest, parse_head
from .network.rules import HostRules

logger = logging.getLogger(__name__)

_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


def proxy_environment(port: int) -> dict[str, str]:
    """The variables that lead programs to a proxy on a port of the loopback address."""
    address = f"http://127.0.0.1:{port}"
    # Whichever of these forms a program knows; `0.0.0.0` is what servers say that they listen at.
    own = "localhost,127.0.0.1,127.0.0.0/8,0.0.0.0,::1"
    names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    return {
        **dict.fromkeys(names, address),
        "no_proxy": own,
        "NO_PROXY": own,
        "NODE_USE_ENV_PROXY": "1",
    }


@dataclass(frozen=True)
class ProxyLimits:
    """What clients of a proxy may use of it."""

    connections: int = 200
    """Connections at once; a further one is answered with 503."""
    head_bytes: int = 64 * 1024
    """The longest head of a request."""
    head_seconds: float = 20
    """How long the head of a request may take."""
    connect_seconds: float = 15
    """How long a connection to one address may take."""
    idle_seconds: float = 600
    """How long a connection may stay without a byte in either direction."""


class HostProxy:
    """Serves `CONNECT` and requests of plain HTTP to the hosts that rules allow.

    A name is judged, looked up once, and each of its addresses is judged; the connection goes to
    one of these addresses. What is inside a tunnel is not read, but for the name of the server that
    a client of TLS names first, which must be the one of `CONNECT`.

    All connections are served in one thread. A look-up or a decision that is under way at `close`
    runs on in a thread that nothing waits for.

    Args:
        listener: A listening socket of TCP, which is closed with the proxy.
        rules: Decide which hosts may be reached.
        limits: What clients may use.
        look_up: Returns the addresses of a host name.
    """

    def __init__(
        self,
        listener: socket,
        rules: HostRules,
        *,
        limits: ProxyLimits | None = None,
        look_up: LookUp = look_up_host,
    ) -> None:
        listener.setblocking(False)
        self._listener = listener
        self._rules = rules
        self._limits = limits or ProxyLimits()
        self._look_up = look_up
        self._refusals = Refusals()
        self._watching = WeakSet[Refusals]()
        self._lock = Lock()
        self._connections = 0
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._thread = Thread(target=self._run, name="amplifier-proxy", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close all connections and the socket that listens; returns when this is done."""
        self.end()
        self._thread.join()

    def end(self) -> None:
        """Begin to close; returns at once."""
        with suppress(RuntimeError):  # it is closed
            self._loop.call_soon_threadsafe(self._closing.set)

    def refusals(self) -> list[str]:
        """What was refused and why, each once, the first ones first."""
        return self._refusals.list_reasons()

    def watch_refusals(self) -> Refusals:
        """Return what takes those from now on, as long as somebody has it."""
        watching = Refusals()
        with self._lock:
            self._watching.add(watching)
        return watching

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._listen())

    async def _listen(self) -> None:
        server = await asyncio.start_server(
            self._serve_client, sock=self._listener, limit=self._limits.head_bytes
        )
        try:
            await self._closing.wait()
        finally:
            server.close()

    async def _serve_client(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        client = make_side(reader, writer)
        self._connections += 1
        try:
            if self._connections > self._limits.connections:
                # Not waited for: nobody may hold more connections than the limit.
                writer.write(ProxyProblem(503, "too many connections at once").write_answer())
            else:
                await self._serve_request(client)
                await client.finish()
        except ProxyProblem as problem:
            if problem.status == 403:
                self._note(problem.text)
            await _answer(client, problem)
        except OSError:
            pass
        except Exception:
            logger.exception("a connection of the proxy failed")
            await _answer(client, ProxyProblem(500, "the request could not be judged"))
        finally:
            self._connections -= 1
            writer.transport.abort()

    async def _serve_request(self, client: Side) -> None:
        head = await self._read_head(client.reader)
        if not head:
            return
        request = parse_head(head)
        judge = partial(judge_addresses, request.destination, self._rules, self._look_up)
        addresses = await call_in_thread(judge)
        server = await self._connect(request, addresses)
        try:
            await self._move_bytes(client, server, request)
        finally:
            server.writer.transport.abort()

    async def _read_head(self, reader: asyncio.StreamReader) -> bytes:
        """Read the head of a request; empty if the client says nothing."""
        try:
            async with asyncio.timeout(self._limits.head_seconds):
                return await reader.readuntil(b"\r\n\r\n")
        except TimeoutError as error:
            raise ProxyProblem(408, "the head of the request took too long") from error
        except asyncio.LimitOverrunError as error:
            raise ProxyProblem(431, "the head of the request is too long") from error
        except asyncio.IncompleteReadError as error:
            if error.partial:
                raise ProxyProblem(400, "the head of the request is incomplete") from error
            return b""

    async def _connect(self, request: TunnelRequest | PlainRequest, addresses: list[str]) -> Side:
        failure: OSError | None = None
        port = request.destination.port
        for address in addresses:
            try:
                async with asyncio.timeout(self._limits.connect_seconds):
                    return await open_side(address, port)
            except OSError as error:
                failure = error
        host = request.destination.host
        if isinstance(failure, TimeoutError):
            raise ProxyProblem(504, f"`{host}` did not answer in time") from failure
        reason = os.strerror(failure.errno) if failure and failure.errno else "no reason is known"
        raise ProxyProblem(502, f"no connection to `{host}`: {reason}") from failure

    async def _move_bytes(
        self, client: Side, server: Side, request: TunnelRequest | PlainRequest
    ) -> None:
        relay = Relay(client, server, self._limits.idle_seconds)
        destination = request.destination
        if isinstance(request, TunnelRequest):
            client.writer.write(_ESTABLISHED)
            with suppress(TimeoutError):
                name = None if destination.address else destination.host
                if refusal := await relay.run_tunnel(name):
                    self._note(refusal)
                else:
                    await server.finish()
            return
        server.writer.write(request.head)
        with suppress(OSError):
            await relay.run_request(request.body)
        if not relay.has_answered:
            raise ProxyProblem(502, f"`{destination.host}` did not answer")

    def _note(self, refusal: str) -> None:
        with self._lock:
            watching = [self._refusals, *self._watching]
        for each in watching:
            each.add(refusal)


async def _answer(client: Side, problem: ProxyProblem) -> None:
    client.write_last(problem.write_answer())
    await client.finish()
