"""The login of one connection: its token goes with each request, and is renewed when it ends."""

from __future__ import annotations

import shlex
from collections.abc import AsyncGenerator, Callable, Iterable

import anyio
import httpx2

from .login import Login
from .login_errors import LoginEndedError, LoginError
from .login_store import LoginStore
from .program import join_scopes
from .renewal import renew_login

_UNAUTHORIZED = 401
_FORBIDDEN = 403
_MAX_SCOPE_CHARS = 1000
_RENEWAL_SECONDS = 120.0
"""More than its requests and the wait for others can take."""


class StoredLogin(httpx2.Auth):
    """Adds the token that is kept for a server; nobody is asked anything."""

    def __init__(
        self,
        name: str,
        url: str,
        store: LoginStore,
        *,
        allows_private: bool,
        note_refused: Callable[[str], None],
        learn_secrets: Callable[[Iterable[str]], None],
    ) -> None:
        """Describe the login to a server; it is read with the first request.

        Args:
            name: What the user calls the server.
            url: Its address.
            store: Where logins are kept.
            allows_private: Whether its authorization server may be in a private network.
            note_refused: Called with the reason when a person has to log in.
            learn_secrets: Called with what must not be shown from now on.
        """
        self._name = name
        self._url = url
        self._store = store
        self._allows_private = allows_private
        self._note_refused = note_refused
        self._learn_secrets = learn_secrets
        self._login: Login | None = None
        self._is_read = False
        self._renewal = anyio.Lock()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send a request with the token; once more where the token was refused and another is there."""
        if not self._is_read:
            self._take(await self._store.find_login(self._url))
        if self._login is not None and self._login.is_expired:
            await self._renew(request, self._login)
        sent = self._add_token(request)
        response = yield request
        if response.status_code == _FORBIDDEN and (scope := _read_scope(response)) is not None:
            granted = None if sent is None else sent.scope
            self._note_refused(describe_need(self._name, join_scopes(granted, scope)))
        if response.status_code != _UNAUTHORIZED:
            return
        await self._renew(request, sent)
        if self._login is not None and self._login != sent:
            self._add_token(request)
            response = yield request
        if response.status_code == _UNAUTHORIZED:
            self._note_refused(describe_need(self._name))

    def _add_token(self, request: httpx2.Request) -> Login | None:
        """Add the token to a request; return the login that it is of."""
        if self._login is not None:
            request.headers["Authorization"] = f"Bearer {self._login.access_token}"
        return self._login

    async def _renew(self, request: httpx2.Request, used: Login | None) -> None:
        """Have other tokens than those of `used`: what another process has got, or new ones.

        Raises:
            httpx2.TransportError: Nothing can be had now.
        """
        version = request.headers.get("MCP-Protocol-Version")
        try:
            # A renewal that is broken off may have used up the refresh token.
            with anyio.fail_after(_RENEWAL_SECONDS, shield=True):
                async with self._renewal:
                    if self._login == used:
                        async with self._store.hold_lock(self._url):
                            await self._renew_locked(version, used)
        except (LoginError, OSError) as error:
            raise httpx2.ConnectError(f"the login of the server: {error}") from error

    async def _renew_locked(self, version: str | None, used: Login | None) -> None:
        kept = await self._store.find_login(self._url)
        self._take(kept)
        if kept is None or (kept != used and not kept.is_expired):
            return
        if kept.refresh_token is None:
            return
        try:
            login = await renew_login(kept, version, allows_private=self._allows_private)
        except LoginEndedError:
            await self._store.remove_login(self._url)
            self._take(None)
            return
        await self._store.keep_login(login)
        self._take(login)

    def _take(self, login: Login | None) -> None:
        self._login, self._is_read = login, True
        if login is not None:
            self._learn_secrets(login.secrets.values())


def describe_need(name: str, scope: str = "") -> str:
    """Return that a person has to log in to a server, and how; with which rights, where it needs more."""
    command = f"amplifier-core mcp login {shlex.quote(name)}"
    if not scope:
        return f"it needs a login: `{command}`"
    return f"it needs a login with more rights: `{command} --scope {shlex.quote(scope)}`"


def _read_scope(response: httpx2.Response) -> str | None:
    """Return the rights that a server names where the token has too few; None where that is not why."""
    from mcp.client.auth.utils import extract_field_from_www_auth

    if extract_field_from_www_auth(response, "error") != "insufficient_scope":
        return None
    scope = extract_field_from_www_auth(response, "scope")
    return scope if scope and len(scope) <= _MAX_SCOPE_CHARS and scope.isprintable() else None
