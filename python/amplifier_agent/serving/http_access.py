"""Who may use a server over HTTP: a token, and the names that it is called by."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

MIN_TOKEN_CHARS = 16
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def check_token(token: str) -> str:
    """Return a token without the blanks around it.

    Raises:
        ValueError: It is short enough to be guessed, or no header can hold it.
    """
    token = token.strip()
    if len(token) < MIN_TOKEN_CHARS:
        raise ValueError(f"the token has {len(token)} characters (at least {MIN_TOKEN_CHARS})")
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ValueError("the token has characters that no header can hold")
    return token


def allow_names(host: str, names: Iterable[str]) -> TransportSecuritySettings:
    """Return which values of `Host` and `Origin` are taken: those of this machine, and further ones.

    Args:
        host: The address that the server listens at.
        names: Further names by which clients reach it.
    """
    hosts = [*_LOOPBACK, *([] if _is_any(host) else [_write_host(host)]), *map(_write_host, names)]
    known = list(dict.fromkeys(hosts))
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[form for each in known for form in (each, f"{each}:*")],
        allowed_origins=[
            form
            for each in known
            for scheme in ("http", "https")
            for form in (f"{scheme}://{each}", f"{scheme}://{each}:*")
        ],
    )


def is_loopback(host: str) -> bool:
    """Whether an address is that of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class BearerToken:
    """Lets only requests with the token through to an ASGI application."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Protect an application.

        Args:
            app: The application.
            token: What `Authorization: Bearer` must say.
        """
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it before anything of it is read."""
        if scope["type"] == "lifespan" or self._is_allowed(scope):
            await self._app(scope, receive, send)
            return
        headers = {"WWW-Authenticate": "Bearer"}
        refusal = PlainTextResponse("a bearer token is needed\n", 401, headers)
        await refusal(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        given = given.strip().encode("utf-8", "replace")
        return scheme.lower() == "bearer" and hmac.compare_digest(given, self._token)


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _write_host(host: str) -> str:
    """Return a host as an address has it: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
