"""A connection out of a sandbox waits while somebody is asked about its host.

Holds: sandbox-111, sandbox-115
"""

from __future__ import annotations

import gc
import socket
import sys
import threading
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from proxy_setup import start_proxy
from sandbox_world import World, run

from amplifier_modules.sandbox import shared_network
from amplifier_modules.sandbox.network.held_hosts import HeldHosts
from amplifier_modules.sandbox.network.rules import Allowed, Decision, ListedHosts, Refused
from amplifier_modules.sandbox.proxy import HostProxy

sys.path.insert(0, str(Path(__file__).parents[1]))

from proxied_commands import OPENED, PUBLIC, REFUSED, connect, lead_to_server, look_up


class Asked:
    """Allows all, and knows what it was asked about."""

    def __init__(self) -> None:
        self.hosts: list[tuple[str, int]] = []

    def decide(self, host: str, port: int, _refused: Refused) -> Decision:
        self.hosts.append((host, port))
        return Allowed()


def test_a_command_in_a_sandbox_reaches_a_host_that_was_agreed_to(
    networked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked()
    monkeypatch.setattr(shared_network, "HostProxy", partial(HostProxy, look_up=look_up))
    rules = HeldHosts(ListedHosts(()), asked.decide)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        closing(networked.open(rules=rules)) as sandbox,
    ):
        connected = lead_to_server(monkeypatch, server.getsockname()[1])
        command = f"{connect('shop.example')}; {connect('private.example', number=5)}"
        ran = run(sandbox, command, str(networked.project))
    assert ran.output == OPENED + REFUSED.format("10.0.0.1")
    assert (asked.hosts, connected) == (
        [("shop.example", 443), ("private.example", 443)],
        [(PUBLIC, 443)],
    )


@pytest.mark.parametrize(
    ("target", "addresses"),
    [
        ("shop.example:443", ["10.0.0.1"]),
        ("shop.example:443", [PUBLIC, "127.0.0.1"]),
        ("shop.example:443", ["169.254.169.254"]),
        ("shop.example:443", ["fd00::1"]),
        ("shop.example:443", ["::ffff:127.0.0.1"]),
        ("10.0.0.1:443", []),
        ("2130706433:80", []),
        ("[::1]:443", []),
        ("localhost:80", []),
        ("printer.local:80", []),
    ],
)
def test_whatever_is_agreed_nothing_private_is_reached(target: str, addresses: list[str]) -> None:
    asked = Asked()
    rules = HeldHosts(ListedHosts(()), asked.decide)
    with start_proxy(rules, {"shop.example": addresses}) as setup:
        answer = setup.exchange(f"CONNECT {target} HTTP/1.1\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert asked.hosts == ([("shop.example", 443)] if addresses else [])


def test_what_is_listed_is_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked()
    rules = HeldHosts(ListedHosts(["shop.example"]), asked.decide)
    with socket.create_server(("127.0.0.1", 0)) as server:
        lead_to_server(monkeypatch, server.getsockname()[1])
        with start_proxy(rules, {"shop.example": [PUBLIC]}) as setup:
            setup.open_tunnel("shop.example:443").close()
            setup.open_tunnel("shop.example:8443").close()
    assert asked.hosts == [("shop.example", 8443)]


# Holds: sandbox-116
def test_a_session_that_is_dropped_leaves_no_proxy(networked: World) -> None:
    before = set(threading.enumerate())
    sandbox = networked.open(rules=HeldHosts(ListedHosts(()), Asked().decide))
    run(sandbox, ":", str(networked.project))
    proxies = [each for each in set(threading.enumerate()) - before if "proxy" in each.name]
    assert len(proxies) == 1
    del sandbox
    gc.collect()
    proxies[0].join(20)
    assert not proxies[0].is_alive()
