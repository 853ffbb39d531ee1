"""How a server starts and stops."""

from __future__ import annotations

import threading

import httpx2
import pytest

from amplifier_modules.testing.servers import AnthropicServer


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
