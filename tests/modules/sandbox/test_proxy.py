"""The proxy of commands: what is judged is what is connected to, and nothing is left of it."""

from __future__ import annotations

import socket
import threading

import pytest
from proxy_setup import list_server, read_all, serve, start_proxy

from amplifier_modules.sandbox.network.refusals import MAX_REFUSALS
from amplifier_modules.sandbox.network.rules import Allowed, Decision
from amplifier_modules.sandbox.proxy import HostProxy, proxy_environment
from amplifier_testing.servers.serving.http import Reply
from amplifier_testing.servers.serving.recording import RecordingServer


def echo(connection: socket.socket) -> None:
    while piece := connection.recv(65536):
        connection.sendall(piece)
    connection.sendall(b"|end")


# Holds: sandbox-30
def test_a_tunnel_moves_bytes_both_ways_and_each_direction_ends_alone() -> None:
    with (
        serve(echo) as port,
        start_proxy(list_server(port)) as setup,
        setup.open_tunnel(f"shop.example:{port}") as client,
    ):
        client.sendall(b"one")
        assert client.recv(3) == b"one"
        client.sendall(b"two")
        client.shutdown(socket.SHUT_WR)
        assert read_all(client) == b"two|end"
        assert setup.proxy.refusals() == []


# Holds: sandbox-30
def test_a_tunnel_carries_much_at_once_in_both_directions() -> None:
    content = bytes(range(256)) * 40_000
    with (
        serve(echo) as port,
        start_proxy(list_server(port)) as setup,
        setup.open_tunnel(f"shop.example:{port}") as client,
    ):

        def send() -> None:
            client.sendall(content)
            client.shutdown(socket.SHUT_WR)

        sending = threading.Thread(target=send)
        sending.start()
        received = read_all(client)
        sending.join()
        assert received == content + b"|end"


# Holds: sandbox-30
def test_bytes_that_come_with_the_request_reach_the_server() -> None:
    with serve(echo) as port, start_proxy(list_server(port)) as setup, setup.connect() as client:
        client.sendall(f"CONNECT shop.example:{port} HTTP/1.1\r\n\r\nearly".encode())
        client.shutdown(socket.SHUT_WR)
        assert read_all(client).endswith(b"\r\n\r\nearly|end")


# Holds: sandbox-30
def test_a_server_may_speak_first() -> None:
    with (
        serve(lambda connection: connection.sendall(b"SSH-2.0")) as port,
        start_proxy(list_server(port)) as setup,
        setup.open_tunnel(f"shop.example:{port}") as client,
    ):
        assert read_all(client) == b"SSH-2.0"


# Holds: sandbox-31
def test_a_plain_request_is_sent_as_it_was_judged(http_server: RecordingServer) -> None:
    http_server.respond(Reply.of(b"page", "text/plain"))
    port = http_server.port
    with start_proxy(list_server(port)) as setup:
        answer = setup.exchange(
            f"POST http://SHOP.example:{port}/a/../b?q=1#part HTTP/1.1\r\n"
            "Host: other.example\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\n"
            "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nX-Kept: 2\r\nContent-Length: 4\r\n\r\n"
            "bodyGET http://evil.example/ HTTP/1.1\r\n\r\n".encode()
        )

    (request,) = http_server.requests
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"page")
    assert (request.method, request.target, request.raw) == ("POST", "/b?q=1", b"body")
    assert request.headers == {
        "host": f"shop.example:{port}",
        "x-kept": "2",
        "content-length": "4",
        "connection": "close",
    }


# Holds: sandbox-31
def test_a_body_in_chunks_is_sent_to_its_end_and_no_further(http_server: RecordingServer) -> None:
    http_server.respond(Reply.of(b"ok", "text/plain"))
    port = http_server.port
    with start_proxy(list_server(port)) as setup:
        answer = setup.exchange(
            f"PUT http://shop.example:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3;note=1\r\none\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n"
            "GET /second HTTP/1.1\r\nHost: evil.example\r\n\r\n".encode()
        )

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert [request.raw for request in http_server.requests] == [b"one0123456789"]


