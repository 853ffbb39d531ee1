"""The connections of a client: which certificates, which proxies, and no redirects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl

    import httpx2

# A proxy from the environment cannot reach a server on this machine.
_NEVER_PROXIED = ("all://localhost", "all://127.0.0.1", "all://[::1]")
_PROXIED = ("http", "https", "all")
_PORTS = {"http": 80, "https": 443}
_MAX_PORT = 65535


def open_client(base_url: str) -> httpx2.AsyncClient:
    """Return a client for one address; nothing is connected yet.

    Raises:
        ImportError, ValueError, OSError, InvalidURL: The proxies or certificates of the environment
            cannot be used.
    """
    import httpx2

    for address in _list_proxies():
        port = httpx2.URL(address if "://" in address else f"http://{address}").port
        if port is not None and port > _MAX_PORT:
            raise ValueError(f"the port of a proxy is {port} (must be at most {_MAX_PORT})")
    return httpx2.AsyncClient(
        verify=_choose_verification(base_url),
        follow_redirects=False,  # the key would be sent along
        mounts=dict.fromkeys(_NEVER_PROXIED),
    )


def has_proxies() -> bool:
    """Whether the environment, or the system, names a proxy."""
    return bool(_list_proxies())


class ProxyWatch:
    """Sees where a request connects to: if that is not its server, it is a proxy.

    To be the extension `trace` of the request.

    Args:
        url: The address of the server.
    """

    def __init__(self, url: httpx2.URL) -> None:
        self._server = (url.raw_host.decode("ascii"), url.port or _PORTS.get(url.scheme))
        self.proxy: str | None = None
        """The host and port of the proxy; None if there is none, or if a connection was open."""

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        """Take an event of the connection."""
        if event.endswith("connect_tcp.started"):
            host, port = info["host"], info["port"]
            if (host, port) != self._server:
                self.proxy = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


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


def _choose_verification(base_url: str) -> ssl.SSLContext | Literal[True]:
    """Return how the certificate of a server is verified: with the usual authorities.

    To load them takes longer than all else in a client, and no certificate comes over plain HTTP.
    There no authority is trusted, so a TLS connection that came about all the same would fail.
    """
    if urlsplit(base_url).scheme != "http":
        return True
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
