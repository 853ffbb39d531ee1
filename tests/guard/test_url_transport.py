"""A client over `CheckedTransport` reaches the address that was checked, and no other."""

from __future__ import annotations

from collections.abc import Iterable

import httpx2
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from amplifier_guard import UrlDenied, UrlPolicy
from amplifier_guard.url_transport import CheckedTransport

PUBLIC = "93.184.215.14"


def resolver(*successive: str):
    """A resolver that gives one address after the other, the last one for ever."""
    left = list(successive)

    def resolve(host: str, port: int) -> Iterable[str]:
        return [left.pop(0) if len(left) > 1 else left[0]]

    return resolve


def client(server: HTTPServer, resolve: object, *, deny_private: bool) -> httpx2.AsyncClient:
    policy = UrlPolicy(ports=[server.port], deny_private=deny_private)
    transport = CheckedTransport(policy, resolve=resolve)  # pyright: ignore[reportArgumentType]
    return httpx2.AsyncClient(transport=transport, follow_redirects=True)


@pytest.mark.anyio
async def test_the_request_bears_the_name_and_goes_to_the_address(httpserver: HTTPServer) -> None:
    def answer(request: Request) -> Response:
        return Response(f"{request.host} {request.path}?{request.query_string.decode()}")

    httpserver.expect_request("/a").respond_with_handler(answer)
    resolve = resolver("127.0.0.1", "127.0.0.1", PUBLIC)
    async with client(httpserver, resolve, deny_private=False) as http:
        response = await http.get(f"http://good.example:{httpserver.port}/a?b=c")
    assert response.text == f"good.example:{httpserver.port} /a?b=c"


@pytest.mark.anyio
@pytest.mark.parametrize("successive", [("127.0.0.1",), (PUBLIC, "127.0.0.1")])
async def test_a_name_that_turns_to_the_inside_reaches_nothing(
    httpserver: HTTPServer, successive: tuple[str, ...]
) -> None:
    httpserver.expect_request("/").respond_with_data("secret")
    async with client(httpserver, resolver(*successive), deny_private=True) as http:
        with pytest.raises(UrlDenied, match="which is not public"):
            await http.get(f"http://rebind.example:{httpserver.port}/")
    assert httpserver.log == []


@pytest.mark.anyio
@pytest.mark.parametrize("location", ["http://169.254.169.254:{port}/", "http://x.example:1/"])
async def test_a_redirect_is_judged_before_it_is_followed(
    httpserver: HTTPServer, location: str
) -> None:
    location = location.format(port=httpserver.port)
    moved = Response(status=302, headers={"Location": location})
    httpserver.expect_request("/").respond_with_response(moved)
    async with client(httpserver, resolver("127.0.0.1"), deny_private=False) as http:
        with pytest.raises(UrlDenied):
            await http.get(f"http://good.example:{httpserver.port}/")
    assert len(httpserver.log) == 1


@pytest.mark.anyio
async def test_a_refused_connection_is_an_error_of_the_client(httpserver: HTTPServer) -> None:
    policy = UrlPolicy(ports=[1], deny_private=False)
    transport = CheckedTransport(policy, resolve=resolver("127.0.0.1"))
    async with httpx2.AsyncClient(transport=transport) as http:
        with pytest.raises(httpx2.ConnectError):
            await http.get("http://good.example:1/")
