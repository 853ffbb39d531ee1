"""A proxy that cannot be reached, or lets nothing through, is named, and its password is not."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator

import pytest
from hostile import head, hostile
from services import REQUEST, Service, provider_of

from amplifier_core.llm_errors import ConfigurationError, LLMError, LLMTimeoutError, NetworkError

URL = "https://models.example/v1"
PASSWORD = "correct-horse"
HINT = "check the proxy (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`) and the network"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def port() -> int:
    """A port of this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        return closed.getsockname()[1]


async def failure(service: Service, url: str = URL, **settings: float) -> LLMError:
    async with provider_of(service, url, **settings) as provider:
        with pytest.raises(LLMError) as caught:
            await provider.complete(REQUEST)
    assert PASSWORD not in f"{caught.value!r} {caught.value.hint}"
    return caught.value


def shown(service: Service) -> str:
    """The address that a request goes to."""
    version = "/v1" if service.path.startswith("/v1") or service.is_own else ""
    return URL.removesuffix(version) + service.path


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
async def test_a_proxy_that_takes_no_connection_is_named_without_its_password(
    variable: str, service: Service, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, f"http://me:{PASSWORD}@127.0.0.1:{port}")

    error = await failure(service)

    assert type(error) is NetworkError
    assert str(error) == (
        f"cannot connect to `{shown(service)}` through the proxy `127.0.0.1:{port}`:"
        " Connection refused"
    )
    assert (error.hint, error.retryable) == (HINT, True)


@pytest.mark.parametrize(
    ("status", "is_retryable"), [(407, False), (403, False), (502, True), (503, True)]
)
async def test_a_proxy_that_lets_nothing_through_is_named_with_its_reason(
    status: int, is_retryable: bool, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hostile(lambda: [head(status, content_length="0")]) as proxy:
        address = proxy.url.removeprefix("http://")
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:{PASSWORD}@{address}")
        error = await failure(service)

    assert proxy.received[0].startswith(b"CONNECT models.example:443 ")
    assert type(error) is NetworkError
    assert str(error) == (
        f"cannot connect to `{shown(service)}` through the proxy `{address}`: {status} OK"
    )
    assert (error.hint, error.retryable) == (HINT, is_retryable)


@contextlib.contextmanager
def silent() -> Iterator[int]:
    """A port of this machine whose connections are never made: those before it fill its queue."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        yield server.getsockname()[1]


async def test_a_proxy_that_does_not_answer_is_named(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with silent() as port:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:{PASSWORD}@127.0.0.1:{port}")
        error = await failure(service, timeout=0.2)

    assert type(error) is LLMTimeoutError
    assert str(error) == (
        f"no connection from `{shown(service)}` through the proxy `127.0.0.1:{port}` within 0.2 s"
    )
    assert error.hint == HINT


async def test_a_proxy_that_is_not_asked_is_not_named(
    service: Service, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:{PASSWORD}@127.0.0.1:1")

    error = await failure(service, f"https://127.0.0.1:{port}")

    assert type(error) is NetworkError
    assert str(error).startswith(f"cannot connect to `https://127.0.0.1:{port}/")
    assert "proxy" not in f"{error} {error.hint}"


@pytest.mark.parametrize("port", ["abc", "99999"])
async def test_a_proxy_with_an_impossible_port_is_a_mistake_of_the_environment(
    port: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://me:{PASSWORD}@127.0.0.1:{port}")

    error = await failure(service)

    assert type(error) is ConfigurationError
    assert str(error).startswith("cannot set up connections: ")
    assert port in str(error)
    assert str(error.hint).startswith("check `HTTPS_PROXY`")


async def test_an_answer_through_a_proxy_is_that_of_the_service(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hostile(lambda: [head(503, content_length="0")]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        error = await failure(service, URL.replace("https", "http"))

    assert b" http://models.example/" in proxy.received[-1].splitlines()[0]
    assert error.status_code == 503
