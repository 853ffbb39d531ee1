"""A process of its own that sends one request with a login that is kept: `FOLDER URL`; it prints the token."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import httpx2

from amplifier_modules.tools.mcp.login.login_store import LoginStore
from amplifier_modules.tools.mcp.login.stored_login import StoredLogin


async def send_request(folder: str, url: str) -> str:
    """Return the token that a request went with, and what was refused."""
    refused: list[str] = []
    login = StoredLogin(
        "tickets",
        url,
        LoginStore(Path(folder)),
        allows_private=False,
        note_refused=refused.append,
        learn_secrets=lambda _: None,
    )
    async with httpx2.AsyncClient(auth=login, trust_env=False) as client:
        response = await client.get(url, headers={"Accept": "application/json"})
    return f"{response.request.headers.get('authorization')} {refused}"


if __name__ == "__main__":
    import mcp.client.auth  # noqa: F401 -- it takes a while, which is not the matter here

    print("ready", flush=True)
    sys.stdin.readline()
    print(anyio.run(send_request, *sys.argv[1:]), flush=True)
