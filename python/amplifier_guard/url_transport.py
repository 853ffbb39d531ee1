"""An HTTP transport that connects only to checked addresses, for each redirect again."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from typing import Any

import anyio
import httpcore2
import httpx2

from amplifier_core import world
from amplifier_guard.url import Destination, Resolver, UrlDenied, UrlPolicy
from amplifier_guard.url_hop import judge_hop

__all__ = ["CheckedTransport"]


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Sends each request to an address that `policy` has checked.

    The policy checks every request, and the addresses at the moment of connecting, so a name that
    changes afterwards has no effect. The `Host` header and the name in the certificate stay those
    of the URL. Proxy settings and the environment are ignored.

    A redirect must not lead from https to http. From the first hop with another scheme, host or
    port, only headers that hold no key are sent. Looking up a name is part of connecting, for which
    the client's time-out for connections holds.
    """

    def __init__(
        self,
        policy: UrlPolicy,
        *,
        resolve: Resolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """Check with `policy`; `resolve` looks up names, `ssl_context` holds the trusted certificates."""
        self._policy = policy
        self._backend = _CheckedBackend(policy, resolve)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=ssl_context or httpx2.create_ssl_context(trust_env=False),
            network_backend=self._backend,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; raises `UrlDenied` if the policy refuses it."""
        destination = judge_hop(self._policy, request)
        self._backend.destinations[destination.host, destination.port] = destination
        url = httpx2.URL(destination.url)
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=url.raw_scheme,
                host=destination.host,
                port=destination.port,
                target=url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            answer = await world.outside("http", lambda: self._pool.handle_async_request(sent))
        except Exception as error:
            raise _translate_error(error) from error
        return httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer),
            extensions=answer.extensions,  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


class _CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Looks up names, checks the answers, and connects to them in their order."""

    def __init__(self, policy: UrlPolicy, resolve: Resolver | None) -> None:
        self._policy = policy
        self._resolve = resolve
        self._network: Any = httpcore2.AnyIOBackend()
        self.destinations: dict[tuple[str, int], Destination] = {}

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature of every backend
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        destination = self.destinations[host, port]
        failure: Exception | None = None
        try:
            with anyio.fail_after(timeout):
                checked = await self._policy.look_up(destination, self._resolve)
                for address in checked.addresses:
                    try:
                        return await self._network.connect_tcp(
                            address, port, timeout, local_address, socket_options
                        )
                    except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                        failure = error
        except TimeoutError as error:
            message = f"no connection to `{host}` within {timeout or 0:g} s"
            raise httpcore2.ConnectTimeout(message) from error
        raise failure or UrlDenied(f"host `{host}` has no address")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async with aclosing(self._answer.aiter_stream()) as chunks:
                async for chunk in chunks:
                    yield chunk
        except Exception as error:
            raise _translate_error(error) from error

    async def aclose(self) -> None:
        await self._answer.aclose()


def _translate_error(error: Exception) -> Exception:
    """The client's error of the same name as an error of the connection."""
    if isinstance(error, UrlDenied) or not type(error).__module__.startswith("httpcore2"):
        return error
    kind = getattr(httpx2, type(error).__name__, httpx2.TransportError)
    return kind(str(error))
