"""Whatever a client or a server does, its connection ends, and the proxy goes on."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proxy_setup import Setup, list_server, read_all, read_head, serve, start_proxy

from amplifier_modules.sandbox.proxy import ProxyLimits

HASTY = ProxyLimits(head_seconds=0.2, connect_seconds=0.2, idle_seconds=0.2)


@pytest.fixture(scope="module")
def shared_proxy() -> Iterator[Setup]:
    with start_proxy() as setup:
        yield setup


def read_silently(connection: socket.socket) -> None:
    """Read to the end, and answer nothing."""
    while connection.recv(65536):
        pass


def is_alive(setup: Setup) -> bool:
    return setup.exchange(b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 403 ")


# Holds: sandbox-38
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", b"400"),
        (b"CONNECT evil.example\r\nX: 1:443 HTTP/1.1\r\n\r\n", b"400"),
        (b"CONNECT evil.example:443 HTTP/1.1\r\nX: " + b"x" * 70_000 + b"\r\n\r\n", b"431"),
        (b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n", b"403"),
        (b"CONNECT 2130706433:443 HTTP/1.1\r\n\r\n", b"403"),
        (b"CONNECT nowhere.example:443 HTTP/1.1\r\n\r\n", b"502"),
    ],
)
def test_what_cannot_be_served_is_answered(sent: bytes, status: bytes) -> None:
    with start_proxy(["nowhere.example"]) as setup:
        answer = setup.exchange(sent)
        assert answer.startswith(b"HTTP/1.1 " + status + b" ")
        assert is_alive(setup)


# Holds: sandbox-38
def test_a_head_that_never_ends_is_answered() -> None:
    with start_proxy(limits=HASTY) as setup:
        assert setup.exchange(b"CONNECT shop.example").startswith(b"HTTP/1.1 408 ")
        assert setup.exchange(b"").startswith(b"HTTP/1.1 408 ")


# Holds: sandbox-38
def test_a_client_that_hangs_up_in_the_head_is_answered() -> None:
    with start_proxy() as setup:
        for sent, answer in ((b"", b""), (b"CONNECT shop", b"HTTP/1.1 400 ")):
            with setup.connect() as client:
                client.sendall(sent)
                client.shutdown(socket.SHUT_WR)
                assert read_all(client).startswith(answer)
        assert is_alive(setup)


# Holds: sandbox-38
def test_a_client_that_resets_its_connection_ends_the_one_to_the_server() -> None:
    ended: list[bool] = []

    def answer(connection: socket.socket) -> None:
        connection.sendall(b"x")
        read_silently(connection)
        ended.append(True)

    with serve(answer) as port, start_proxy(list_server(port)) as setup:
        client = setup.open_tunnel(f"shop.example:{port}")
        assert client.recv(1) == b"x"
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        assert is_alive(setup)
    assert ended == [True]


# Holds: sandbox-38
def test_a_server_that_resets_its_connection_ends_the_one_to_the_client() -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with (
        serve(answer) as port,
        start_proxy(list_server(port)) as setup,
        setup.open_tunnel(f"shop.example:{port}") as client,
    ):
        client.sendall(b"x")
        assert read_all(client) == b""
        plain = setup.exchange(f"GET http://shop.example:{port}/ HTTP/1.1\r\n\r\n".encode())
        assert plain.startswith(b"HTTP/1.1 502 ")


# Holds: sandbox-38
def test_a_server_that_never_answers_is_given_up() -> None:
    with serve(read_silently) as port, start_proxy(list_server(port), limits=HASTY) as setup:
        plain = setup.exchange(f"GET http://shop.example:{port}/ HTTP/1.1\r\n\r\n".encode())
        assert plain.startswith(b"HTTP/1.1 502 ")
        assert plain.endswith(b"`shop.example` did not answer\n")
        with setup.open_tunnel(f"shop.example:{port}") as client:
            assert read_all(client) == b""
        assert is_alive(setup)


# Holds: sandbox-38
def test_a_server_that_is_not_there_is_answered() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with start_proxy(list_server(port)) as setup:
        answer = setup.exchange(f"CONNECT shop.example:{port} HTTP/1.1\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 502 ")
        assert b"no connection to `shop.example`: Connection refused\n" in answer


# Holds: sandbox-38
def test_a_client_that_reads_nothing_is_given_up() -> None:
    def answer(connection: socket.socket) -> None:
        while True:
            connection.sendall(bytes(1 << 20))

    with serve(answer) as port, start_proxy(list_server(port), limits=HASTY) as setup:
        client = setup.connect()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(f"CONNECT shop.example:{port} HTTP/1.1\r\n\r\n".encode())
        assert read_head(client)
        assert is_alive(setup)
        # The server's thread ends with its connection, which `serve` waits for.
    client.close()


# Holds: sandbox-38
@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 9\r\n\r\nshort",
        b"Transfer-Encoding: chunked\r\n\r\nx\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcdeX",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 100_000,
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"x" * 200_000,
    ],
)
def test_a_malformed_body_is_answered(body: bytes) -> None:
    with (
        serve(read_silently) as port,
        start_proxy(list_server(port)) as setup,
        setup.connect() as client,
    ):
        client.sendall(f"POST http://shop.example:{port}/ HTTP/1.1\r\n".encode() + body)
        client.shutdown(socket.SHUT_WR)
        assert read_all(client).startswith(b"HTTP/1.1 400 ")


# Holds: sandbox-31
def test_an_answer_that_comes_before_the_end_of_the_body_is_read() -> None:
    def answer(connection: socket.socket) -> None:
        read_head(connection)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        read_silently(connection)

    with serve(answer) as port, start_proxy(list_server(port)) as setup:
        sent = f"POST http://shop.example:{port}/ HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n"
        assert setup.exchange(sent.encode() + bytes(400_000)).startswith(b"HTTP/1.1 413 ")


# Holds: sandbox-35
def test_a_connection_too_many_is_answered_at_once() -> None:
    with start_proxy(limits=ProxyLimits(connections=2)) as setup:
        first, second = setup.connect(), setup.connect()
        with setup.connect() as third:
            assert read_all(third).startswith(b"HTTP/1.1 503 ")
        for client in (first, second):
            client.sendall(b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n")
            assert read_all(client).startswith(b"HTTP/1.1 403 ")
            client.close()


# Holds: sandbox-38
@settings(max_examples=50)
@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"\r\n", b"CONNECT ", b" HTTP/1.1"])))
def test_any_bytes_are_answered_or_closed(shared_proxy: Setup, pieces: list[bytes]) -> None:
    with shared_proxy.connect() as client:
        for piece in pieces:
            client.sendall(piece)
        client.shutdown(socket.SHUT_WR)
        answer = read_all(client)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 4")


# Holds: sandbox-31
@pytest.mark.parametrize(
    ("answered", "received"),
    [
        ("200 OK\r\nKEEP-ALIVE: x\r\nX: 1\r\n\r\nbody", "200 OK\r\nX: 1\r\n|\r\n\r\nbody"),
        ("204\r\nConnection: keep-alive\r\n\r\n", "204\r\n|\r\n\r\n"),
        ("100 C\r\n\r\nHTTP/1.1 200\r\n\r\n", "100 C\r\n\r\nHTTP/1.1 200\r\n|\r\n\r\n"),
        ("no head", "no head"),
        ("x" * 100_000 + "\r\n\r\nbody", "x" * 100_000 + "\r\n\r\nbody"),
    ],
)
def test_an_answer_says_that_its_connection_ends(answered: str, received: str) -> None:
    def answer(connection: socket.socket) -> None:
        read_head(connection)
        connection.sendall(f"HTTP/1.1 {answered}".encode())
        connection.shutdown(socket.SHUT_WR)
        read_silently(connection)

    with serve(answer) as port, start_proxy(list_server(port)) as setup, setup.connect() as client:
        client.sendall(f"GET http://shop.example:{port}/ HTTP/1.1\r\n\r\n".encode())
        assert read_all(client).decode() == "HTTP/1.1 " + received.replace("|", "Connection: close")
