"""How a client connects: which certificates, which proxies, no cookies and no redirects."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import ssl

    import httpx2

KEPT_SECONDS = 50.0
"""After how long without a request a connection is closed; balancers often do it after a minute."""
MAX_KEPT = 8
"""Connections of one client that are kept without a request: it looks at each for each request."""

# A proxy from the environment cannot reach a server on this machine.
_NEVER_PROXIED = ("all://localhost", "all://127.0.0.1", "all://[::1]")
_PROXIED = ("http", "https", "all")
_PROXY_VARIABLES = tuple(
    name for scheme in (*_PROXIED, "no") for name in (f"{scheme}_proxy", f"{scheme.upper()}_PROXY")
)
_CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
_PORTS = {"http": 80, "https": 443}
_MAX_PORT = 65535


class Route(NamedTuple):
    """What a connection depends on: its server, and what the environment says of the way there."""

    scheme: str
    host: str
    port: int | None
    proxies: tuple[str | None, ...]
    """The proxies of the environment, their passwords too."""
    certificates: tuple[str | None, ...]
    """Where the authorities are that the environment names."""


def read_route(base_url: str) -> Route:
    """Return the route to an address as the environment is now.

    Raises:
        InvalidURL: It is no address.
    """
    url, variables = parsed_url(base_url), os.environ
    return Route(
        url.scheme,
        url.host,
        url.port,
        tuple(map(variables.get, _PROXY_VARIABLES)),
        tuple(map(variables.get, _CERTIFICATE_VARIABLES)),
    )


def open_client(route: Route) -> httpx2.AsyncClient:
    """Return a client for a route; nothing is connected yet.

    It has any number of connections, and keeps no cookies: those who share it have other keys.

    Raises:
        ImportError, ValueError, OSError, InvalidURL: The proxies or certificates of the environment
            cannot be used.
    """
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    import httpx2

    for address in _list_proxies():
        port = httpx2.URL(address if "://" in address else f"http://{address}").port
        if port is not None and port > _MAX_PORT:
            raise ValueError(f"the port of a proxy is {port} (must be at most {_MAX_PORT})")
    return httpx2.AsyncClient(
        verify=_load_authorities(route.certificates) if route.scheme != "http" else _trust_nobody(),
        follow_redirects=False,  # the key would be sent along
        mounts=dict.fromkeys(_NEVER_PROXIED),
        limits=httpx2.Limits(
            max_connections=None,
            max_keepalive_connections=MAX_KEPT,
            keepalive_expiry=KEPT_SECONDS,
        ),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


class RequestWatch:
    """Sees what becomes of a request; to be its extension `trace`.

    Args:
        url: The address of the server.
        leave: Called once the answer is closed; None for nothing.
    """

    __slots__ = ("_leave", "_url", "proxy")

    def __init__(self, url: httpx2.URL, leave: Callable[[], None] | None = None) -> None:
        self._url = url
        self._leave = leave
        self.proxy: str | None = None
        """The host and port that were connected to, if they are not the server's."""

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        """Take an event of the connection."""
        if event.endswith("response_closed.complete"):
            self.leave()
        elif event.endswith("connect_tcp.started"):
            host, port, url = info["host"], info["port"], self._url
            if (host, port) != (url.raw_host.decode("ascii"), url.port or _PORTS.get(url.scheme)):
                self.proxy = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    def leave(self) -> None:
        """Say that the request is over, once."""
        leave, self._leave = self._leave, None
        if leave is not None:
            leave()


@lru_cache(maxsize=64)
def parsed_url(address: str) -> httpx2.URL:
    """Return an address in the form that requests have it in; most are asked again and again.

    Raises:
        InvalidURL: It is no address.
    """
    import httpx2

    return httpx2.URL(address)


def _list_proxies() -> list[str]:
    from urllib.request import getproxies  # late: it loads the clients of the standard library

    found = getproxies()
    return [found[scheme] for scheme in _PROXIED if found.get(scheme)]


@lru_cache(maxsize=8)
def _load_authorities(certificates: tuple[str | None, ...]) -> ssl.SSLContext:
    """Return how certificates are verified: with the authorities of the environment, else the usual.

    To load them takes longer than all else in a client, so it is done once in a process.

    Args:
        certificates: Where the environment says that they are.
    """
    import httpx2

    del certificates  # they are read from the environment
    return httpx2.create_ssl_context()


@lru_cache(maxsize=1)
def _trust_nobody() -> ssl.SSLContext:
    """Return what refuses all certificates: none comes over plain HTTP."""
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
