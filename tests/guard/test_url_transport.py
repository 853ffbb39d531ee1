"""A client over `CheckedTransport` reaches the address that was checked, and no other."""

from __future__ import annotations

import ssl
import threading
from collections.abc import AsyncIterator, Iterable, Iterator

import anyio
import anyio.from_thread
import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amplifier_guard import UrlDenied, UrlPolicy
from amplifier_guard.url_transport import CheckedTransport
from amplifier_testing.servers.serving.http import HttpRequest, Reply
from amplifier_testing.servers.serving.recording import RecordingServer

PUBLIC = "93.184.215.14"


def resolver(*successive: str):
    """A resolver that gives one address after the other, the last one for ever."""
    left = list(successive)

    def resolve(host: str, port: int) -> Iterable[str]:
        return [left.pop(0) if len(left) > 1 else left[0]]

    return resolve


def anonymous(purpose: int) -> ssl.SSLContext:
    """TLS without certificates, which needs no key on either side."""
    context = ssl.SSLContext(purpose)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AECDH-AES256-SHA:@SECLEVEL=0")
    return context


@pytest.fixture(scope="module")
def other() -> Iterator[RecordingServer]:
    """A second server, on another port."""
    with RecordingServer() as server:
        yield server


@pytest.fixture(scope="module")
def encrypted() -> Iterator[RecordingServer]:
    """A server that speaks TLS."""
    with RecordingServer(ssl_context=anonymous(ssl.PROTOCOL_TLS_SERVER)) as server:
        yield server


@pytest.fixture(autouse=True)
def _forgotten(other: RecordingServer, encrypted: RecordingServer) -> None:
    other.clear()
    encrypted.clear()


def client_of(
    *servers: RecordingServer, resolve: object = None, timeout: float | None = 60
) -> httpx2.AsyncClient:
    """A client that may reach these servers under any name."""
    trusted = anonymous(ssl.PROTOCOL_TLS_CLIENT)
    trusted.check_hostname = False
    trusted.verify_mode = ssl.CERT_NONE
    transport = CheckedTransport(
        UrlPolicy(ports=[server.port for server in servers], deny_private=False),
        resolve=resolve or resolver("127.0.0.1"),  # pyright: ignore[reportArgumentType]
        ssl_context=trusted,
    )
    return httpx2.AsyncClient(transport=transport, follow_redirects=True, timeout=timeout)


def text(content: str) -> Reply:
    return Reply.of(content.encode(), "text/plain")


def redirect(server: RecordingServer, location: str, status: int = 302, path: str = "/") -> None:
    server.respond(Reply(status, {"Location": location}, is_whole=True), path)


def client(server: RecordingServer, resolve: object, *, deny_private: bool) -> httpx2.AsyncClient:
    policy = UrlPolicy(ports=[server.port], deny_private=deny_private)
    transport = CheckedTransport(policy, resolve=resolve)  # pyright: ignore[reportArgumentType]
    return httpx2.AsyncClient(transport=transport, follow_redirects=True)


@pytest.mark.anyio
async def test_the_request_bears_the_name_and_goes_to_the_address(
    http_server: RecordingServer,
) -> None:
    def answer(request: HttpRequest) -> Reply:
        return text(f"{request.headers['host']} {request.target}")

    http_server.respond(answer, "/a")
    resolve = resolver("127.0.0.1", "127.0.0.1", PUBLIC)
    async with client(http_server, resolve, deny_private=False) as http:
        response = await http.get(f"http://good.example:{http_server.port}/a?b=c")
    assert response.text == f"good.example:{http_server.port} /a?b=c"


# Holds: sink-55
@pytest.mark.anyio
@pytest.mark.parametrize("successive", [("127.0.0.1",), (PUBLIC, "127.0.0.1")])
async def test_a_name_that_turns_to_the_inside_reaches_nothing(
    http_server: RecordingServer, successive: tuple[str, ...]
) -> None:
    http_server.respond(text("secret"), "/")
    async with client(http_server, resolver(*successive), deny_private=True) as http:
        with pytest.raises(UrlDenied, match="which is not public"):
            await http.get(f"http://rebind.example:{http_server.port}/")
    assert http_server.requests == []


@pytest.mark.anyio
@pytest.mark.parametrize("location", ["http://169.254.169.254:{port}/", "http://x.example:1/"])
async def test_a_redirect_is_judged_before_it_is_followed(
    http_server: RecordingServer, location: str
) -> None:
    location = location.format(port=http_server.port)
    redirect(http_server, location)
    async with client(http_server, resolver("127.0.0.1"), deny_private=False) as http:
        with pytest.raises(UrlDenied):
            await http.get(f"http://good.example:{http_server.port}/")
    assert len(http_server.requests) == 1


