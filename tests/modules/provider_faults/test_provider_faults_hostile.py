"""A server that sends without end, packs bombs, or sends elsewhere does no harm, and is named."""

from __future__ import annotations

import contextlib
import functools
import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import httpx2
import pytest
from hostile import Hostile, endless, head, hostile
from services import KEY, REQUEST, Hooks, Service, provider_of

from amplifier_core.llm_errors import (
    ConfigurationError,
    LLMError,
    LLMTimeoutError,
    NetworkError,
    ProviderUnavailableError,
    StreamError,
)
from amplifier_providers.wire import answer
from amplifier_testing.servers import Fault

# A body that is left has generators that nobody closes, the innermost of httpx2; trio says so.
pytestmark = pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")

HANGS = 30
MOST = 1_000_000
"""The `max_answer_bytes` of these tests."""
MOST_BEFORE = 4_000_000
"""The most that is read of an error, a list, or what is said of a model before it is called."""
PIECE = 2**20
"""The most that is unpacked at once."""
Unpacked = list[list[int]]
"""The length of each piece of each body."""


def begun(service: Service, **headers: str) -> bytes:
    """The beginning of a stream of this service."""
    return head(content_type=service.kind, **headers)


@functools.cache
def packed(piece: bytes, length: int, coding: str = "gzip") -> bytes:
    """Many times the same, packed; once for all tests, as it takes longer than they do."""
    pack = gzip.compress if coding == "gzip" else zlib.compress
    return pack(piece * (length // len(piece)))


async def failure(
    url: str, service: Service, call: str = "complete", hooks: Any = None, **settings: Any
) -> LLMError:
    """The error of a call, which must come by itself."""
    with anyio.fail_after(HANGS):
        async with provider_of(service, url, hooks, **settings) as provider:
            with pytest.raises(LLMError) as caught:
                await (
                    provider.list_models() if call == "list_models" else provider.complete(REQUEST)
                )
    assert KEY not in str(caught.value) + str(caught.value.hint)
    return caught.value


class Counted(httpx2.AsyncByteStream):
    """The body of an answer; counts what is read of it as it is."""

    def __init__(self, body: Any, begin: Callable[[], list[int]]) -> None:
        self.body = body
        self.begin = begin

    async def __aiter__(self) -> AsyncIterator[bytes]:
        lengths = self.begin()
        async with contextlib.aclosing(aiter(self.body)) as pieces:
            async for piece in pieces:
                lengths.append(len(piece))
                yield piece

    async def aclose(self) -> None:
        await self.body.aclose()


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> Unpacked:
    """What was unpacked of each body; the last is that of the answer."""
    bodies: Unpacked = []
    unpacking: set[int] = set()
    given_send, given_bytes = httpx2.AsyncClient.send, httpx2.Response.aiter_bytes

    async def send(client: httpx2.AsyncClient, *arguments: Any, **options: Any) -> httpx2.Response:
        response = await given_send(client, *arguments, **options)

        def begin() -> list[int]:
            lengths: list[int] = []
            if id(response) not in unpacking:
                bodies.append(lengths)
            return lengths

        response.stream = Counted(response.stream, begin)
        return response

    async def aiter_bytes(self: httpx2.Response, *arguments: Any) -> AsyncIterator[bytes]:
        lengths: list[int] = []
        bodies.append(lengths)
        unpacking.add(id(self))  # it reads the body as it is, which counts once
        async with contextlib.aclosing(given_bytes(self, *arguments)) as pieces:
            async for piece in pieces:
                lengths.append(len(piece))
                yield piece

    monkeypatch.setattr(httpx2.AsyncClient, "send", send)
    monkeypatch.setattr(httpx2.Response, "aiter_bytes", aiter_bytes)
    return bodies


async def test_pings_without_end_are_no_answer(service: Service) -> None:
    with hostile(endless(begun(service), service.idle * 512)) as server:
        error = await failure(server.url, service, content_timeout=0.1)
    assert type(error) is LLMTimeoutError
    assert str(error).endswith(f"within 0.1 s, the `content_timeout` of {service.module}")


async def test_pings_without_end_are_no_answer_if_no_setting_says_so(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer, "MAX_SILENT_SECONDS", 0.1)
    with hostile(endless(begun(service), service.idle * 512)) as server:
        error = await failure(server.url, service)
    assert (type(error), error.hint) == (LLMTimeoutError, "retry, or raise `content_timeout`")


# Holds: sink-8
@pytest.mark.parametrize("what", ["nothing", "an event", "blank lines"])
async def test_an_answer_without_end_ends_at_its_limit(
    service: Service, what: str, unpacked: Unpacked
) -> None:
    pieces = {
        "nothing": service.idle * 512,
        "an event": service.event + b"x" * 4_000,
        "blank lines": b"\n" * 4_000,
    }
    with hostile(endless(begun(service), pieces[what])) as server:
        error = await failure(server.url, service, max_answer_bytes=MOST)
    assert (type(error), error.retryable) == (StreamError, False)
    assert f"is longer than {MOST:,} bytes, the `max_answer_bytes` of {service.module}" in str(
        error
    )
    assert error.hint == "ask for less, or raise `max_answer_bytes`"
    assert sum(unpacked[-1]) < MOST + PIECE
    assert all(sum(lengths) < MOST_BEFORE + PIECE for lengths in unpacked[:-1])


async def test_a_line_without_end_ends_at_the_limit_of_a_line(service: Service) -> None:
    with hostile(endless(begun(service), b"x" * 1_000_000)) as server:
        error = await failure(server.url, service)
    assert (type(error), error.retryable) == (StreamError, False)
    assert "a line of the stream is longer than `max_line_bytes`" in str(error)
    assert error.hint == f"no tool call of the answer was run; check `{service.address_from}`"


@pytest.mark.parametrize("call", ["complete", "list_models"])
async def test_headers_without_end_are_a_lost_connection(service: Service, call: str) -> None:
    with hostile(endless(b"HTTP/1.1 200 OK\r\n", b"x-more: y\r\n" * 99)) as server:
        error = await failure(server.url, service, call)
    assert (type(error), error.retryable) == (NetworkError, True)
    assert str(error).startswith(f"lost the connection to `{server.url}/")


@pytest.mark.parametrize("call", ["complete", "list_models"])
async def test_early_hints_without_end_are_no_answer(service: Service, call: str) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" * 99
    with hostile(endless(b"", hint)) as server:
        limits = {"timeout": 0.2} if call == "list_models" else {"content_timeout": 0.2}
        error = await failure(server.url, service, call, **limits)
    assert type(error) is LLMTimeoutError


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_packed_answer_is_unpacked_no_further_than_its_limit(
    service: Service, coding: str, unpacked: Unpacked
) -> None:
    bomb = packed(service.idle, 32_000_000, coding)
    start = begun(service, content_encoding=coding)
    with hostile(lambda: [start + bomb]) as server:
        error = await failure(server.url, service, max_answer_bytes=MOST)
    assert type(error) is StreamError
    assert f"longer than {MOST:,} bytes" in str(error)
    assert len(bomb) < MOST < sum(unpacked[-1]) <= MOST + PIECE
    assert all(sum(lengths) <= MOST_BEFORE + PIECE for lengths in unpacked[:-1])
    assert max(max(lengths) for lengths in unpacked) <= PIECE


@pytest.mark.parametrize(("call", "status"), [("complete", 500), ("list_models", 200)])
async def test_a_packed_error_or_list_is_read_no_further_than_its_limit(
    service: Service, call: str, status: int, unpacked: Unpacked
) -> None:
    bomb = packed(b" ", 100_000_000)
    start = head(status, content_type="application/json", content_encoding="gzip")
    with hostile(lambda: [start + bomb]) as server:
        error = await failure(server.url, service, call)
    assert type(error) is (ProviderUnavailableError if status == 500 else ConfigurationError)
    assert all(sum(lengths) <= MOST_BEFORE + PIECE for lengths in unpacked)


@pytest.mark.parametrize("call", ["complete", "list_models"])
@pytest.mark.parametrize("coding", ["gzip, gzip", "br, gzip", "deflate,gzip", "x-own"])
async def test_an_encoding_that_nobody_asked_for_is_not_unpacked(
    service: Service, call: str, coding: str, unpacked: Unpacked
) -> None:
    bomb = gzip.compress(packed(b"\0", 10_000_000))
    start = begun(service, content_encoding=coding)
    with hostile(lambda: [start + bomb]) as server:
        error = await failure(server.url, service, call)
    named = ", ".join(name.strip() for name in coding.split(","))
    assert (type(error), unpacked) == (ConfigurationError, [])
    assert f"answered with content encoded as `{named}` instead of `gzip, deflate" in str(error)
    assert error.hint == f"check `{service.address_from}`"


async def test_an_error_in_such_an_encoding_counts_by_its_status(
    service: Service, unpacked: Unpacked
) -> None:
    with hostile(lambda: [head(503, content_encoding="gzip, gzip") + b"x" * 99]) as server:
        error = await failure(server.url, service)
    assert (type(error), error.status_code, unpacked) == (ProviderUnavailableError, 503, [])
    assert "HTTP status 503 without a body" in str(error)


async def test_what_is_not_packed_as_it_says_is_an_answer_that_is_cut_off(service: Service) -> None:
    start = begun(service, content_encoding="gzip")
    with hostile(lambda: [start + service.idle]) as server:
        error = await failure(server.url, service)
    assert (type(error), error.hint) == (StreamError, "retry")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("call", ["complete", "list_models"])
async def test_nothing_is_sent_where_a_redirect_points(
    service: Service, status: int, call: str
) -> None:
    with hostile(lambda: [head()]) as other:
        place = f"{other.url}/v1?key={KEY}"
        with hostile(lambda: [head(status, location=place, content_length="0")]) as server:
            error = await failure(server.url, service, call, max_retries=3)
        assert (other.connections, other.received, server.connections) == (0, [], 1)
    assert type(error) is ConfigurationError
    assert f"answered with status {status}, a redirect to `{other.url}/v1?key=" in str(error)


PAGES: dict[str, tuple[int, dict[str, str], bytes, str]] = {
    "by its header": (403, {"cf-mitigated": "challenge"}, b"", "Cloudflare"),
    "by its page": (503, {}, b'<script src="/cdn-cgi/challenge-platform/h">', "Cloudflare"),
    "with success": (200, {}, b'<script src="/cdn-cgi/challenge-platform/h">', "Cloudflare"),
    "as accepted": (202, {"x-amzn-waf-action": "challenge"}, b"", "AWS WAF"),
    "as a captcha": (405, {"x-amzn-waf-action": "captcha"}, b"", "AWS WAF"),
    "of another": (429, {"x-vercel-mitigated": "challenge"}, b"", "Vercel"),
    "of one more": (200, {}, b"<iframe src='/_Incapsula_Resource?x'>", "Imperva"),
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("call", ["complete", "list_models"])
async def test_a_page_that_asks_for_a_person_is_said_to_be_one(
    service: Service, name: str, call: str
) -> None:
    status, headers, page, vendor = PAGES[name]
    hooks = Hooks()
    named = {name.replace("-", "_"): text for name, text in headers.items()}
    with hostile(lambda: [head(status, content_type="text/html", **named) + page]) as server:
        error = await failure(server.url, service, call, hooks, max_retries=1)

    assert (isinstance(error, ProviderUnavailableError), error.retryable) == (True, True)
    assert f"answered with a challenge of {vendor} (status {status}) instead of" in str(error)
    assert error.hint == f"retry later, or check `{service.address_from}` and the network"
    if call == "complete":
        about = {"provider": service.name, "model": service.model, "status_code": status}
        assert hooks.data("provider:cloudflare_challenge") == [about] * 2
        [told] = hooks.data("provider:retry")
        assert told["reason"] == f"challenge of a proxy ({status})"


@pytest.mark.parametrize("word", ["<script", "exceed", "<", "maximum context window "])
async def test_a_long_message_is_looked_at_no_further_than_it_is_shown(
    service: Service, word: str
) -> None:
    said = ('{"error": {"type": "' + word * 9 + '", "message": "' + word * 200_000 + '"}}').encode()
    fault = Fault(status=400, body=said)
    with service.server(faults=[fault]) as server:
        error = await failure(server.url, service)
    assert len(str(error)) < 1_000


def test_the_server_of_these_tests_is_one(service: Service) -> None:
    with hostile(lambda: [head(content_length="0")]) as server:
        assert isinstance(server, Hostile)
        assert httpx2.get(server.url).status_code == 200
