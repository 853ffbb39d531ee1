"""A session uses the login that is kept, renews it once for all, and asks nobody for another."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from authorization_server import Authority, open_page, serve_protected
from mounted_servers import Mount
from renewing_program import send_request

from amplifier_modules.tools.mcp import State
from amplifier_modules.tools.mcp.login.login import Login
from amplifier_modules.tools.mcp.login.login_flow import Person, log_in, log_out
from amplifier_modules.tools.mcp.login.login_store import LoginStore
from amplifier_modules.tools.mcp.login.oauth_client import is_safe_address
from amplifier_modules.tools.mcp.login.stored_login import StoredLogin
from amplifier_modules.tools.mcp.server_entry import Address

PROGRAM = Path(__file__).with_name("renewing_program.py")
NEEDED = "it needs a login: `amplifier-core mcp login tickets`"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def authority() -> Authority:
    return Authority()


@pytest.fixture
def url(authority: Authority) -> Iterator[str]:
    with serve_protected(authority) as url:
        yield url


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's states."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "amplifier-core" / "mcp-logins"


async def log_in_at_once(url: str) -> Login:
    await log_in(Address(url, {}), LoginStore(), Person(open_page, anyio.sleep_forever))
    login = await LoginStore().find_login(url)
    assert login is not None
    return login


# Holds: mcp-46
async def test_a_server_that_needs_a_login_says_so_in_one_line_and_opens_no_browser(
    url: str,
    states: Path,
    mount: Mount,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    mounted = await mount({"tickets": {"url": url}})
    await mounted.settle(State.DOWN)
    problems = [each.problem for each in mounted.servers.list_states()]
    lines = [each.message for each in caplog.records if each.levelno >= logging.WARNING]

    assert problems == [NEEDED]
    assert lines == [f"the MCP server `tickets`: {NEEDED}"]
    assert opened == []
    # As soon as somebody has logged in, elsewhere, it is there.
    await log_in_at_once(url)
    await mounted.settle(State.CONNECTED)
    assert await mounted.run("tickets__echo", text="one") == "one"


# Holds: mcp-47
async def test_an_expired_token_is_renewed_and_the_next_one_is_kept(
    url: str, authority: Authority, states: Path, mount: Mount
) -> None:
    first = await log_in_at_once(url)
    await LoginStore().keep_login(replace(first, expires_at=1.0))
    authority.end_access()
    mounted = await mount({"tickets": {"url": url}})
    await mounted.settle()
    second = await LoginStore().find_login(url)
    assert second is not None
    # One that ends before anybody has said so.
    authority.end_access()
    assert await mounted.run("tickets__echo", text="one") == "one"
    third = await LoginStore().find_login(url)

    assert third is not None
    assert authority.renewals == [first.refresh_token, second.refresh_token]
    assert third.access_token in authority.access
    assert third.refresh_token in authority.refresh


# Holds: mcp-48, mcp-50
async def test_a_login_that_has_ended_is_dropped_and_needs_a_person(
    url: str, authority: Authority, states: Path, mount: Mount, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    login = await log_in_at_once(url)
    mounted = await mount({"tickets": {"url": url}})
    await mounted.settle()
    authority.end_access()
    authority.refresh.clear()
    kind, message = await mounted.run("tickets__echo", text="one")
    await mounted.settle(State.DOWN)

    assert (kind, NEEDED in message) == ("ConnectionLostError", True)
    assert await LoginStore().find_login(url) is None
    said = "\n".join([caplog.text, *(str(each) for each in mounted.events)])
    assert not [each for each in login.secrets.values() if each in said]


# Holds: mcp-47
def test_two_processes_that_renew_a_login_at_once_use_its_refresh_token_once(
    url: str, authority: Authority, states: Path
) -> None:
    login = anyio.run(log_in_at_once, url)
    anyio.run(LoginStore().keep_login, replace(login, expires_at=1.0))
    authority.slow_seconds = 0.2
    words = [sys.executable, str(PROGRAM), str(states), url]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        assert program.stdin is not None
        program.stdin.write("\n")
        program.stdin.flush()
        here = anyio.run(send_request, str(states), url)
        there = program.stdout.read()
    kept = anyio.run(LoginStore().find_login, url)

    assert authority.renewals == [login.refresh_token]
    assert kept is not None
    assert [here, there] == [f"Bearer {kept.access_token} []", f"Bearer {kept.access_token} []\n"]


# Holds: mcp-47
async def test_requests_of_one_session_that_are_refused_together_renew_once(
    url: str, authority: Authority, states: Path
) -> None:
    login = await log_in_at_once(url)
    authority.end_access()
    learned: list[str] = []
    stored = StoredLogin(
        "tickets",
        url,
        LoginStore(),
        allows_private=False,
        note_refused=learned.append,
        learn_secrets=learned.extend,
    )
    async with httpx2.AsyncClient(auth=stored, trust_env=False) as client:

        async def request() -> None:
            await client.get(url)

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(request)
        # A request that is given up does not give up the renewal, which has used the token up.
        authority.end_access()
        authority.slow_seconds = 0.1
        loop = asyncio.get_running_loop()
        with anyio.CancelScope() as scope:
            authority.on_renewal = lambda: loop.call_soon_threadsafe(scope.cancel)
            await request()
        assert scope.cancelled_caught
        await request()
    kept = await LoginStore().find_login(url)

    assert kept is not None
    assert len(authority.renewals) == len(set(authority.renewals)) == 2
    assert kept.access_token in authority.access
    assert learned[:2] == [login.access_token, login.refresh_token]
    assert set(kept.secrets.values()) <= set(learned)


# Holds: mcp-50
async def test_tokens_are_removed_from_what_the_server_says(
    url: str, authority: Authority, states: Path, mount: Mount
) -> None:
    login = await log_in_at_once(url)
    mounted = await mount({"tickets": {"url": url}})
    learned: list[str] = []
    mounted.servers.watch_secrets(learned.extend)
    await mounted.settle()
    said = await mounted.run("tickets__tell_tokens")

    assert "REDACTED" in said
    assert not [each for each in login.secrets.values() if each in said]
    assert set(learned) == set(login.secrets.values())


# Holds: mcp-43
async def test_an_entry_with_a_key_of_its_own_uses_no_login(
    url: str, states: Path, mount: Mount
) -> None:
    await log_in_at_once(url)
    entry: dict[str, Any] = {"url": url, "headers": {"authorization": "Bearer of-the-entry"}}
    mounted = await mount({"tickets": {**entry}})
    await mounted.settle(State.DOWN)
    [status] = mounted.servers.list_states()

    assert "needs a login" not in status.problem
    assert await log_out(url, LoginStore())
    addresses = [Address(url, {}), Address("http://ada:pass@127.0.0.1/mcp", {})]
    assert [each.has_own_key for each in addresses] == [False, True]


# Holds: mcp-51
@pytest.mark.parametrize(
    ("address", "server", "is_safe"),
    [
        ("https://login.example.com/", "https://mcp.example.com/", True),
        ("http://login.example.com/", "https://mcp.example.com/", False),
        ("http://127.0.0.1:1/", "https://mcp.example.com/", False),
        ("http://127.0.0.1:1/", "http://localhost:2/", True),
        ("http://mcp.lan/login", "http://mcp.lan/mcp", True),
        ("http://other.lan/login", "http://mcp.lan/mcp", False),
        ("file:///etc/passwd", "https://mcp.example.com/", False),
        ("https://", "https://mcp.example.com/", False),
    ],
)
def test_a_login_uses_https_or_this_machine(address: str, server: str, is_safe: bool) -> None:
    assert is_safe_address(address, server) == is_safe
