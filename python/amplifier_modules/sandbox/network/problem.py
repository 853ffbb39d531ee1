"""Why the proxy did not do what a client asked."""

from __future__ import annotations

_PHRASES = {
    400: "Bad Request",
    403: "Forbidden",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


class ProxyProblem(Exception):
    """A request that is answered with an error.

    Args:
        status: The status of HTTP.
        text: What happened, in plain English and without control characters.
        phrase: What follows the status, which many clients show instead of the text.
    """

    def __init__(self, status: int, text: str, phrase: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.phrase = phrase or _PHRASES[status]

    def write_answer(self) -> bytes:
        """The whole answer of HTTP."""
        body = f"{self.text}\n".encode()
        head = (
            f"HTTP/1.1 {self.status} {self.phrase}\r\n"
            "Content-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n"
        )
        return head.encode("ascii", "replace") + body
