"""A server that wants more rights than a login has names them, and the next login asks for all."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from amplifier_modules.tools.mcp.login.login import Login
from amplifier_modules.tools.mcp.login.login_flow import KnownClient
from amplifier_modules.tools.mcp.login.login_store import LoginStore
from amplifier_modules.tools.mcp.login.program import describe_program
from amplifier_modules.tools.mcp.login.stored_login import StoredLogin

URL = "https://tickets.example.com/mcp"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


# Holds: mcp-81
@pytest.mark.parametrize(
    ("challenge", "said"),
    [
        (
            'Bearer error="insufficient_scope", scope="write"',
            [
                "it needs a login with more rights: `amplifier-core mcp login x --scope 'read write'`"
            ],
        ),
        ('Bearer error="insufficient_scope", scope="\x1b[2J"', []),
        ('Bearer error="insufficient_scope"', []),
        ("Bearer", []),
    ],
)
async def test_rights_that_a_login_lacks_are_named(
    tmp_path: Path, challenge: str, said: list[str]
) -> None:
    store, learned = LoginStore(tmp_path / "logins"), list[str]()
    await store.keep_login(Login(URL, "token", scope="read"))
    stored = StoredLogin(
        "x",
        URL,
        store,
        allows_private=False,
        note_refused=learned.append,
        learn_secrets=lambda _secrets: None,
    )

    def refuse(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(403, headers={"WWW-Authenticate": challenge})

    async with httpx2.AsyncClient(auth=stored, transport=httpx2.MockTransport(refuse)) as client:
        await client.post(URL)

    assert learned == said


# Holds: mcp-81
def test_a_login_asks_for_what_the_server_names_and_for_what_the_person_adds() -> None:
    description = describe_program("http://127.0.0.1:1/callback", "read write")
    description.scope = "admin read"

    assert description.scope == "read write admin"


# Holds: mcp-81
@pytest.mark.parametrize(
    ("client", "document"),
    [
        (KnownClient("https://example.com/client.json"), "https://example.com/client.json"),
        (KnownClient("https://example.com/client.json", "secret"), None),
        (KnownClient("registered"), None),
    ],
)
def test_a_client_id_that_is_an_address_describes_the_client(
    client: KnownClient, document: str | None
) -> None:
    assert client.document == document
