"""Renewing the tokens of a login by the client of the SDK."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2

from amplifier_core import world

from .login import Login
from .login_errors import LoginEndedError, LoginError
from .oauth_client import open_oauth_client

if TYPE_CHECKING:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

_REFUSALS = (400, 401, 403)
_LONG_AGO = 1.0


async def renew_login(login: Login, version: str | None, *, allows_private: bool) -> Login:
    """Return a login with tokens that are new.

    Args:
        login: The one whose refresh token is used.
        version: That of the protocol, by which the request has the form that the server expects.
        allows_private: Whether the authorization server may be in a private network.

    Raises:
        LoginEndedError: It is renewed no more.
        LoginError: It could not be renewed now.
        httpx2.HTTPError: The authorization server cannot be reached.
    """
    memory = TokenMemory(login)
    provider = _make_provider(login, memory)
    provider.context.token_expiry_time = _LONG_AGO
    headers = {"MCP-Protocol-Version": version} if version else {}
    flow = provider.async_auth_flow(httpx2.Request("POST", login.url, headers=headers))
    try:
        request = await anext(flow)
        async with open_oauth_client(login.url, allows_private=allows_private) as client:
            response = await client.send(request)
        if response.status_code in _REFUSALS:
            raise LoginEndedError(f"its login has ended (HTTP {response.status_code})")
        if response.status_code != 200:
            raise LoginError(f"its login cannot be renewed now: HTTP {response.status_code}")
        await flow.asend(response)
    finally:
        await flow.aclose()
    if memory.tokens is None:
        raise LoginError("its login cannot be renewed: the answer holds no token")
    return take_tokens(login, memory.tokens)


async def revoke_login(login: Login, *, allows_private: bool) -> None:
    """Have the authorization server take back the tokens of a login, if it does that.

    Raises:
        LoginError: It has refused.
        httpx2.HTTPError: It cannot be reached.
    """
    memory = TokenMemory(login)
    context = _make_provider(login, memory).context
    context.client_info = client = await memory.get_client_info()
    if context.oauth_metadata is None or client is None:
        return
    if (endpoint := context.oauth_metadata.revocation_endpoint) is None:
        return
    # With its refresh token go the access tokens that came of it.
    kind = "refresh_token" if login.refresh_token else "access_token"
    token = login.refresh_token or login.access_token
    fields = {"token": token, "token_type_hint": kind, "client_id": client.client_id}
    data, headers = context.prepare_token_auth(fields, {})
    async with open_oauth_client(login.url, allows_private=allows_private) as http:
        response = await http.post(str(endpoint), data=data, headers=headers)
    if response.status_code >= 400:
        raise LoginError(f"its tokens are not revoked: HTTP {response.status_code}")


def _make_provider(login: Login, memory: TokenMemory) -> OAuthClientProvider:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, ProtectedResourceMetadata
    from pydantic import AnyUrl

    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl("http://127.0.0.1/callback")])
    provider = OAuthClientProvider(login.url, metadata, memory)
    context = provider.context
    # Without it the SDK would ask the server itself for the token.
    if login.authorization_server is not None:
        context.oauth_metadata = OAuthMetadata.model_validate(login.authorization_server)
    if login.resource is not None:
        context.protected_resource_metadata = ProtectedResourceMetadata.model_validate(
            login.resource
        )
    return provider


def take_tokens(login: Login, tokens: OAuthToken) -> Login:
    """Return a login with the tokens that an authorization server has given."""
    lifetime = tokens.expires_in
    return replace(
        login,
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token,
        scope=tokens.scope,
        expires_at=None if lifetime is None else world.time() + lifetime,
    )


class TokenMemory:
    """Hands a login to the client of the SDK, and takes the tokens that it gets."""

    def __init__(self, login: Login | None = None, client: Any = None) -> None:
        """Begin with a login, or with a client that is registered, or with neither."""
        self._login = login
        self.client: OAuthClientInformationFull | None = client
        """What the authorization server knows this program as."""
        self.tokens: OAuthToken | None = None
        """The tokens that are new."""

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens of the login."""
        from mcp.shared.auth import OAuthToken

        login = self._login
        if login is None:
            return None
        return OAuthToken(
            access_token=login.access_token, refresh_token=login.refresh_token, scope=login.scope
        )

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Take tokens."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the client that is registered."""
        from mcp.shared.auth import OAuthClientInformationFull

        if self._login is None:
            return self.client
        about = {**self._login.client, "client_secret": self._login.client_secret}
        return OAuthClientInformationFull.model_validate(about)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Take what was registered."""
        self.client = client_info