@pytest.mark.anyio
async def test_a_refused_connection_is_an_error_of_the_client(http_server: RecordingServer) -> None:
    policy = UrlPolicy(ports=[1], deny_private=False)
    transport = CheckedTransport(policy, resolve=resolver("127.0.0.1"))
    async with httpx2.AsyncClient(transport=transport) as http:
        with pytest.raises(httpx2.ConnectError):
            await http.get("http://good.example:1/")


KEYS = {
    "Authorization": "Bearer made-up-key-1",
    "Cookie": "session=made-up-key-2",
    "Proxy-Authorization": "Basic made-up-key-3",
    "X-Api-Key": "made-up-key-4",
    "api-key": "made-up-key-5",
    "x-goog-api-key": "made-up-key-6",
    "X-Auth-Token": "made-up-key-7",
    "PRIVATE-TOKEN": "made-up-key-8",
    "Ocp-Apim-Subscription-Key": "made-up-key-9",
    "X-Some-Vendor": "made-up-key-10",
    "Referer": "http://good.example/?token=made-up-key-11",
}
PLAIN = {"Accept": "text/plain", "Accept-Language": "de", "User-Agent": "tests"}


def seen(server: RecordingServer) -> dict[str, str]:
    """The headers of the last request, with names in lower case."""
    return dict(server.requests[-1].headers)


@pytest.mark.anyio
async def test_keys_go_along_to_the_same_origin(http_server: RecordingServer) -> None:
    redirect(http_server, "/next")
    http_server.respond(text("here"), "/next")
    async with client_of(http_server) as http:
        await http.get(f"http://good.example:{http_server.port}/", headers=KEYS | PLAIN)
    # The client itself replaces cookies by those that it keeps.
    kept = {name.lower(): value for name, value in (KEYS | PLAIN).items() if name != "Cookie"}
    assert kept.items() <= seen(http_server).items()


# Holds: sink-56
@pytest.mark.anyio
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("host", ["good.example", "other.example"])
async def test_no_key_goes_to_another_host_or_port(
    http_server: RecordingServer, other: RecordingServer, status: int, host: str
) -> None:
    redirect(http_server, f"http://{host}:{other.port}/", status)
    redirect(other, "/again")
    other.respond(text("there"), "/again")
    async with client_of(http_server, other) as http:
        http.cookies.set("kept", "made-up-key-12")
        response = await http.get(f"http://good.example:{http_server.port}/", headers=KEYS | PLAIN)
    assert response.text == "there"
    assert len(other.requests) == 2
    for request in other.requests:
        sent = dict(request.headers)
        assert "made-up-key" not in str(sent)
        assert {name.lower(): value for name, value in PLAIN.items()}.items() <= sent.items()


@pytest.mark.anyio
async def test_no_key_comes_back_to_the_first_origin_by_way_of_another(
    http_server: RecordingServer, other: RecordingServer
) -> None:
    redirect(http_server, f"http://other.example:{other.port}/")
    redirect(other, f"http://good.example:{http_server.port}/delete")
    http_server.respond(text("done"), "/delete")
    async with client_of(http_server, other) as http:
        await http.get(f"http://good.example:{http_server.port}/", headers=KEYS)
    assert "made-up-key" not in str(seen(http_server))


# Holds: sink-56
@pytest.mark.anyio
async def test_no_key_goes_to_another_scheme(
    http_server: RecordingServer, encrypted: RecordingServer
) -> None:
    redirect(http_server, f"https://good.example:{encrypted.port}/")
    encrypted.respond(text("encrypted"), "/")
    async with client_of(http_server, encrypted) as http:
        url = f"http://good.example:{http_server.port}/"
        response = await http.post(url, headers=KEYS, content=b"text")
    assert response.text == "encrypted"
    assert "made-up-key" not in str(seen(encrypted))


# Holds: sink-56
@pytest.mark.anyio
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("host", ["good.example", "other.example"])
async def test_no_redirect_leads_from_https_to_http(
    http_server: RecordingServer, encrypted: RecordingServer, status: int, host: str
) -> None:
    redirect(encrypted, "/next", status)
    redirect(encrypted, f"http://{host}:{http_server.port}/", status, path="/next")
    http_server.respond(text("plain"), "/")
    async with client_of(http_server, encrypted) as http:
        with pytest.raises(UrlDenied, match="a redirect goes from https to http"):
            await http.get(f"https://good.example:{encrypted.port}/", headers=KEYS)
    assert (len(encrypted.requests), http_server.requests) == (2, [])


