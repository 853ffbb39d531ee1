"""URL containment: requests go only to addresses that were checked."""

from __future__ import annotations

import inspect
import socket
from collections.abc import Awaitable, Callable, Iterable

import anyio
import anyio.to_thread

from amplifier_core._engine import CheckedUrl, Destination, UrlDecisions
from amplifier_guard.guard_error import GuardError

__all__ = ["CheckedUrl", "Destination", "Resolver", "UrlDenied", "UrlPolicy", "resolve_host"]

Resolver = Callable[[str, int], Iterable[str] | Awaitable[Iterable[str]]]
"""Returns the addresses of a host name and port, as text.

May be async; a plain function runs in a thread, so that it can be waited for and left behind.
"""


class UrlDenied(GuardError, PermissionError):
    """A URL that may not be requested, or a host with an address that is not allowed."""


class UrlPolicy(UrlDecisions):
    """Decides which URLs may be requested and at which addresses, and looks up names.

    Args:
        schemes: Schemes that are allowed; None for `http` and `https`.
        ports: Ports that are allowed; None for 80 and 443.
        deny_private: Whether loopback, private and carrier-grade NAT addresses are refused;
            link-local and metadata addresses always are.
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
        """Check the next hop of a redirect: `location`, relative to `source`.

        Raises:
            UrlDenied: The hop may not be requested.
        """
        return await self.look_up(self.redirect(source, location), resolve)

    async def look_up(
        self, destination: Destination, resolve: Resolver | None = None
    ) -> CheckedUrl:
        """Look up a destination's name twice, and check every address.

        Both answers are checked, so a name that changes to an internal address right after the
        first look-up is refused.

        Raises:
            UrlDenied: The name has no address, or one that is not allowed.
        """
        if destination.address is not None:
            return self.judge(destination, [])
        resolve = resolve or resolve_host
        answers: list[str] = []
        for _ in range(2):
            found = await _resolve_host(resolve, destination.host, destination.port)
            self.judge(destination, found)
            answers += found
        return self.judge(destination, answers)


async def resolve_host(host: str, port: int) -> list[str]:
    """Return the addresses that the operating system finds for a host name; none if unknown."""
    try:
        return await anyio.to_thread.run_sync(_look_up, host, port, abandon_on_cancel=True)
    except socket.gaierror:
        return []


async def _resolve_host(resolve: Resolver, host: str, port: int) -> list[str]:
    if inspect.iscoroutinefunction(resolve):
        return list(await resolve(host, port))
    answer = await anyio.to_thread.run_sync(resolve, host, port, abandon_on_cancel=True)
    return list(await answer if inspect.isawaitable(answer) else answer)


def _look_up(host: str, port: int) -> list[str]:
    # Not the event loop's own look-up: a loop that ends waits for that as long as it hangs.
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
