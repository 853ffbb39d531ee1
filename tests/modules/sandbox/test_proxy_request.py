"""The head of a request is read in one way only, and everything else is answered with an error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_modules.sandbox.network.problem import ProxyProblem
from amplifier_modules.sandbox.network.request import (
    Chunked,
    PlainRequest,
    TunnelRequest,
    parse_chunk_size,
    parse_head,
)

LABEL = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12).map("x{}".format)
HOST = st.lists(LABEL, min_size=2, max_size=4).map(".".join)
TOKEN = st.text("abcXYZ019!#$%&'*+-.^_`|~", min_size=1, max_size=20)
VALUE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0xFF, exclude_characters="\x7f"))
PIECES = st.sampled_from(
    [
        *("CONNECT", "GET", "POST", "http://", "https://", "shop.example", "[::1]", "[", "]", "@"),
        *("127.1", "0x7f.1", "2130706433", "%00", "%0d%0a", ":", ":80", ":99999", ":0", ":-1", "/"),
        *(" ", "\t", "\r", "\n", "\r\n", "\0", "\x7f", "\xa0", "\xff", "?", "#", "\\", "..", "*"),
        *("HTTP/1.1", "HTTP/1.0", "HTTP/2", "Host", "Content-Length", "Transfer-Encoding"),
        *("chunked", "Connection", "close", "5", "-5", "1e3", ",", ";", "xn--", "b\xfccher"),
    ]
)


def parse(text: str) -> TunnelRequest | PlainRequest:
    return parse_head(f"{text}\r\n\r\n".encode("latin-1"))


def try_to_parse(text: str) -> TunnelRequest | PlainRequest | ProxyProblem:
    try:
        return parse(text)
    except ProxyProblem as problem:
        return problem


def status_of(text: str) -> int:
    with pytest.raises(ProxyProblem) as caught:
        parse(text)
    return caught.value.status


# Holds: sandbox-38
@given(HOST, st.integers(1, 65535))
def test_a_tunnel_leads_to_the_host_and_port_that_it_names(host: str, port: int) -> None:
    request = parse(f"CONNECT {host.upper()}:{port} HTTP/1.1\r\nHost: other.example")

    assert isinstance(request, TunnelRequest)
    assert (request.destination.host, request.destination.port) == (host, port)


@given(HOST, st.dictionaries(TOKEN.map("X-{}".format), VALUE, max_size=5))
def test_headers_are_forwarded_unchanged(host: str, headers: dict[str, str]) -> None:
    fields = [f"{name}: {value}" for name, value in headers.items()]
    request = parse("\r\n".join([f"GET http://{host}/a?b HTTP/1.1", "Host: other", *fields]))

    assert isinstance(request, PlainRequest)
    lines = ["GET /a?b HTTP/1.1", f"Host: {host}", *fields, "Connection: close", "", ""]
    assert request.head.decode("latin-1") == "\r\n".join(lines)
    assert request.body is None


# Holds: sandbox-38
@given(st.lists(PIECES, max_size=20).map("".join) | st.text(st.characters(max_codepoint=0xFF)))
def test_any_head_is_a_request_or_a_problem(head: str) -> None:
    request = try_to_parse(head)
    if isinstance(request, ProxyProblem):
        assert request.write_answer().startswith(b"HTTP/1.1 40")
        assert request.text.isprintable()
        return
    assert request.destination.host.isascii()
    assert 0 < request.destination.port < 65536
    if isinstance(request, PlainRequest):
        assert request.head.count(b"\r\n\r\n") == 1
        assert request.head.count(b"\n") == request.head.count(b"\r\n")


# Holds: sandbox-38
@given(HOST, st.lists(st.sampled_from(["Content-Length: 5", "Content-Length: 7"]), max_size=3))
def test_the_forwarded_head_is_read_again_as_the_same_request(host: str, sizes: list[str]) -> None:
    request = try_to_parse("\r\n".join([f"POST http://{host}/x HTTP/1.1", *sizes]))
    if len(set(sizes)) > 1:
        assert isinstance(request, ProxyProblem)
        return
    assert isinstance(request, PlainRequest)
    sent = request.head.decode().replace("POST /x", f"POST http://{host}/x")
    again = parse(sent.removesuffix("\r\n\r\n"))
    assert isinstance(again, PlainRequest)
    assert (again.head, again.body) == (request.head, request.body)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("", 400),
        ("GET / HTTP/1.1\r\nHost: shop.example", 400),
        ("GET http://shop.example/", 400),
        ("GET  http://shop.example/ HTTP/1.1", 400),
        ("GET http://shop.example/ HTTP/2", 400),
        ("GET http://shop.example/ HTTP/1.1\nX: 1", 400),
        ("GET http://shop.example/ HTTP/1.1\r\nX : 1", 400),
        ("GET http://shop.example/ HTTP/1.1\r\nX: 1\r\n folded", 400),
        ("GET http://shop.example/ HTTP/1.1\r\nX: a\rb", 400),
        ("GET http://shop.example/ HTTP/1.1\r\nX: a\0b", 400),
        ("GET https://shop.example/ HTTP/1.1", 400),
        ("GET ftp://shop.example/ HTTP/1.1", 400),
        ("GET http://shop.example:99999/ HTTP/1.1", 400),
        ("GET http://shop.example:0/ HTTP/1.1", 400),
        ("GET http://[::1/ HTTP/1.1", 400),
        ("GET http://b\xfccher.example/ HTTP/1.1", 400),
        ("GET http:///x HTTP/1.1", 403),
        ("GET http://user:word@shop.example/ HTTP/1.1", 403),
        ("GET http://shop.example\\@evil.example/ HTTP/1.1", 403),
        ("GET http://evil%0d%0a.example/ HTTP/1.1", 403),
        ("GET http://169.254.169.254/latest HTTP/1.1", 403),
        ("GET http://metadata.google.internal/ HTTP/1.1", 403),
        ("CONNECT shop.example HTTP/1.1", 400),
        ("CONNECT shop.example: HTTP/1.1", 400),
        ("CONNECT shop.example:0 HTTP/1.1", 400),
        ("CONNECT shop.example:65536 HTTP/1.1", 400),
        ("CONNECT shop.example:443/ HTTP/1.1", 400),
        ("CONNECT shop.example:443:80 HTTP/1.1", 400),
        ("CONNECT user@shop.example:443 HTTP/1.1", 400),
        ("CONNECT https://shop.example:443 HTTP/1.1", 400),
        ("CONNECT ::1:443 HTTP/1.1", 400),
        ("CONNECT [::1%25eth0]:443 HTTP/1.1", 400),
        ("CONNECT sh\xf6p.example:443 HTTP/1.1", 400),
        ("CONNECT -:443 HTTP/1.1\r\n\r\n", 400),
        ("CONNECT [fe80::1]:443 HTTP/1.1", 403),
        ("CONNECT a..b:443 HTTP/1.1", 403),
    ],
)
def test_a_head_that_can_be_misread_is_refused(text: str, status: int) -> None:
    assert status_of(text) == status


@pytest.mark.parametrize(
    "fields",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: +5",
        "Content-Length: 5, 5",
        "Content-Length: ",
        "Content-Length: 9999999999999999999",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: \x0bchunked",
    ],
)
def test_a_body_whose_end_is_ambiguous_is_refused(fields: str) -> None:
    assert status_of(f"POST http://shop.example/ HTTP/1.1\r\n{fields}") == 400


def test_bodies_are_framed_anew() -> None:
    sized = parse("POST http://shop.example/ HTTP/1.1\r\nCONTENT-LENGTH: 0")
    chunked = parse(
        "POST http://shop.example/ HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n"
        "Connection: Transfer-Encoding"
    )

    assert isinstance(sized, PlainRequest)
    assert isinstance(chunked, PlainRequest)
    assert (sized.body, chunked.body) == (0, Chunked())
    assert b"\r\nContent-Length: 0\r\n" in sized.head
    assert chunked.head.count(b"Transfer-Encoding: chunked\r\n") == 1


@given(st.integers(0, 16**12 - 1))
def test_the_size_of_a_chunk_is_read(size: int) -> None:
    assert parse_chunk_size(b"%X ; name=value\r\n" % size) == size


@pytest.mark.parametrize("line", [b"\r\n", b"-1\r\n", b"0x5\r\n", b"5\n", b" 5\r\n", b"5;\n\r\n"])
def test_a_malformed_size_of_a_chunk_is_refused(line: bytes) -> None:
    with pytest.raises(ProxyProblem, match="a chunk of the body is malformed"):
        parse_chunk_size(line)