@pytest.mark.anyio
@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "GET", "OPTIONS", "get"])
@pytest.mark.parametrize("is_stream", [False, True])
async def test_no_body_is_repeated_at_another_host(
    http_server: RecordingServer, other: RecordingServer, status: int, method: str, is_stream: bool
) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"made-up"

    redirect(http_server, f"http://other.example:{other.port}/", status)
    url = f"http://good.example:{http_server.port}/"
    async with client_of(http_server, other) as http:
        # A stream of the caller's cannot be read a second time; the client says so itself.
        with pytest.raises((UrlDenied, httpx2.StreamConsumed)) as raised:
            await http.request(method, url, content=parts() if is_stream else b"made-up")
    assert is_stream or f"would repeat a `{method.upper()}` there" in str(raised.value)
    assert other.requests == []


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["User-Agent", "Accept", "Range", "If-None-Match"])
async def test_no_key_goes_along_in_a_harmless_header(
    http_server: RecordingServer, other: RecordingServer, name: str
) -> None:
    redirect(http_server, f"http://other.example:{other.port}/")
    other.respond(text("there"), "/")
    async with client_of(http_server, other) as http:
        headers = {"X-Api-Key": "made-up-key", name: "x made-up-key"}
        await http.get(f"http://good.example:{http_server.port}/", headers=headers)
    assert "made-up" not in str(seen(other))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("query", "location"),
    [
        ("key=made-up-key-1", "?key=made-up-key-1"),
        ("api_key=made-up%2Bkey", "?next=made-up%2Bkey"),
        ("access_token=made-up-key", "made-up-key/a"),
        ("q=1", "?t=made-up-header"),
    ],
)
async def test_no_key_goes_along_in_the_url(
    http_server: RecordingServer, other: RecordingServer, query: str, location: str
) -> None:
    redirect(http_server, f"http://other.example:{other.port}/{location}")
    url = f"http://good.example:{http_server.port}/?{query}"
    async with client_of(http_server, other) as http:
        with pytest.raises(UrlDenied, match="would take a key along") as raised:
            await http.get(url, headers={"X-Api-Key": "made-up-header"})
    assert "made-up" not in str(raised.value)
    assert other.requests == []


@pytest.mark.anyio
async def test_what_is_no_key_goes_along_in_the_url(
    http_server: RecordingServer, other: RecordingServer
) -> None:
    redirect(http_server, f"http://other.example:{other.port}/?q=needle&design=minimal")
    other.respond(text("found"), "/")
    async with client_of(http_server, other) as http:
        url = f"http://good.example:{http_server.port}/?q=needle&design=minimal"
        assert (await http.get(url)).text == "found"


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,20}", fullmatch=True))
def test_no_header_of_any_name_goes_to_another_port_unless_it_is_known_to_be_harmless(
    http_server: RecordingServer, other: RecordingServer, name: str
) -> None:
    async def ask() -> None:
        async with client_of(http_server, other) as http:
            headers = {"x-key": "made-up", f"X-{name}": "made-up", f"{name}-Key": "made-up"}
            await http.get(f"http://good.example:{http_server.port}/", headers=headers)

    http_server.clear()
    other.clear()
    redirect(http_server, f"http://good.example:{other.port}/")
    other.respond(text("there"), "/")
    anyio.run(ask)
    assert "made-up" not in str(seen(other))


# Holds: sink-57
@pytest.mark.anyio
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_resolver_that_hangs_ends_with_the_time_out_of_the_client(
    http_server: RecordingServer, is_async: bool
) -> None:
    released = threading.Event()

    async def never(host: str, port: int) -> list[str]:
        await anyio.sleep_forever()
        return []

    def blocked(host: str, port: int) -> list[str]:
        released.wait(60)
        return []

    try:
        async with client_of(
            http_server, resolve=never if is_async else blocked, timeout=0.01
        ) as http:
            with pytest.raises(httpx2.ConnectTimeout, match=r"no connection to `good\.example`"):
                await http.get(f"http://good.example:{http_server.port}/")
    finally:
        released.set()
    assert http_server.requests == []


@pytest.mark.anyio
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_look_up_can_be_cancelled(http_server: RecordingServer, is_async: bool) -> None:
    released, begun = threading.Event(), anyio.Event()

    async def never(host: str, port: int) -> list[str]:
        begun.set()
        await anyio.sleep_forever()
        return []

    def blocked(host: str, port: int) -> list[str]:
        anyio.from_thread.run_sync(begun.set)
        released.wait(60)
        return []

    resolve = never if is_async else blocked
    try:
        async with (
            client_of(http_server, resolve=resolve, timeout=None) as http,
            anyio.create_task_group() as group,
        ):
            group.start_soon(http.get, f"http://good.example:{http_server.port}/")
            await begun.wait()
            group.cancel_scope.cancel()
    finally:
        released.set()
    assert http_server.requests == []
