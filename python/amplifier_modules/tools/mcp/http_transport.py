"""The way to a server that runs elsewhere: checked addresses, and bounded answers."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2

from amplifier_guard.url import UrlPolicy
from amplifier_guard.url_transport import CheckedTransport

from .message_lines import MAX_MESSAGE_BYTES, MessageTooLongError
from .server_entry import Address, find_port

_CONNECT_SECONDS = 30.0


@asynccontextmanager
async def open_http(
    address: Address, *, allows_private: bool = False, auth: httpx2.Auth | None = None
) -> AsyncGenerator[Any]:
    """Open the way to a server by streamable HTTP.

    Args:
        address: Where it is.
        allows_private: Whether it may be in a private network; this machine always may.
        auth: Adds a token to each request.
    """
    from mcp.client.streamable_http import streamable_http_client

    policy = UrlPolicy(
        ports=(find_port(address.url),),
        deny_private=not (allows_private or is_loopback(address.url)),
    )
    client = httpx2.AsyncClient(
        transport=BoundedTransport(CheckedTransport(policy)),
        auth=auth,
        # Packed, a small answer can be a large one.
        headers={**address.headers, "Accept-Encoding": "identity"},
        # Calls have a time limit of their own, and what waits for changes has none.
        timeout=httpx2.Timeout(_CONNECT_SECONDS, read=None),
        trust_env=False,
    )
    async with (
        client,
        streamable_http_client(
            address.url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES
        ) as streams,
    ):
        yield streams


def is_loopback(url: str) -> bool:
    """Whether an address says that it is on this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Ends an answer that is larger than any message; a stream of events has no end."""

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        """Bound the answers that come by a transport."""
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        response = await self._transport.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.DecodingError("the server packs its answers, which nobody has asked for")
        if "text/event-stream" in response.headers.get("content-type", ""):
            return response
        return httpx2.Response(
            status_code=response.status_code,
            headers=response.headers,
            stream=_BoundedBody(response.stream),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, stream: object) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.ReadError(str(MessageTooLongError(MAX_MESSAGE_BYTES)))
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
