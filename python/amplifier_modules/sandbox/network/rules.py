"""Which hosts commands may reach, by name, before anything is looked up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Literal, Protocol, TypeAlias

from amplifier_guard import UrlDenied, UrlPolicy

DEFAULT_PORTS = frozenset({80, 443})
"""The ports of a host that is listed without one."""

_ENTRY = re.compile(r"(?P<beneath>\*\.)?(?P<host>\[[^]]*]|[^:/]+)(?::(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True)
class Allowed:
    """The host may be reached."""


@dataclass(frozen=True)
class Refused:
    """The host may not be reached."""

    reason: str
    """What was refused, and how to allow it."""


Decision: TypeAlias = Allowed | Refused


class HostRules(Protocol):
    """Decides which hosts commands may reach."""

    def decide(self, host: str, port: int) -> Decision:
        """Decide on a host name in ASCII, or on an address without brackets.

        It may wait, for a person for example: it is called in a thread of its own, and the
        connection waits meanwhile.
        """
        ...


class ListedHosts:
    """The rules of the setting `network`: the hosts that are listed, and no other.

    An entry is a name or an address, and holds for the ports 80 and 443 unless it ends in another,
    as in `example.org:8080`. `*.example.org` stands for every name beneath `example.org`.

    Raises:
        ValueError: An entry is not a host.
    """

    def __init__(self, network: Literal["off"] | Sequence[str]) -> None:
        self._is_off = network == "off"
        self._ports: dict[str, frozenset[int]] = {}
        """The ports of each host; `*.` is before a name whose names beneath are meant."""
        if isinstance(network, str):
            if not self._is_off:
                raise ValueError(f'`network` is "off" or a list of hosts, not `{network}`')
            return
        for entry in network:
            host, ports = _read_entry(entry)
            self._ports[host] = self._ports.get(host, frozenset()) | ports

    def decide(self, host: str, port: int) -> Decision:
        """Allow a host that is listed with this port."""
        if any(port in self._ports.get(pattern, ()) for pattern in _list_patterns(host)):
            return Allowed()
        entry = write_entry(host, port)
        if self._is_off:
            return Refused(
                f"`{entry}` was not reached: commands have no network; to allow it, set "
                f"`network` to a list with `{entry}`"
            )
        return Refused(
            f"the host `{entry}` is not among those that `network` names; to allow it, add `{entry}`"
            " to that setting"
        )


class AnyHost:
    """The rules of a network that is open: every public host, on the ports 80 and 443."""

    def decide(self, host: str, port: int) -> Decision:
        """Allow a host unless its name or address is one of this machine or a private network."""
        entry = write_entry(host, port)
        shown = f"[{host}]" if ":" in host else host
        try:
            UrlPolicy(ports=sorted(DEFAULT_PORTS)).destination(f"https://{shown}:{port}/")
        except UrlDenied as error:
            return Refused(f"{error}; to allow it, set `network` to a list with `{entry}`")
        return Allowed()


def write_entry(host: str, port: int) -> str:
    """The entry of the setting `network` that allows a host with a port."""
    if port in DEFAULT_PORTS:
        return host
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _list_patterns(host: str) -> list[str]:
    labels = host.split(".")
    return [host, *("*." + ".".join(labels[start:]) for start in range(1, len(labels)))]


def _read_entry(entry: str) -> tuple[str, frozenset[int]]:
    found = _ENTRY.fullmatch(f"[{entry}]" if _is_bare_ipv6(entry) else entry)
    if found is None:
        raise ValueError(f"`{entry}` of `network` is not a host, such as `example.org:443`")
    port = int(found["port"] or 443)
    if not 0 < port < 65536:
        raise ValueError(f"the port of `{entry}` of `network` is not between 1 and 65535")
    try:
        policy = UrlPolicy(ports=[port], deny_private=False)
        read = policy.destination(f"https://{found['host']}:{port}/")
    except UrlDenied as error:
        raise ValueError(f"`{entry}` of `network`: {error}") from error
    if found["beneath"] and read.address is not None:
        raise ValueError(f"`{entry}` of `network`: no names are beneath an address")
    ports = frozenset({port}) if found["port"] else DEFAULT_PORTS
    return (found["beneath"] or "") + read.host, ports


def _is_bare_ipv6(entry: str) -> bool:
    try:
        return isinstance(ip_address(entry), IPv6Address)
    except ValueError:
        return False
