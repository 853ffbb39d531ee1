"""URL containment: every request goes to an address that was checked, and to no other."""

from __future__ import annotations

import inspect
import socket
from collections.abc import Awaitable, Callable, Iterable

import anyio

from amplifier_core._engine import CheckedUrl, Destination
from amplifier_core._engine import UrlPolicy as UrlDecisions
from amplifier_guard.guard_error import GuardError

__all__ = ["CheckedUrl", "Destination", "Resolver", "UrlDenied", "UrlPolicy", "resolve_host"]

Resolver = Callable[[str, int], Iterable[str] | Awaitable[Iterable[str]]]
"""Gives the addresses of a host name, for a port, as text; plain or async."""


class UrlDenied(GuardError, PermissionError):
    """A URL that may not be requested, or a name with an address that may not be reached."""


class UrlPolicy(UrlDecisions):
    """Decides which URLs may be requested and at which addresses.

    `schemes` are `http` and `https`, `ports` 80 and 443, unless others are given. Without
    `deny_private`, loopback, private and carrier-grade NAT addresses pass too; link-local and
    metadata addresses never do.
    """

    async def check(self, url: str, resolve: Resolver | None = None) -> CheckedUrl:
        """Check a URL and every address of its host.

        Raises:
            UrlDenied: The URL may not be requested.
        """
        return await self.look_up(self.destination(url), resolve)

    async def follow(
        self, source: Destination, location: str, resolve: Resolver | None = None
    ) -> CheckedUrl:
        """Check the next hop of a redirect: `location`, counted from `source`.

        Raises:
            UrlDenied: The hop may not be requested.
        """
        return await self.look_up(self.redirect(source, location), resolve)

    async def look_up(
        self, destination: Destination, resolve: Resolver | None = None
    ) -> CheckedUrl:
        """Look a destination's name up, twice, and judge every address.

        A name that changes between the two answers is judged by both, so that one which turns
        to the inside right after it was checked is refused by name.

        Raises:
            UrlDenied: The name has no address, or one that may not be reached.
        """
        if destination.address is not None:
            return self.judge(destination, [])
        resolve = resolve or resolve_host
        answers: list[str] = []
        for _ in range(2):
            answer = resolve(destination.host, destination.port)
            found = list(await answer if inspect.isawaitable(answer) else answer)
            self.judge(destination, found)
            answers += found
        return self.judge(destination, answers)


async def resolve_host(host: str, port: int) -> list[str]:
    """Return the addresses of a host name as the operating system finds them; none if unknown."""
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror:
        return []
    return [str(address[0]) for *_, address in found]
