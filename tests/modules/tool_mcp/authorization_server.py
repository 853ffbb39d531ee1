"""A server with a login, and its authorization server, both on this machine; and a person with a browser."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio
import httpx2
import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    ProviderTokenVerifier,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette


class Authority:
    """Gives tokens to whom asks; a refresh token is good for one use."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.lifetime = 3600
        self.refuses = False
        """Whether it sends the browser back with an error."""
        self.renewals: list[str] = []
        """The refresh tokens that were used, in their order."""
        self.slow_seconds = 0.0
        """How long a renewal takes."""
        self.on_renewal: Callable[[], object] = lambda: None
        """Called in the thread of the server when a refresh token was used up."""
        self._count = 0

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        if self.refuses:
            return construct_redirect_uri(
                str(params.redirect_uri), error="access_denied", state=params.state
            )
        code = self._make("code")
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._give(client.client_id, authorization_code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.renewals.append(refresh_token.token)
        if self.refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant", "it was used before")
        self.on_renewal()
        await anyio.sleep(self.slow_seconds)
        return self._give(client.client_id, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    async def exchange_identity_assertion(self, client: Any, params: Any) -> OAuthToken:
        raise TokenError("unsupported_grant_type")

    def end_access(self) -> None:
        """Let all access tokens be refused from now on."""
        self.access.clear()

    def _make(self, kind: str) -> str:
        self._count += 1
        return f"{kind}-{self._count:04}-of-the-authority"

    def _give(self, client_id: str, resource: str | None) -> OAuthToken:
        access, refresh = self._make("access"), self._make("refresh")
        self.access[access] = AccessToken(
            token=access, client_id=client_id, scopes=[], resource=resource
        )
        self.refresh[refresh] = RefreshToken(
            token=refresh, client_id=client_id, scopes=[], resource=resource
        )
        return OAuthToken(access_token=access, refresh_token=refresh, expires_in=self.lifetime)


@contextmanager
def serve_protected(authority: Authority, *, registers: bool = True) -> Iterator[str]:
    """Serve tools to whom has logged in; yield the address."""
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.socket()) for _ in range(2)]
        for each in listeners:
            each.bind(("127.0.0.1", 0))
        issuer, origin = (f"http://127.0.0.1:{each.getsockname()[1]}" for each in listeners)
        routes = create_auth_routes(
            authority,
            AnyHttpUrl(issuer),
            client_registration_options=ClientRegistrationOptions(enabled=registers),
            revocation_options=RevocationOptions(enabled=True),
        )
        settings = AuthSettings(
            issuer_url=AnyHttpUrl(issuer),
            resource_server_url=AnyHttpUrl(f"{origin}/mcp"),
            validate_token_resource=True,
        )
        server = MCPServer(
            "tickets", token_verifier=ProviderTokenVerifier(authority), auth=settings
        )

        @server.tool()
        def echo(text: str) -> str:
            """Say it again."""
            return text

        @server.tool()
        def tell_tokens() -> str:
            """Say what nobody may read."""
            return " ".join([*authority.access, *authority.refresh])

        @server.prompt()
        def greet(name: str, tone: str = "kind") -> list[UserMessage]:
            """Greet somebody."""
            return [UserMessage(f"Greet {name}, {tone}.")]

        for listener, app in zip(
            listeners, (Starlette(routes=routes), server.streamable_http_app()), strict=True
        ):
            stack.enter_context(_run(listener, app))
        yield f"{origin}/mcp"


@contextmanager
def _run(listener: socket.socket, app: Any) -> Iterator[None]:
    config = uvicorn.Config(app, log_level=logging.CRITICAL, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = server.force_exit = True
        thread.join(20)


async def find_redirect(authorization_url: str) -> str:
    """Return the address that a browser is sent to which opens this one."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        answer = await browser.get(authorization_url)
    return answer.headers["location"]


async def open_page(url: str) -> httpx2.Response:
    """Open an address as a browser does that follows where it is sent."""
    async with httpx2.AsyncClient(trust_env=False, follow_redirects=True) as browser:
        return await browser.get(url)
