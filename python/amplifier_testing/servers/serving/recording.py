"""A server without a dialect: it sends what a test says, and records what it is sent.

with RecordingServer() as server:
server.respond(Reply.json({"data": []}), "/models")
server.replies.append(Reply(429, {"retry-after": "1"}))
…
assert [request.path for request in server.requests] == ["/models"]
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Self

from .http import HttpRequest, LoopbackServer, Reply

Respond = Callable[[HttpRequest], Reply]
"""Makes the reply to a request."""


class RecordingServer:
    """Answers each request on a loopback port, and keeps it.

    Use it in a `with` block, which starts and stops it.

    Attributes:
        replies: The next replies, one for each request, whatever its path.
        requests: The requests, in order.
    """

    def __init__(self, *, ssl_context: ssl.SSLContext | None = None) -> None:
        """Open the port; entering begins to answer.

        Args:
            ssl_context: Speaks TLS with it.
        """
        self.replies: list[Reply | Respond] = []
        self.requests: list[HttpRequest] = []
        self._usual: dict[str | None, Reply | Respond] = {}
        self._scheme = "http" if ssl_context is None else "https"
        self._http = LoopbackServer(self._respond, ssl_context)

    @property
    def port(self) -> int:
        """The port."""
        return self._http.port

    @property
    def url(self) -> str:
        """The address of the root, without a slash at its end."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def respond(self, reply: Reply | Respond, path: str | None = None) -> None:
        """Send this reply from now on to each request that none of `replies` is for.

        Args:
            reply: The reply, or a function that makes it; it is called in the thread of a connection.
            path: The path of the requests; None for each that has no reply of its own.
        """
        self._usual[path] = reply

    def clear(self) -> None:
        """Forget all replies and requests."""
        self.replies.clear()
        self.requests.clear()
        self._usual.clear()

    def __enter__(self) -> Self:
        """Begin to answer."""
        self._http.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop, and close all connections."""
        self._http.stop()

    def _respond(self, request: HttpRequest) -> Reply:
        self.requests.append(request)
        if self.replies:
            reply = self.replies.pop(0)
        else:
            missing = Reply(500, pieces=[f"no reply is set for `{request.path}`".encode()])
            reply = self._usual.get(request.path) or self._usual.get(None) or missing
        return reply if isinstance(reply, Reply) else reply(request)
