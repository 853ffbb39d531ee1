"""The wait for the next byte of an answer, limited by one timer and not by one for each wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amplifier_core.event_loop import find_asyncio_loop

from ..running.loop_end import run_later

if TYPE_CHECKING:
    import httpx2


class ByteWait:
    """Closes the connection of an answer whose next byte does not come in time.

    httpx2 starts a timer for each read, which is as dear as all else that a delta costs here where
    a thousand streams have one each. This timer is left alone, and looks at the wait when it fires.
    """

    __slots__ = ("_loop", "_network", "_seconds", "_since", "_timer", "is_over")

    def __init__(self, loop: Any, network: Any, seconds: float) -> None:
        """Limit the waits of an answer.

        Args:
            loop: The event loop, of asyncio.
            network: The connection.
            seconds: How long a wait may last.
        """
        self._loop = loop
        self._network = network
        self._seconds = seconds
        self._since: float | None = None
        """When the wait began that lasts; None while nobody waits."""
        self._timer = loop.call_later(seconds, self._look)
        self.is_over = False
        """Whether a wait lasted too long."""

    def begin(self) -> None:
        """Begin a wait."""
        self._since = self._loop.time()

    def end(self) -> None:
        """End it: the byte is there."""
        self._since = None

    def stop(self) -> None:
        """Limit no further wait."""
        self._timer.cancel()

    def _look(self) -> None:
        since, now = self._since, self._loop.time()
        end = (now if since is None else since) + self._seconds
        if end > now:
            self._timer = self._loop.call_at(end, self._look)
        else:
            self.is_over = True
            run_later(0, self._network.aclose)


def limit_waits(response: httpx2.Response, seconds: float) -> ByteWait | None:
    """Limit the waits for the body of an answer; None where httpx2 has to do it.

    Its own timers cost little under trio, and a connection of HTTP/2 is not that of one answer.
    """
    loop = find_asyncio_loop()
    if loop is None or response.http_version == "HTTP/2":
        return None
    network = response.extensions.get("network_stream")
    limits = response.request.extensions.get("timeout")
    if network is None or not limits:
        return None
    # What reads the body looks at this when it begins.
    limits["read"] = None
    return ByteWait(loop, network, seconds)
