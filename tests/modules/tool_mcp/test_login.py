"""A person logs in once, in the browser or by pasting; what is kept is for nobody else."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from authorization_server import Authority, find_redirect, open_page, serve_protected
from mcp.shared.auth import OAuthClientInformationFull

from amplifier_modules.tools.mcp.login.login_errors import LoginError
from amplifier_modules.tools.mcp.login.login_flow import KnownClient, Person, log_in, log_out
from amplifier_modules.tools.mcp.login.login_store import LoginStore
from amplifier_modules.tools.mcp.server_entry import Address


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def url(authority: Authority) -> Iterator[str]:
    with serve_protected(authority) as url:
        yield url


@pytest.fixture
def store(tmp_path: Path) -> LoginStore:
    return LoginStore(tmp_path / "logins")


def browse(act: Callable[[str], Awaitable[object]] = open_page) -> Person:
    """A person whose browser does something with the address."""
    return Person(act, anyio.sleep_forever)


def paste(make: Callable[[str], str]) -> Person:
    """A person who pastes what is made of the address that the browser was sent to."""
    shown: list[str] = []

    async def show(url: str) -> None:
        shown.append(await find_redirect(url))

    async def read() -> str:
        return make(shown[0])

    return Person(show, read)


# Holds: mcp-43, mcp-45
async def test_a_login_in_the_browser_keeps_tokens_that_only_the_user_reads(
    url: str, authority: Authority, store: LoginStore, tmp_path: Path
) -> None:
    is_in_keyring = await log_in(Address(url, {}), store, browse())
    login = await store.find_login(url)
    files = {each.suffix: each for each in (tmp_path / "logins").iterdir()}

    assert not is_in_keyring
    assert login is not None
    assert login.access_token in authority.access
    assert login.refresh_token in authority.refresh
    assert authority.access[login.access_token].resource == url
    modes = [stat.S_IMODE(each.stat().st_mode) for each in (*files.values(), tmp_path / "logins")]
    assert (sorted(files), modes) == ([".json", ".lock"], [0o600, 0o600, 0o700])
    assert login.access_token not in repr(login)


# Holds: mcp-43
@pytest.mark.parametrize(
    "make",
    [
        lambda url: f"  {url}\n",
        lambda url: url.partition("?")[2],
        lambda url: url.partition("code=")[2].partition("&")[0],
    ],
    ids=["the address", "its query", "the code"],
)
async def test_what_the_browser_was_sent_to_can_be_pasted(
    url: str, authority: Authority, store: LoginStore, make: Callable[[str], str]
) -> None:
    await log_in(Address(url, {}), store, paste(make))
    login = await store.find_login(url)

    assert login is not None
    assert login.access_token in authority.access


# Holds: mcp-44
async def test_what_belongs_to_another_login_is_turned_away(url: str, store: LoginStore) -> None:
    statuses: list[int] = []

    async def browse_twice(shown: str) -> None:
        right = await find_redirect(shown)
        place, _, query = right.partition("?")
        pages = (f"{place}?{query[:-4]}zzzz", place, f"{place[:-1]}?{query}", right)
        statuses.extend([(await open_page(each)).status_code for each in pages])

    async def act(shown: str) -> None:
        group.start_soon(browse_twice, shown)

    async with anyio.create_task_group() as group:
        await log_in(Address(url, {}), store, browse(act))
    assert statuses == [404, 404, 404, 200]
    assert await store.find_login(url) is not None

    with pytest.raises(LoginError, match="another login: its `state` is another"):
        await log_in(Address(url, {}), store, paste(lambda right: f"{right[:-4]}zzzz"))


# Holds: mcp-44, mcp-50
async def test_a_login_that_is_refused_says_so(
    url: str, authority: Authority, store: LoginStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    authority.refuses = True
    try:
        with pytest.raises(LoginError, match="the login was refused: access_denied"):
            await log_in(Address(url, {}), store, browse())
    finally:
        authority.refuses = False
    with pytest.raises(LoginError) as caught:
        await log_in(Address(url, {}), store, paste(lambda _: "a-code-that-nobody-has-given"))

    assert str(caught.value) == "the authorization server gives no token: HTTP 400 invalid_grant"
    assert await store.find_login(url) is None
    assert "a-code-that-nobody-has-given" not in caplog.text


# Holds: mcp-43
async def test_a_client_that_was_registered_by_hand_is_used(store: LoginStore) -> None:
    authority = Authority()
    with serve_protected(authority, registers=False) as url:
        with pytest.raises(LoginError, match=r"registers no client: HTTP 404"):
            await log_in(Address(url, {}), store, browse())

        async def register(shown: str) -> None:
            # As a person has done it before, on a page of the authorization server.
            [redirect] = parse_qs(urlsplit(shown).query)["redirect_uri"]
            authority.clients["mine"] = OAuthClientInformationFull.model_validate(
                {
                    "client_id": "mine",
                    "client_secret": "a-secret-of-mine",
                    "redirect_uris": [redirect],
                    "token_endpoint_auth_method": "client_secret_post",
                }
            )
            await open_page(shown)

        client = KnownClient("mine", "a-secret-of-mine")
        await log_in(Address(url, {}), store, browse(register), client=client)
        login = await store.find_login(url)

    assert login is not None
    assert (login.client["client_id"], login.client_secret) == ("mine", "a-secret-of-mine")


# Holds: mcp-49
async def test_a_logout_forgets_the_login_and_revokes_its_token(
    url: str, authority: Authority, store: LoginStore, tmp_path: Path
) -> None:
    await log_in(Address(url, {}), store, browse())
    login = await store.find_login(url)
    assert login is not None
    assert login.refresh_token in authority.refresh

    assert await log_out(url.upper().replace("/MCP", "/mcp"), store)
    assert login.refresh_token not in authority.refresh
    assert not await log_out(url, store)
    assert [each.suffix for each in (tmp_path / "logins").iterdir()] == [".lock"]


# Holds: mcp-45
async def test_the_secrets_are_in_the_keyring_where_there_is_one(
    url: str, store: LoginStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = pytest.importorskip("keyring")
    kept: dict[tuple[str, str], str] = {}

    class Ring:
        def get_password(self, service: str, name: str) -> str | None:
            return kept.get((service, name))

        def set_password(self, service: str, name: str, password: str) -> None:
            kept[service, name] = password

        def delete_password(self, service: str, name: str) -> None:
            del kept[service, name]

    monkeypatch.setattr(keyring, "get_keyring", Ring)
    assert await log_in(Address(url, {}), store, browse())
    login = await store.find_login(url)
    [file] = (tmp_path / "logins").glob("*.json")

    assert login is not None
    assert [json.loads(each) for each in kept.values()] == [login.secrets]
    assert not [each for each in login.secrets.values() if each in file.read_text()]
    assert await log_out(url, store)
    assert kept == {}
