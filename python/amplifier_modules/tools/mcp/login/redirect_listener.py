"""The place on this machine that the browser is sent to at the end of a login."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.abc

from .login_errors import LoginError
from .redirect import Redirect, read_redirect

PATH = "/callback"
_MAX_HEAD_BYTES = 16_384
_HEAD_SECONDS = 10.0
_PAGE = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>amplifier-core</title>
<body style="font-family: sans-serif; margin: 4em"><p>{text}</p></body></html>
"""
_HEADERS = (
    "Content-Type: text/html; charset=utf-8",
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'",
    "Referrer-Policy: no-referrer",
    "Cache-Control: no-store",
    "Connection: close",
)


class RedirectListener:
    """Waits for the redirect of one login."""

    def __init__(self, listener: Any) -> None:
        """Wait at a listener of TCP."""
        self._listener = listener
        self.port: int = listener.extra(anyio.abc.SocketAttribute.local_port)
        """The port that it waits at."""

    @property
    def url(self) -> str:
        """The address that the browser is sent to."""
        return f"http://127.0.0.1:{self.port}{PATH}"

    async def wait_for_redirect(self, state: str) -> Redirect:
        """Wait for the answer to this login; what belongs to no login, or to another, is turned away.

        Raises:
            LoginError: The authorization server has refused.
        """
        found: list[Redirect | LoginError] = []
        ended = anyio.Event()

        async def handle(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                with anyio.move_on_after(_HEAD_SECONDS):
                    target = await _read_target(stream)
                    answer = None if found or target is None else _judge(target, state)
                    # Noted first: the person may have closed the page already.
                    if answer is not None:
                        found.append(answer)
                    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                        await stream.send(_write_page(answer))
            if found:
                ended.set()

        async with anyio.create_task_group() as group:
            group.start_soon(self._listener.serve, handle)
            await ended.wait()
            group.cancel_scope.cancel()
        answer = found[0]
        if isinstance(answer, LoginError):
            raise answer
        return answer


@asynccontextmanager
async def open_listener(port: int = 0) -> AsyncGenerator[RedirectListener]:
    """Listen on this machine alone, at a port that the system chooses or at this one.

    Raises:
        OSError: The port is in use.
    """
    multi = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    async with multi:
        yield RedirectListener(multi.listeners[0])


def _judge(target: str, state: str) -> Redirect | LoginError | None:
    path, _, query = target.partition("?")
    if path != PATH:
        return None
    try:
        return read_redirect(f"?{query}", state)
    except LoginError as error:
        return error


async def _read_target(stream: anyio.abc.SocketStream) -> str | None:
    """Return what a request of HTTP asks for; None if it is none that is answered here."""
    head = b""
    while b"\r\n\r\n" not in head:
        if len(head) > _MAX_HEAD_BYTES:
            return None
        try:
            head += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return None
    words = head.partition(b"\r\n")[0].decode("ascii", "replace").split(" ")
    return words[1] if len(words) == 3 and words[0] == "GET" else None


def _write_page(answer: Redirect | LoginError | None) -> bytes:
    if answer is None:
        status, text = "404 Not Found", "This does not belong to a login that is under way."
    elif isinstance(answer, LoginError):
        status, text = "200 OK", "The login was refused. This page can be closed."
    else:
        status, text = "200 OK", "The answer has arrived. This page can be closed."
    page = _PAGE.format(text=text).encode()
    head = [f"HTTP/1.1 {status}", *_HEADERS, f"Content-Length: {len(page)}", "", ""]
    return "\r\n".join(head).encode() + page
