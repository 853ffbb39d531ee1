"""Commands without a sandbox that reach hosts through a proxy, of which a person is asked about some.

All names lead to a public address, and that to servers of the test on this machine.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

import pytest

from amplifier_modules.sandbox import proxy
from amplifier_modules.sandbox.command import Command, Ending, RunningCommand, Tier
from amplifier_modules.sandbox.network.held_hosts import HeldHosts
from amplifier_modules.sandbox.network.refusals import Refusals
from amplifier_modules.sandbox.network.relay import Side, open_side
from amplifier_modules.sandbox.network.rules import ListedHosts
from amplifier_modules.sandbox.proxy import HostProxy, proxy_environment
from amplifier_modules.sandbox.runner import Confinement
from amplifier_modules.sandbox.unconfined import UnconfinedRunner

PUBLIC = "93.184.215.14"
PRIVATE = "10.0.0.1"


def connect(host: str, port: int = 443, number: int = 4) -> str:
    """Return a command that connects to a host, and writes how the proxy answers."""
    return (
        f'exec {number}<>"/dev/tcp/127.0.0.1/${{http_proxy##*:}}";'
        f" printf 'CONNECT {host}:{port} HTTP/1.1\\r\\n\\r\\n' >&{number};"
        f" read -r line <&{number}; echo $line | tr -d '\\r'"
    )


OPENED = "HTTP/1.1 200 Connection established\n"
REFUSED = "HTTP/1.1 403 {} is not allowed\n"


def lead_to_server(monkeypatch: pytest.MonkeyPatch, port: int) -> list[tuple[str, int]]:
    """Lead all connections of proxies to a server here; return where they were to go."""
    connected: list[tuple[str, int]] = []

    async def open_here(address: str, asked_port: int) -> Side:
        connected.append((address, asked_port))
        return await open_side("127.0.0.1", port)

    monkeypatch.setattr(proxy, "open_side", open_here)
    return connected


def look_up(host: str, _port: int) -> list[str]:
    return [PRIVATE if host.startswith("private.") else PUBLIC]


@dataclass
class Holds:
    """How often the time of commands has begun to stand still, and ceased to."""

    begun: int = 0
    ended: int = 0
    is_begun: Event = field(default_factory=Event)


class ProxiedRunner(UnconfinedRunner):
    """Says that it is a sandbox, and has a proxy as one has."""

    tier = Tier.NAMESPACES
    reaches_hosts = True

    def __init__(self, confinement: Confinement) -> None:
        super().__init__()
        self.confinement = confinement
        self.holds = Holds()
        network = confinement.network
        assert network != "on"
        rules = ListedHosts(network)
        ask = confinement.ask_about_host
        listener = socket.create_server(("127.0.0.1", 0))
        self._environment: Mapping[str, str] = proxy_environment(listener.getsockname()[1])
        self.proxy = HostProxy(
            listener, rules if ask is None else HeldHosts(rules, ask), look_up=look_up
        )

    def start(self, command: Command, output: int) -> Any:
        environment = {**command.environment, **self._environment}
        refusals = self.proxy.watch_refusals()
        running = super().start(replace(command, environment=environment), output)
        return _Proxied(running, refusals, self.holds)

    def close(self) -> None:
        self.proxy.close()


class _Proxied:
    """A command whose ending has what was refused."""

    def __init__(self, running: RunningCommand, refusals: Refusals, holds: Holds) -> None:
        self._running = running
        self._refusals = refusals
        self._holds = holds
        self.kill: Callable[[], None] = running.kill
        self.list_ports: Callable[[], list[int]] = running.list_ports

    def wait(self) -> Ending:
        return replace(self._running.wait(), refused=tuple(self._refusals.list_reasons()))

    def hold_time(self) -> AbstractContextManager[None]:
        return self._hold()

    @contextmanager
    def _hold(self) -> Any:
        with self._running.hold_time():
            self._holds.begun += 1
            self._holds.is_begun.set()
            try:
                yield
            finally:
                self._holds.ended += 1
