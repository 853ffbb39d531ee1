"""How a server starts and stops."""

from __future__ import annotations

import threading
import time

import httpx2
import pytest

from amplifier_testing.servers import (
    AnthropicServer,
    ChatServer,
    ModelServer,
    ResponsesServer,
)


def threads() -> int:
    return sum(thread.name == "model-server" for thread in threading.enumerate())


def test_a_server_has_no_address_before_it_starts_and_none_when_it_stopped() -> None:
    server = AnthropicServer()
    with pytest.raises(RuntimeError, match="no address before `with`"):
        _ = server.url
    with server:
        assert server.url.startswith("http://127.0.0.1:")
    with pytest.raises(RuntimeError, match="no address before `with`"):
        _ = server.url


def test_a_server_runs_once_at_a_time_and_again_afterwards() -> None:
    with AnthropicServer() as server:
        with pytest.raises(RuntimeError, match="running already"):
            server.__enter__()
        first = server.url
    with server:
        assert server.url.startswith("http://127.0.0.1:")
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(first)


def test_no_thread_of_a_server_is_left() -> None:
    before = threads()
    with AnthropicServer(), AnthropicServer():
        assert threads() == before + 2

    assert threads() == before


def test_a_server_knows_its_connections_and_when_it_was_asked() -> None:
    before = time.monotonic()
    with AnthropicServer() as server, httpx2.Client() as client:
        assert server.connections == 0
        client.get(f"{server.url}/v1/models")
        client.get(f"{server.url}/v1/models")
        assert server.connections == 1
        first, second = server.requests

    assert before <= first.at <= second.at <= time.monotonic()
    assert server.connections == 0


@pytest.mark.parametrize(
    ("kind", "stop"),
    [
        (AnthropicServer, "max_tokens"),
        (ResponsesServer, "max_output_tokens"),
        (ChatServer, "length"),
    ],
)
def test_a_server_has_the_word_of_its_dialect_for_a_limit(
    kind: type[ModelServer], stop: str
) -> None:
    assert kind.limit_stop == stop
