"""A client of TLS can begin a connection only to the server that the tunnel was allowed for."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proxy_setup import list_server, make_hello, read_all, serve, start_proxy

from amplifier_modules.sandbox.network.server_name import read_hello, read_server_name

ALERT = bytes([21, 3, 1, 0, 2, 2, 112])


def split_record(hello: bytes, sizes: list[int]) -> bytes:
    """The same message in several records."""
    message, records = hello[5:], b""
    for size in [*sizes, len(message)]:
        part, message = message[:size], message[size:]
        if part:
            records += hello[:3] + len(part).to_bytes(2) + part
    return records


@given(st.lists(st.integers(1, 200), max_size=6), st.integers(0, 600))
def test_the_name_is_read_from_any_records_and_from_no_part_of_them(
    sizes: list[int], cut: int
) -> None:
    records = split_record(make_hello("shop.example"), sizes)
    hello = read_hello(records)

    assert hello is not None
    assert read_server_name(hello) == "shop.example"
    assert cut >= len(records) or read_hello(records[:cut]) is None


def test_a_client_may_name_no_server() -> None:
    hello = read_hello(make_hello(None))

    assert hello is not None
    assert read_server_name(hello) is None


def find_name(start: bytes) -> str | ValueError | None:
    try:
        hello = read_hello(start)
        return None if hello is None else read_server_name(hello)
    except ValueError as error:
        return error


@given(st.binary(max_size=400))
def test_any_bytes_name_nothing_or_are_malformed(content: bytes) -> None:
    for start in (content, b"\x16\x03\x01" + len(content).to_bytes(2) + content):
        assert not isinstance(find_name(start), str)


@given(st.data())
def test_a_changed_message_does_not_raise_anything_else(data: st.DataObject) -> None:
    start = bytearray(make_hello("shop.example"))
    place = data.draw(st.integers(0, len(start) - 1))
    start[place] = data.draw(st.integers(0, 255))

    assert isinstance(find_name(bytes(start)), str | None | ValueError)


@pytest.mark.parametrize(
    "start",
    [
        b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
        b"\x16\x03\x01\x00\x00" * 20,
        b"\x16\x03\x01\x00\x01\x01" * 20,
        b"\x16\x03\x01\xff\xff" + bytes(20_000),
        split_record(make_hello("shop.example"), [1])[:6] + b"\x17\x03\x01\x00\x01\x00",
    ],
)
def test_a_beginning_that_is_too_long_or_another_message_is_refused(start: bytes) -> None:
    with pytest.raises(ValueError, match=r"first message|not a record"):
        read_hello(start)


# Holds: sandbox-32
@pytest.mark.parametrize("pieces", [1, 7])
def test_the_server_that_was_allowed_is_sent_everything(pieces: int) -> None:
    hello = make_hello("shop.example")
    step = len(hello) // pieces
    received: list[bytes] = []
    with (
        serve(lambda connection: received.append(read_all(connection))) as port,
        start_proxy(list_server(port)) as setup,
    ):
        with setup.open_tunnel(f"Shop.Example:{port}") as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for start in range(0, len(hello), step):
                client.sendall(hello[start : start + step])
            client.shutdown(socket.SHUT_WR)
            assert read_all(client) == b""
        assert setup.proxy.refusals() == []
    assert received == [hello]


# Holds: sandbox-32
def test_another_server_behind_the_same_address_is_sent_nothing() -> None:
    received: list[bytes] = []
    with (
        # Piece by piece, as the connection may be reset.
        serve(lambda each: received.extend(iter(lambda: each.recv(65_536), b""))) as port,
        start_proxy(list_server(port)) as setup,
    ):
        with setup.open_tunnel(f"shop.example:{port}") as client:
            client.sendall(make_hello("evil.example"))
            assert read_all(client) == ALERT
        (refusal,) = setup.proxy.refusals()
    assert refusal == (
        "`evil.example` was asked for in a TLS connection to `shop.example`; connect to it by its "
        "name"
    )
    assert received == []


# Holds: sandbox-32
def test_a_message_that_hides_its_server_is_not_sent() -> None:
    with serve(read_all) as port, start_proxy(list_server(port)) as setup:
        with setup.open_tunnel(f"shop.example:{port}") as client:
            client.sendall(b"\x16\x03\x01\x00\x01\x01" * 10)
            read_all(client)
        assert setup.proxy.refusals() == [
            "the TLS connection to `shop.example` was not begun: the first message is too long"
        ]


def test_a_client_without_a_name_and_one_of_an_address_are_served() -> None:
    received: list[bytes] = []
    with (
        serve(lambda connection: received.append(read_all(connection))) as port,
        start_proxy(list_server(port)) as setup,
    ):
        for target, name in ((f"shop.example:{port}", None), (f"127.0.0.1:{port}", "any.example")):
            with setup.open_tunnel(target) as client:
                client.sendall(make_hello(name))
                client.shutdown(socket.SHUT_WR)
                assert read_all(client) == b""
        assert setup.proxy.refusals() == []
    assert len(received) == 2
