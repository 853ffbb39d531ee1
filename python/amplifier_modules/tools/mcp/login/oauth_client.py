"""The HTTP client of logins: requests go to checked addresses only, and never plain over a network."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

import httpx2

from amplifier_guard.url import UrlDenied, UrlPolicy
from amplifier_guard.url_transport import CheckedTransport
from amplifier_modules.tools.mcp.http_transport import BoundedTransport, is_loopback

_SECONDS = 30.0
_ALL_PORTS = range(1, 65_536)


def open_oauth_client(url: str, *, allows_private: bool = False) -> httpx2.AsyncClient:
    """Return a client for what belongs to a login to one server.

    The server names the addresses. One that runs elsewhere cannot have requests sent to this machine,
    or to a private network unless that is allowed.

    Args:
        url: The address of the server.
        allows_private: Whether servers may be in a private network.
    """
    silence_sdk()
    return httpx2.AsyncClient(
        transport=BoundedTransport(_LoginTransport(url, allows_private=allows_private)),
        headers={"Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(_SECONDS),
        trust_env=False,
    )


def silence_sdk() -> None:
    """Keep the SDK from logging what authorization servers answer: it may repeat a code or a key."""
    logger = logging.getLogger("mcp.client.auth")
    logger.propagate = False
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def is_safe_address(url: str, server: str) -> bool:
    """Whether a login to a server may use an address: by HTTPS, on this machine, or like the server."""
    try:
        parts, served = urlsplit(url), urlsplit(server)
        if parts.scheme == "https":
            return bool(parts.hostname)
        # Who speaks plainly to a server has agreed that it is not protected.
        is_same = served.scheme == "http" and parts.hostname == served.hostname
        return parts.scheme == "http" and (is_same or (is_loopback(url) and is_loopback(server)))
    except ValueError:
        return False


class _LoginTransport(httpx2.AsyncBaseTransport):
    """Sends each request by the rules for its address."""

    def __init__(self, server: str, *, allows_private: bool) -> None:
        self._server = server
        context = httpx2.create_ssl_context(trust_env=False)
        self._public, self._private = (
            CheckedTransport(
                UrlPolicy(ports=_ALL_PORTS, deny_private=deny_private), ssl_context=context
            )
            for deny_private in (not allows_private, False)
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = str(request.url)
        if not is_safe_address(url, self._server):
            raise UrlDenied(f"a login does not use `{request.url.host}` without HTTPS")
        is_local = is_loopback(url) and is_loopback(self._server)
        return await (self._private if is_local else self._public).handle_async_request(request)

    async def aclose(self) -> None:
        await self._public.aclose()
        await self._private.aclose()