# Holds: sandbox-32
def test_a_name_is_looked_up_once_and_its_address_is_connected_to() -> None:
    answers = [["127.0.0.1"], ["127.0.0.2"]]
    asked: list[str] = []

    def look_up(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers.pop(0)

    with (
        serve(echo) as port,
        start_proxy(list_server(port), look_up=look_up) as setup,
        setup.open_tunnel(f"shop.example:{port}") as client,
    ):
        client.shutdown(socket.SHUT_WR)
        assert read_all(client) == b"|end"
    assert asked == ["shop.example"]


# Holds: sandbox-32
def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    with serve(echo) as port:
        entries = [*list_server(port), f"127.0.0.9:{port}"]
        names = {"shop.example": ["127.0.0.9", "127.0.0.1"]}
        with (
            start_proxy(entries, names) as setup,
            setup.open_tunnel(f"shop.example:{port}") as client,
        ):
            client.shutdown(socket.SHUT_WR)
            assert read_all(client) == b"|end"


# Holds: sandbox-33
def test_a_refusal_names_the_host_and_how_to_allow_it() -> None:
    with start_proxy(["shop.example"]) as setup:
        answer = setup.exchange(b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n").decode()
        again = setup.exchange(b"GET http://evil.example/a HTTP/1.1\r\n\r\n").decode()
        other = setup.exchange(b"CONNECT shop.example:22 HTTP/1.1\r\n\r\n").decode()

        refusal = (
            "the host `evil.example` is not among those that `network` names; to allow it, add"
            " `evil.example` to that setting"
        )
        assert answer.startswith("HTTP/1.1 403 evil.example is not allowed\r\n")
        assert answer == again
        assert answer.endswith(f"\r\n\r\n{refusal}\n")
        assert "add `shop.example:22`" in other
        assert setup.proxy.refusals() == [
            refusal,
            refusal.replace("evil.example", "shop.example:22"),
        ]
        assert setup.names.asked == []


# Holds: sandbox-33
def test_refusals_are_listed_up_to_a_number() -> None:
    with start_proxy() as setup:
        for number in range(MAX_REFUSALS + 3):
            setup.exchange(f"CONNECT h{number}.example:443 HTTP/1.1\r\n\r\n".encode())
        listed = setup.proxy.refusals()

    assert len(listed) == MAX_REFUSALS + 1
    assert listed[0].startswith("the host `h0.example` ")
    assert listed[-1] == "… and 3 more"


# Holds: sandbox-34
def test_a_connection_waits_for_a_decision_and_the_others_go_on() -> None:
    answer = threading.Event()

    class Asking:
        def decide(self, host: str, port: int) -> Decision:
            if host == "shop.example":
                answer.wait(20)
            return Allowed()

    with serve(echo) as port, start_proxy(Asking()) as setup, setup.connect() as client:
        client.sendall(f"CONNECT shop.example:{port} HTTP/1.1\r\n\r\nasked".encode())
        client.shutdown(socket.SHUT_WR)
        with setup.open_tunnel(f"cdn.example:{port}") as other:
            other.shutdown(socket.SHUT_WR)
            assert read_all(other) == b"|end"
        answer.set()
        assert read_all(client).endswith(b"\r\n\r\nasked|end")


# Holds: sandbox-34
def test_rules_that_fail_allow_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Failing:
        def decide(self, host: str, port: int) -> Decision:
            raise LookupError("no rules")

    with start_proxy(Failing()) as setup:
        answer = setup.exchange(b"CONNECT shop.example:443 HTTP/1.1\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 500 ")
    assert setup.names.asked == []
    assert "a connection of the proxy failed" in caplog.text


# Holds: sandbox-35
def test_a_hundred_tunnels_are_served_at_once() -> None:
    with serve(echo) as port, start_proxy(list_server(port)) as setup:
        clients = [setup.open_tunnel(f"shop.example:{port}") for _ in range(100)]
        for number, client in enumerate(clients):
            client.sendall(b"%d" % number)
            client.shutdown(socket.SHUT_WR)
        assert [read_all(client) for client in clients] == [b"%d|end" % n for n in range(100)]
        for client in clients:
            client.close()


# Holds: sandbox-35
def test_closing_ends_all_connections_and_leaves_nothing() -> None:
    before = threading.active_count()
    with serve(echo) as port:
        with start_proxy(list_server(port)) as setup:
            waiting = setup.connect()
            tunnel = setup.open_tunnel(f"shop.example:{port}")
            tunnel.sendall(b"x")
            assert tunnel.recv(1) == b"x"
            setup.proxy.close()
            setup.proxy.close()
            assert (waiting.recv(1), tunnel.recv(1)) == (b"", b"")
            with pytest.raises(ConnectionRefusedError):
                setup.connect()
        waiting.close()
        tunnel.close()
    assert threading.active_count() == before


# Holds: sandbox-35
def test_closing_waits_for_no_look_up() -> None:
    begun, end = threading.Event(), threading.Event()

    def look_up(host: str, port: int) -> list[str]:
        begun.set()
        end.wait(20)
        return ["127.0.0.1"]

    with start_proxy(["shop.example"], look_up=look_up) as setup, setup.connect() as client:
        client.sendall(b"CONNECT shop.example:443 HTTP/1.1\r\n\r\n")
        assert begun.wait(20)
        setup.proxy.close()
        assert client.recv(1) == b""
        end.set()


def test_a_closed_socket_is_refused() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.close()

    class Nothing:
        def decide(self, host: str, port: int) -> Decision:
            return Allowed()

    with pytest.raises(OSError, match="Bad file descriptor"):
        HostProxy(listener, Nothing())


# Holds: sandbox-39
def test_the_variables_lead_to_the_proxy_and_around_it_to_the_command_s_own_servers() -> None:
    url, own = "http://127.0.0.1:3128", "localhost,127.0.0.1,127.0.0.0/8,0.0.0.0,::1"

    assert proxy_environment(3128) == {
        "http_proxy": url,
        "https_proxy": url,
        "HTTP_PROXY": url,
        "HTTPS_PROXY": url,
        "all_proxy": url,
        "ALL_PROXY": url,
        "no_proxy": own,
        "NO_PROXY": own,
        "NODE_USE_ENV_PROXY": "1",
    }
