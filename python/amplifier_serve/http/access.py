"""Who may use the server: names in `Host`, bearer tokens, how often, and how much a request has."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from amplifier_guard import Rate, RateLimited, RateLimiter

from .answers import Refusal, answer_refusal
from .tokens import TokenFileError

MAX_BODY_BYTES = 1024 * 1024
USUAL_RATE = Rate(limit=600, period=60.0, burst=100)
"""How many requests each owner may make."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
OPEN_PATHS = frozenset({"/v1/health"})
"""What needs no token."""


class Tokens(Protocol):
    """Knows whose tokens are whose."""

    def find_owner(self, token: str) -> str | None:
        """Return whose token it is; None if nobody's."""
        ...


class Access:
    """Lets requests through to an application that may be, with their owner in `scope["state"]`.

    Args:
        app: The application.
        tokens: Whose tokens are whose.
        host: The address that the server listens at.
        names: Further names by which clients reach it.
        rate: How many requests each owner may make.
    """

    def __init__(
        self,
        app: ASGIApp,
        tokens: Tokens,
        host: str,
        names: Iterable[str] = (),
        rate: Rate = USUAL_RATE,
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._names = frozenset(each.lower() for each in (*_LOOPBACK, host, *names))
        self._limiter = RateLimiter(user=rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it before anything of its body is read."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        refusal = self._refuse(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        await self._app(scope, _limit_body(receive), send)

    def _refuse(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        try:
            self._check_names(headers)
            if scope["path"] in OPEN_PATHS:
                return None
            owner = self._find_owner(headers)
            self._limiter.take(user=owner)
            _check_length(headers)
        except Refusal as refusal:
            return answer_refusal(refusal)
        except RateLimited as error:
            return answer_refusal(Refusal(429, "rate_limited", str(error), error.retry_after))
        scope.setdefault("state", {})["owner"] = owner
        return None

    def _check_names(self, headers: Headers) -> None:
        """Refuse what a page of others may send by a browser: their names lead to this machine."""
        name = _read_name(f"//{headers.get('host', '')}")
        if name is None or not (name in self._names or _is_address(name)):
            raise Refusal(
                421, "unknown_host", "the `Host` of the request is no name of this server"
            )
        origin = headers.get("origin")
        if origin is not None and _read_name(origin) != name:
            raise Refusal(403, "unknown_origin", "the `Origin` of the request is another site")

    def _find_owner(self, headers: Headers) -> str:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Refusal(401, "unauthorized", "the request needs `Authorization: Bearer TOKEN`")
        try:
            owner = self._tokens.find_owner(token.strip())
        except TokenFileError as error:
            raise Refusal(503, "tokens", "the tokens of the server cannot be read") from error
        if owner is None:
            raise Refusal(401, "unauthorized", "the token is not known to this server")
        return owner


def is_loopback(host: str) -> bool:
    """Whether an address is that of this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    # Only a name can be made to lead somewhere else.
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _read_name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _check_length(headers: Headers) -> None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
        raise _too_long()


def _too_long() -> Refusal:
    return Refusal(413, "too_long", f"the body of the request has more than {MAX_BODY_BYTES} bytes")


def _limit_body(receive: Receive) -> Receive:
    """Refuse a body that is longer than its headers say, or do not say."""
    size = 0

    async def receive_part() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > MAX_BODY_BYTES:
            raise _too_long()
        return message

    return receive_part
