"""Which addresses a host may be reached at: each one is judged, and no other is connected to."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from typing import TypeAlias

from amplifier_guard import Destination, UrlDenied, UrlPolicy

from .problem import ProxyProblem
from .rules import HostRules, Refused

LookUp: TypeAlias = Callable[[str, int], Iterable[str]]
"""Returns the addresses of a host name, as text; none if the name is unknown."""


def look_up_host(host: str, port: int) -> list[str]:
    """The addresses that the operating system finds for a host name."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [str(address[0]) for *_, address in found]


def judge_addresses(
    destination: Destination, rules: HostRules, look_up: LookUp = look_up_host
) -> list[str]:
    """Return the addresses that a destination may be reached at.

    The name is judged before it is looked up. An address of this machine or of a private network is
    allowed if the rules allow the address itself, or a name that only private networks have, such
    as `localhost`: anybody can have a public name lead to any address.

    Raises:
        ProxyProblem: The rules refuse the name or an address, or the name has no address.
    """
    host, port = destination.host, destination.port
    _expect_allowed(rules, host, port)
    if destination.address is not None:
        return [destination.address]
    answers = list(look_up(host, port))
    if not answers:
        raise ProxyProblem(502, f"host `{host}` has no address")
    try:
        checked = UrlPolicy(deny_private=False).judge(destination, answers)
    except UrlDenied as error:
        raise ProxyProblem(403, str(error)) from error
    public = UrlPolicy(ports=[port])
    if not _has_private_name(public, destination):
        for address in checked.addresses:
            try:
                public.judge(destination, [address])
            except UrlDenied as error:
                _expect_allowed(rules, address, port, f"{error}: ")
    return checked.addresses


def _expect_allowed(rules: HostRules, host: str, port: int, cause: str = "") -> None:
    decision = rules.decide(host, port)
    if isinstance(decision, Refused):
        raise ProxyProblem(403, cause + decision.reason, f"{host} is not allowed")


def _has_private_name(public: UrlPolicy, destination: Destination) -> bool:
    try:
        public.destination(destination.url)
    except UrlDenied:
        return True
    return False
