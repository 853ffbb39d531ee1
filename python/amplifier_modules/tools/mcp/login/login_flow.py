"""Logging in: the authorization code flow with PKCE, by the client of the SDK."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio
import httpx2

from amplifier_modules.tools.mcp.server_entry import Address

from .login import Login
from .login_errors import LoginError, describe_flow_error
from .login_store import LoginStore
from .oauth_client import is_safe_address, open_oauth_client
from .program import describe_program
from .redirect import Redirect, find_state, read_pasted
from .redirect_listener import RedirectListener, open_listener
from .renewal import TokenMemory, revoke_login, take_tokens

if TYPE_CHECKING:
    from mcp.client.auth import AuthorizationCodeResult

LOGIN_SECONDS = 300.0
"""How long a person may take."""
_VERSION = "2025-11-25"
_FIRST_MESSAGE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": _VERSION,
        "capabilities": {},
        "clientInfo": {"name": "amplifier-core", "version": "0"},
    },
}
_NEXT_MESSAGE = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
"""What every server answers, or refuses to whom has not logged in: some greet everybody first."""


@dataclass(frozen=True)
class Person:
    """How a person takes part."""

    show_address: Callable[[str], Awaitable[None]]
    """Shows the address to open; it may open the browser, too."""
    read_answer: Callable[[], Awaitable[str]]
    """Returns what the person pastes; waits for ever where nothing can be pasted."""


@dataclass(frozen=True)
class KnownClient:
    """A client that was registered by hand, for authorization servers that register none themselves."""

    id: str
    """Its id; where that is an address, what is there describes the client."""
    secret: str | None = None

    @property
    def document(self) -> str | None:
        """The address of its description; None for a client that was registered."""
        from mcp.client.auth.utils import is_valid_client_metadata_url

        is_document = self.secret is None and is_valid_client_metadata_url(self.id)
        return self.id if is_document else None


async def log_in(
    address: Address,
    store: LoginStore,
    person: Person,
    *,
    allows_private: bool = False,
    client: KnownClient | None = None,
    port: int = 0,
    scope: str = "",
) -> bool:
    """Log in to a server, and keep its tokens; return whether they are in the keyring.

    Args:
        address: The server.
        store: Where they are kept.
        person: Who logs in.
        allows_private: Whether servers may be in a private network.
        client: How the authorization server knows this program; without it, it is registered.
        port: The port of the redirect; 0 for one that is free.
        scope: Rights that are asked for beside those that the server names, with spaces between
            them.

    Raises:
        LoginError: The login has failed, or the server needs none.
        OSError: The tokens cannot be kept.
    """
    async with open_listener(port) as listener:
        login = await _run_flow(
            address, person, listener, client, scope, allows_private=allows_private
        )
    async with store.hold_lock(address.url):
        return await store.keep_login(login)


async def log_out(url: str, store: LoginStore, *, allows_private: bool = False) -> bool:
    """Forget the login to a server; return whether there was one.

    The tokens are revoked where the authorization server takes that; one that cannot be reached
    does not keep anybody logged in here.

    Raises:
        OSError: It cannot be removed.
    """
    async with store.hold_lock(url):
        with suppress(OSError):
            if (login := await store.find_login(url)) is not None:
                with suppress(httpx2.HTTPError, LoginError, OSError, ValueError):
                    await revoke_login(login, allows_private=allows_private)
        return await store.remove_login(url)


async def _run_flow(
    address: Address,
    person: Person,
    listener: RedirectListener,
    client: KnownClient | None,
    scope: str,
    *,
    allows_private: bool,
) -> Login:
    from mcp.client.auth import OAuthClientProvider, OAuthFlowError
    from pydantic import ValidationError

    part = _PersonsPart(address.url, person, listener)
    document = None if client is None else client.document
    registered = client if document is None else None
    about = None if registered is None else _describe_client(registered, listener.url)
    memory = TokenMemory(client=about)

    async def take_address(url: str) -> None:
        if registered is not None:
            _choose_proof(provider.context)
        await part.take_address(url)

    provider = OAuthClientProvider(
        address.url,
        describe_program(listener.url, scope),
        memory,
        take_address,
        part.wait_for_answer,
        client_metadata_url=document,
    )
    response: httpx2.Response | None = None
    try:
        async with open_oauth_client(address.url, allows_private=allows_private) as http:
            headers = {
                **address.headers,
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": _VERSION,
            }
            for message in (_FIRST_MESSAGE, _NEXT_MESSAGE):
                request = http.build_request("POST", address.url, json=message, headers=headers)
                # Its stream of events may have no end.
                response = await http.send(request, auth=provider, stream=True)
                await response.aclose()
                if memory.tokens is not None:
                    break
                if session := response.headers.get("mcp-session-id"):
                    headers["Mcp-Session-Id"] = session
    except (OAuthFlowError, ValidationError, httpx2.HTTPError, PermissionError) as error:
        raise LoginError(describe_flow_error(error)) from None
    assert response is not None
    if memory.tokens is None or memory.client is None:
        if response.status_code < 400:
            raise LoginError("it needs no login")
        raise LoginError(f"it asks for no login: HTTP {response.status_code}")
    if response.status_code == 401:
        raise LoginError("it refuses the token that its authorization server has given")
    return take_tokens(_describe_login(address.url, provider.context, memory), memory.tokens)


def _describe_client(client: KnownClient, redirect_url: str) -> Any:
    from mcp.shared.auth import OAuthClientInformationFull
    from pydantic import AnyUrl

    return OAuthClientInformationFull(
        client_id=client.id,
        client_secret=client.secret,
        redirect_uris=[AnyUrl(redirect_url)],
        token_endpoint_auth_method="client_secret_post" if client.secret else "none",
    )


def _choose_proof(context: Any) -> None:
    """Have a client that was registered by hand prove who it is as its authorization server takes it."""
    taken = getattr(context.oauth_metadata, "token_endpoint_auth_methods_supported", None)
    if context.client_info.client_secret and taken and "client_secret_post" not in taken:
        context.client_info.token_endpoint_auth_method = "client_secret_basic"


def _describe_login(url: str, context: Any, memory: TokenMemory) -> Login:
    """Return what has to be known to renew the tokens."""
    assert memory.client is not None
    about = memory.client.model_dump(mode="json", exclude_none=True)
    secret = about.pop("client_secret", None)
    found = (context.oauth_metadata, context.protected_resource_metadata)
    server, resource = (
        None if each is None else each.model_dump(mode="json", exclude_none=True) for each in found
    )
    login = Login(url, "", client=about, client_secret=secret)
    return replace(login, authorization_server=server, resource=resource)


class _PersonsPart:
    """What the SDK asks of a person."""

    def __init__(self, server: str, person: Person, listener: RedirectListener) -> None:
        self._server = server
        self._person = person
        self._listener = listener
        self._url = ""

    async def take_address(self, url: str) -> None:
        # The browser opens whatever it is given, and the server has named this.
        if not is_safe_address(url, self._server):
            raise LoginError("the authorization server is not to be opened without HTTPS")
        self._url = url

    async def wait_for_answer(self) -> AuthorizationCodeResult:
        from mcp.client.auth import AuthorizationCodeResult

        state = find_state(self._url)
        answers: list[Redirect | LoginError] = []

        async def take(wait: Callable[[], Awaitable[Redirect]]) -> None:
            try:
                answers.append(await wait())
            except LoginError as error:
                answers.append(error)
            group.cancel_scope.cancel()

        async def wait_for_redirect() -> Redirect:
            return await self._listener.wait_for_redirect(state)

        async def read_answer() -> Redirect:
            return read_pasted(await self._person.read_answer(), state)

        with anyio.move_on_after(LOGIN_SECONDS):
            async with anyio.create_task_group() as group:
                group.start_soon(take, wait_for_redirect)
                # Listening already: some browsers end only with the page.
                await self._person.show_address(self._url)
                group.start_soon(take, read_answer)
        if not answers:
            raise LoginError(f"nobody has logged in within {LOGIN_SECONDS:g} s")
        answer = answers[0]
        if isinstance(answer, LoginError):
            raise answer
        return AuthorizationCodeResult(code=answer.code, state=answer.state, iss=answer.issuer)
