"""What a server does wrong on purpose."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import Literal

from .http import Reply


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request.

    With a `status` the request is refused; without one the answer is sent and damaged.

        Fault(status=429, headers={"retry-after": "2"})
        Fault(status=503, body="html")
        Fault(cut=100)
        Fault(stall=0)
        Fault(piece=1, pause=0.001)
        Fault(status=307, headers={"location": "https://example.com/"})
    """

    status: int | None = None
    """Answer with this HTTP status instead of the answer."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of the response, also of an answer with status 200."""
    body: Literal["error", "html", "empty"] | bytes = "error"
    """The body of a refusal: the error of the dialect, a page of a proxy, nothing, or bytes."""
    kind: str | None = None
    """The error type, if it is not the usual one of the status."""
    message: str | None = None
    """The error message, if it is not the usual one."""
    code: str | None = None
    """The error code, in dialects that have one."""
    hang_up: bool = False
    """Close the connection instead of answering."""
    silent: bool = False
    """Never answer: wait until the client goes."""
    cut: int | None = None
    """Close the connection after so many bytes of the body."""
    stall: int | None = None
    """Send so many bytes of the body, then nothing more until the client goes."""
    piece: int | None = None
    """Send pieces of so many bytes; without it, each event is a piece."""
    pause: float = 0
    """Seconds between two pieces."""
    malformed: int | None = None
    """The place of the event whose JSON is broken off."""
    error_after: int | None = None
    """Send so many events, then an error event, and end the stream."""
    insert: Mapping[int, bytes] = field(default_factory=dict[int, bytes])
    """Bytes to send before the event of that place."""
    content_type: str | None = None
    """The content type of the answer, if it is not that of the dialect."""


def http_date(seconds: float) -> str:
    """Return the moment in so many seconds in the form of a header, as for `retry-after`."""
    return formatdate(time.time() + seconds, usegmt=True)


PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head>"
    b"<body><center><h1>Bad gateway</h1></center><hr><center>nginx</center></body></html>\n"
)
"""The page that a proxy sends in place of an error."""


def refuse(fault: Fault, status: int, error: bytes, headers: Mapping[str, str]) -> Reply:
    """Return the refusal of a fault.

    Args:
        fault: What goes wrong.
        status: The HTTP status.
        error: The body that the dialect has for it.
        headers: What the dialect sends with each response.
    """
    match fault.body:
        case "error":
            body, kind = error, "application/json"
        case "html":
            body, kind = PAGE, "text/html; charset=utf-8"
        case "empty":
            body, kind = b"", ""
        case bytes():
            body, kind = fault.body, "application/json"
    sent = {**headers, **({"content-type": kind} if kind else {})}
    if fault.content_type is not None:
        sent["content-type"] = fault.content_type
    return _end_reply(Reply(status, {**sent, **fault.headers}, [body], is_whole=True), fault)


def damage(reply: Reply, fault: Fault, error_event: list[bytes]) -> Reply:
    """Return an answer as the fault leaves it.

    Args:
        reply: The answer.
        fault: What goes wrong.
        error_event: How the dialect says in a stream that something went wrong.
    """
    pieces = reply.content
    if fault.malformed is not None:
        place = min(fault.malformed, len(pieces) - 1)  # a whole body is one piece
        pieces[place] = _broken_off(pieces[place])
    for place in sorted(fault.insert, reverse=True):
        pieces.insert(place, fault.insert[place])
    if fault.error_after is not None:
        pieces = [*pieces[: fault.error_after], *error_event]
    headers = {**reply.headers, **fault.headers}
    if fault.content_type is not None:
        headers["content-type"] = fault.content_type
    return _end_reply(replace(reply, pieces=pieces, headers=headers), fault)


def _end_reply(reply: Reply, fault: Fault) -> Reply:
    pieces = reply.content
    if fault.piece is not None:
        body = b"".join(pieces)
        pieces = [body[at : at + fault.piece] for at in range(0, len(body), fault.piece)]
    return replace(
        reply,
        pieces=pieces,
        pause=fault.pause,
        cut=fault.cut,
        stall=fault.stall,
        hang_up=fault.hang_up,
        silent=fault.silent,
    )


def _broken_off(event: bytes) -> bytes:
    """Return an event of a stream, or a whole body, whose JSON ends in the middle."""
    whole = event.rstrip()
    start = whole.find(b"{")
    return whole[: start + (len(whole) - start) // 2] + event[len(whole) :]
