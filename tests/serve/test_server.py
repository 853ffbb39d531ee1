"""Who may use a server, and how much: all else is refused in one line of JSON."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from serving import ask, serving

from amplifier_guard import Rate
from amplifier_modules.stores import StoreError
from amplifier_modules.stores.sqlite import SqliteStore
from amplifier_serve import Server, TokenFile
from amplifier_serve.http.tokens import TokenFileError

SESSIONS = "/v1/sessions"


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "serve" / "tokens.json")


# Holds: serve-5
async def test_a_request_needs_a_token_that_is_known_at_that_moment(
    store: SqliteStore, tokens: TokenFile
) -> None:
    token, known = tokens.add("ann")
    async with serving(store, tokens) as address:
        status, answer, headers = await ask(address, "GET", SESSIONS)
        assert (status, answer["error"]["type"]) == (401, "unauthorized")
        assert headers["www-authenticate"] == "Bearer"
        for wrong in (token[:-1], f"{token}x", known.hash, "é"):
            header = {"Authorization": f"Bearer {wrong}".encode()}
            status, _, _ = await ask(address, "GET", SESSIONS, headers=header)
            assert status == 401
        assert (await ask(address, "GET", SESSIONS, token))[:2] == (200, {"sessions": []})
        assert (await ask(address, "GET", "/v1/health"))[:2] == (200, {"status": "ok"})
        tokens.remove("ann")
        assert (await ask(address, "GET", SESSIONS, token))[0] == 401
        other, _ = TokenFile(tokens.path).add("bob")
        assert (await ask(address, "GET", SESSIONS, other))[0] == 200


# Holds: serve-6
def test_a_token_is_kept_as_a_hash_that_its_user_alone_can_read(tokens: TokenFile) -> None:
    token, known = tokens.add("ann")
    second, _ = tokens.add("ann")
    assert token not in tokens.path.read_text()
    assert oct(tokens.path.stat().st_mode & 0o777) == "0o600"
    assert [tokens.find_owner(each) for each in (token, second, known.hash)] == ["ann", "ann", None]
    assert [each.id for each in tokens.remove(known.id)] == [known.id]
    assert [tokens.find_owner(each) for each in (token, second)] == [None, "ann"]
    with pytest.raises(LookupError, match="no token has the id or the owner `carl`"):
        tokens.remove("carl")
    with pytest.raises(ValueError, match="printable"):
        tokens.add("a\x1b[2J")
    os.chmod(tokens.path, 0o644)
    with pytest.raises(TokenFileError, match="can be read by others"):
        tokens.find_owner(second)
    os.chmod(tokens.path, 0o600)
    tokens.path.write_text("{}")
    with pytest.raises(TokenFileError, match="is damaged"):
        tokens.find_owner(second)


# Holds: serve-7
@pytest.mark.parametrize(
    ("headers", "status", "kind"),
    [
        ({"Host": "evil.example"}, 421, "unknown_host"),
        ({"Host": "localhost.evil.example:80"}, 421, "unknown_host"),
        ({"Host": ""}, 421, "unknown_host"),
        ({"Host": "[::1"}, 421, "unknown_host"),
        ({"Origin": "http://evil.example"}, 403, "unknown_origin"),
        ({"Origin": "null"}, 403, "unknown_origin"),
        ({"Host": "desk.local"}, 200, None),
        ({"Host": "localhost:1"}, 200, None),
    ],
)
async def test_pages_of_others_reach_no_server_by_a_browser(
    store: SqliteStore, tokens: TokenFile, headers: dict[str, str], status: int, kind: str | None
) -> None:
    token, _ = tokens.add("ann")
    async with serving(store, tokens, names=["desk.local"]) as address:
        found, answer, sent = await ask(address, "GET", SESSIONS, token, headers=headers)
        assert (found, answer.get("error", {}).get("type")) == (status, kind)
        assert not [each for each in sent if each.startswith("access-control")]
        found, _, sent = await ask(address, "OPTIONS", SESSIONS, token)
        assert found == 405
        assert not [each for each in sent if each.startswith("access-control")]


# Holds: serve-8
async def test_what_is_too_much_is_refused(store: SqliteStore, tokens: TokenFile) -> None:
    token, _ = tokens.add("ann")
    other, _ = tokens.add("bob")

    async def write_much() -> Any:
        for _ in range(20):
            yield b"x" * 100_000

    rate = Rate(limit=4, period=3600, burst=4)
    async with serving(store, tokens, rate=rate) as address:
        for content in (b"x" * 2_000_000, write_much()):
            found, answer, _ = await ask(address, "POST", SESSIONS, token, content=content)
            assert (found, answer["error"]["type"]) == (413, "too_long")
        await ask(address, "GET", SESSIONS, token)
        await ask(address, "GET", SESSIONS, token)
        found, answer, headers = await ask(address, "GET", SESSIONS, token)
        assert (found, answer["error"]["type"]) == (429, "rate_limited")
        assert int(headers["retry-after"]) > 0
        assert (await ask(address, "GET", SESSIONS, other))[0] == 200


# Holds: serve-9
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "kind"),
    [
        ("GET", "/", None, 404, "unknown_path"),
        ("DELETE", SESSIONS, None, 405, "unknown_method"),
        ("POST", SESSIONS, b"{", 400, "bad_json"),
        ("POST", SESSIONS, b"\xff", 400, "bad_json"),
        ("POST", SESSIONS, b"[]", 400, "bad_json"),
        ("POST", SESSIONS, b"[" * 100_000, 400, "bad_json"),
        ("POST", SESSIONS, b"{}", 400, "bad_value"),
        ("POST", SESSIONS, b'{"prompt": "Hi.", "agent": 1}', 400, "bad_value"),
        ("POST", SESSIONS, b'{"prompt": "Hi.", "agent": ""}', 400, "bad_value"),
        ("POST", SESSIONS, b'{"prompt": "Hi.", "agent": "a", "owner": "bob"}', 400, "bad_value"),
        ("POST", SESSIONS, b'{"prompt": "Hi.", "agent": "a", "folder": "/etc"}', 403, "folder"),
        ("POST", SESSIONS, b'{"prompt": "Hi.", "agent": "a", "folder": "/p/../x"}', 403, "folder"),
        ("POST", SESSIONS, b'{"prompt": "Hi.", "agent": "a", "folder": "p"}', 403, "folder"),
        ("POST", SESSIONS, b'{"prompt": "Hi.", "agent": "a", "folder": "/p/q"}', 201, None),
        ("GET", f"{SESSIONS}/none/events", None, 404, "unknown_session"),
        ("GET", f"{SESSIONS}/none/events?since=-1", None, 400, "bad_value"),
        ("GET", f"{SESSIONS}/none/events?since=1e3", None, 400, "bad_value"),
    ],
)
async def test_what_is_wrong_with_a_request_is_one_line_with_a_type(
    store: SqliteStore,
    tokens: TokenFile,
    method: str,
    path: str,
    body: bytes | None,
    status: int,
    kind: str | None,
) -> None:
    token, _ = tokens.add("ann")
    async with (
        serving(store, tokens, folders=["/p"]) as address,
        httpx2.AsyncClient(verify=False) as http,
    ):
        response = await http.request(
            method,
            f"{address}{path}",
            content=body,
            headers={"Authorization": f"Bearer {token}"},
        )
    answer = response.json()
    assert (response.status_code, answer.get("error", {}).get("type")) == (status, kind)
    assert response.text.count("\n") == 1
    assert kind is None or answer["error"]["message"]


class BrokenStore(SqliteStore):
    """A store whose disk has failed."""

    async def sessions(self) -> Any:
        """Fail."""
        raise StoreError("the store in `/secret/place` cannot be used: disk I/O error")


async def test_what_fails_in_the_server_is_said_there_and_not_to_the_client(
    tmp_path: Path, tokens: TokenFile
) -> None:
    token, _ = tokens.add("ann")
    lines: list[str] = []
    store = BrokenStore(folder=str(tmp_path / "sessions"))
    async with serving(store, tokens, say=lines.append) as address:
        status, answer, _ = await ask(address, "GET", SESSIONS, token)
    await store.close()
    assert (status, answer["error"]["type"]) == (503, "store")
    assert "secret" not in answer["error"]["message"]
    assert lines[1:] == [
        "GET /v1/sessions: the store in `/secret/place` cannot be used: disk I/O error"
    ]


# Holds: serve-10
async def test_a_stream_says_numbers_goes_on_behind_one_and_ends_with_the_server(
    store: SqliteStore, tokens: TokenFile
) -> None:
    token, _ = tokens.add("ann")
    async with serving(store, tokens) as address, httpx2.AsyncClient(verify=False) as http:
        body = {"prompt": "Hi.", "agent": "a"}
        _, sent, _ = await ask(address, "POST", SESSIONS, token, json=body)
        claim = await store.claim(sent["session_id"], "worker")
        await store.append(claim, [("a", {"x": "é\u2028"}), ("b", 2)])
        path = f"{address}{SESSIONS}/{sent['session_id']}/events?since=1"
        for given, expected in (
            ({}, b'id: 2\nevent: a\ndata: {"x":"\\u00e9\\u2028"}\n\nid: 3\nevent: b\ndata: 2\n\n'),
            ({"Last-Event-ID": "2"}, b"id: 3\nevent: b\ndata: 2\n\n"),
        ):
            headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream", **given}
            async with http.stream("GET", path, headers=headers) as response:
                assert response.headers["content-type"].startswith("text/event-stream")
                read = b""
                async for part in response.aiter_bytes():
                    read += part
                    if read.endswith(b"data: 2\n\n"):
                        break
            assert read == b": events\n\n" + expected
    with anyio.fail_after(5):
        await end_with_stream(store, tokens, token, sent["session_id"])


async def end_with_stream(store: SqliteStore, tokens: TokenFile, token: str, id: str) -> None:
    """End a server while a client reads a stream of it."""
    async with httpx2.AsyncClient(verify=False) as http:
        async with serving(store, tokens) as address:
            request = http.build_request(
                "GET",
                f"{address}{SESSIONS}/{id}/events",
                headers={"Authorization": f"Bearer {token}", "Accept": "text/event-stream"},
            )
            response = await http.send(request, stream=True)
            parts = response.aiter_bytes()
            assert (await anext(parts)).startswith(b": events")
        assert b"".join([part async for part in parts]).count(b"id: ") <= 3
        await response.aclose()


# Holds: serve-11
async def test_a_server_that_others_can_reach_needs_tokens(
    store: SqliteStore, tokens: TokenFile
) -> None:
    with pytest.raises(ValueError, match=r"others can reach `0\.0\.0\.0`, and there are no tokens"):
        await Server(store, tokens).run(host="0.0.0.0")
