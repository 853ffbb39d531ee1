"""The connections of a client: which certificates, which proxies, and no redirects."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl

    import httpx2

# A proxy from the environment cannot reach a server on this machine.
_NEVER_PROXIED = ("all://localhost", "all://127.0.0.1", "all://[::1]")


def open_client(base_url: str) -> httpx2.AsyncClient:
    """Return a client for one address; nothing is connected yet.

    Raises:
        ImportError, ValueError, OSError: The proxies or certificates of the environment cannot be
            used.
    """
    import httpx2

    return httpx2.AsyncClient(
        verify=_verification(base_url),
        follow_redirects=False,  # the key would be sent along
        mounts=dict.fromkeys(_NEVER_PROXIED),
    )


@lru_cache(maxsize=64)
def parsed_url(address: str) -> httpx2.URL:
    """Return an address in the form that requests have it in; most are asked again and again.

    Raises:
        InvalidURL: It is none.
    """
    import httpx2

    return httpx2.URL(address)


def _verification(base_url: str) -> ssl.SSLContext | Literal[True]:
    """Return how the certificate of a server is verified: with the usual authorities.

    To load them takes longer than all else in a client, and no certificate comes over plain HTTP.
    There no authority is trusted, so a TLS connection that came about all the same would fail.
    """
    if urlsplit(base_url).scheme != "http":
        return True
    import ssl

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
