"""What goes wrong on purpose, as a client sees it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest

from amplifier_testing.servers import Answer, AnthropicServer, Fault, http_date
from amplifier_testing.servers.serving.fault import PAGE

Body = dict[str, Any]
HEADERS = {"x-api-key": "key", "anthropic-version": "2023-06-01"}
ASKED: Body = {
    "model": "claude-opus-4-6",
    "max_tokens": 2_000,
    "messages": [{"role": "user", "content": "hi"}],
    "stream": True,
}


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(headers=HEADERS, timeout=30) as running:
        yield running


async def ask(
    client: httpx2.AsyncClient, server: AnthropicServer, **fields: Any
) -> httpx2.Response:
    return await client.post(f"{server.url}/v1/messages", json={**ASKED, **fields})


async def receive(
    client: httpx2.AsyncClient,
    server: AnthropicServer,
    into: bytearray,
    wait: float = 30,
    **fields: Any,
) -> None:
    url = f"{server.url}/v1/messages"
    async with client.stream("POST", url, json={**ASKED, **fields}, timeout=wait) as response:
        assert response.status_code == 200
        async for chunk in response.aiter_raw():
            into.extend(chunk)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (408, "timeout_error"),
        (413, "request_too_large"),
        (422, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (502, "api_error"),
        (503, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ],
)
async def test_a_status_comes_with_the_error_of_the_dialect_and_once(
    status: int, kind: str, client: httpx2.AsyncClient
) -> None:
    with AnthropicServer(faults=[Fault(status=status)]) as server:
        response = await ask(client, server)

        assert (response.status_code, response.json()["error"]["type"]) == (status, kind)
        assert (await ask(client, server)).status_code == 200
        assert server.refusals == []
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("fault", "body", "kind"),
    [
        (Fault(status=502, body="html"), PAGE, "text/html; charset=utf-8"),
        (Fault(status=503, body="empty"), b"", None),
        (Fault(status=500, body=b"{oops", content_type="text/plain"), b"{oops", "text/plain"),
    ],
)
async def test_the_body_of_a_failure_may_be_of_something_else(
    fault: Fault, body: bytes, kind: str | None, client: httpx2.AsyncClient
) -> None:
    with AnthropicServer(faults=[fault]) as server:
        response = await ask(client, server)

    assert (response.content, response.headers.get("content-type")) == (body, kind)


async def test_a_failure_says_when_to_come_back(client: httpx2.AsyncClient) -> None:
    waits = [{"retry-after": "1.5"}, {"retry-after-ms": "20"}, {"retry-after": http_date(60)}, {}]
    with AnthropicServer(faults=[Fault(status=429, headers=wait) for wait in waits]) as server:
        seen = [(await ask(client, server)).headers for _ in waits]

    assert seen[0]["retry-after"] == "1.5"
    assert seen[1]["retry-after-ms"] == "20"
    assert parsedate_to_datetime(seen[2]["retry-after"]).timestamp() > time.time()
    assert "retry-after" not in seen[3]


async def test_a_failure_says_what_it_is_asked_to_say(client: httpx2.AsyncClient) -> None:
    fault = Fault(status=400, kind="billing_error", message="No credit")
    with AnthropicServer(faults=[fault]) as server:
        error = (await ask(client, server)).json()["error"]

    assert error == {"type": "billing_error", "message": "No credit"}


async def test_a_request_that_is_wrong_does_not_hide_behind_a_fault(
    client: httpx2.AsyncClient,
) -> None:
    with AnthropicServer(faults=[Fault(status=503)]) as server:
        assert (await ask(client, server, max_tokens=0)).status_code == 400
        assert (await ask(client, server)).status_code == 503
        assert (await ask(client, server)).status_code == 200


async def test_faults_wait_for_their_request(client: httpx2.AsyncClient) -> None:
    with AnthropicServer(faults=[None, Fault(status=503)]) as server:
        assert [(await ask(client, server)).status_code for _ in range(3)] == [200, 503, 200]


async def test_a_redirect_goes_elsewhere(client: httpx2.AsyncClient) -> None:
    fault = Fault(status=307, headers={"location": "https://example.com/"})
    with AnthropicServer(faults=[fault]) as server:
        response = await ask(client, server)

    assert (response.status_code, response.headers["location"]) == (307, "https://example.com/")


@pytest.mark.parametrize("cut", [0, 1, 100, 100_000])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_cut_ends_the_connection_after_so_many_bytes(
    cut: int, stream: bool, client: httpx2.AsyncClient
) -> None:
    with AnthropicServer(["x" * 100_000], faults=[Fault(cut=cut)]) as server:
        received = bytearray()
        with pytest.raises(httpx2.RemoteProtocolError):
            await receive(client, server, received, stream=stream)

        assert len(received) == cut
        assert (await ask(client, server)).status_code == 200


async def test_a_stall_lasts_until_the_client_goes(client: httpx2.AsyncClient) -> None:
    with AnthropicServer(faults=[Fault(stall=50)]) as server:
        received = bytearray()
        with pytest.raises(httpx2.ReadTimeout):
            await receive(client, server, received, wait=0.2)

        assert len(received) == 50
        assert (await ask(client, server)).status_code == 200


@pytest.mark.parametrize("fault", [Fault(stall=10), Fault(silent=True)])
async def test_a_server_stops_while_an_answer_stalls(
    fault: Fault, client: httpx2.AsyncClient
) -> None:
    async def go_on(server: AnthropicServer) -> None:
        with pytest.raises(httpx2.RemoteProtocolError):
            await ask(client, server)

    async with anyio.create_task_group() as tasks:
        with AnthropicServer(faults=[fault]) as server:
            tasks.start_soon(go_on, server)
            while not server.requests:
                await anyio.lowlevel.checkpoint()


async def test_a_connection_may_close_without_an_answer(client: httpx2.AsyncClient) -> None:
    with AnthropicServer(faults=[Fault(hang_up=True)]) as server:
        with pytest.raises(httpx2.RemoteProtocolError):
            await ask(client, server)

        assert (await ask(client, server)).status_code == 200


async def test_pieces_of_one_byte_are_the_same_body(client: httpx2.AsyncClient) -> None:
    with AnthropicServer(["é😀"] * 2, faults=[Fault(piece=1, pause=0.000_1)]) as server:
        slow, fast = [(await ask(client, server)).text for _ in range(2)]

    assert slow.count("text_delta") == fast.count("text_delta") == 1
    assert "é😀" in slow
    assert "é😀" in fast


async def test_an_event_may_break_off(client: httpx2.AsyncClient) -> None:
    with AnthropicServer(faults=[Fault(malformed=1)]) as server:
        events = (await ask(client, server)).content.split(b"\n\n")

    assert events[0].rstrip().endswith(b"}")
    assert not events[1].rstrip().endswith(b"}")
    assert events[2].rstrip().endswith(b"}")


async def test_an_error_may_come_in_the_stream(client: httpx2.AsyncClient) -> None:
    with AnthropicServer(faults=[Fault(error_after=2, kind="overloaded_error")]) as server:
        response = await ask(client, server)

    events = response.text.split("\n\n")
    assert response.status_code == 200
    assert len(events) == 4  # the last is what follows the last blank line
    assert events[2].startswith("event: error\n")
    assert '"type":"overloaded_error"' in events[2]


async def test_more_may_come_than_was_asked_for(client: httpx2.AsyncClient) -> None:
    extra = b": a comment\n\nevent: news\ndata: {}\n\n"
    with AnthropicServer(faults=[Fault(insert={0: extra})]) as server:
        assert (await ask(client, server)).content.startswith(extra)


async def test_the_content_type_may_be_wrong(client: httpx2.AsyncClient) -> None:
    with AnthropicServer(faults=[Fault(content_type="text/html", headers={"x-a": "b"})]) as server:
        response = await ask(client, server)

    assert response.status_code == 200
    assert (response.headers["content-type"], response.headers["x-a"]) == ("text/html", "b")


async def test_one_connection_serves_many_requests_and_many_serve_at_once(
    client: httpx2.AsyncClient,
) -> None:
    statuses: list[int] = []

    async def go(server: AnthropicServer) -> None:
        statuses.append((await ask(client, server)).status_code)

    with AnthropicServer([Answer("x")] * 20) as server:
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(go, server)

    assert statuses == [200] * 20


def test_a_body_may_come_in_chunks() -> None:
    def chunks() -> Any:
        yield b'{"model": "claude-opus-4-6", "max_tokens": 5,'
        yield b' "messages": [{"role": "user", "content": "hi"}]}'

    headers = {**HEADERS, "content-type": "application/json"}
    with AnthropicServer() as server:
        response = httpx2.post(f"{server.url}/v1/messages", headers=headers, content=chunks())

    assert response.status_code == 200
