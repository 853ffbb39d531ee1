"""Bodies of answers: how much of them is read, and whether one is a page for people."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    import httpx2


_MAX_NAME_CHARS = 40


MAX_PAGE_BYTES = 64 * 1024
"""How much of a page is read to know it."""
_HEADERS = {
    "cf-mitigated": ("Cloudflare", frozenset({"challenge"})),
    "x-amzn-waf-action": ("AWS WAF", frozenset({"challenge", "captcha"})),
    "x-vercel-mitigated": ("Vercel", frozenset({"challenge"})),
}
_PAGES = {
    b"/cdn-cgi/challenge-platform/": "Cloudflare",
    b"awswaf.com": "AWS WAF",
    b"/_Incapsula_Resource": "Imperva",
    b"captcha-delivery.com": "DataDome",
}


def plain_headers(response: httpx2.Response) -> dict[str, str]:
    """Return the headers of an answer, which are looked at many times, with names in small letters."""
    return dict(response.headers.items())  # of a mapping, each name would be looked for


def has_framed_body(version: str, headers: Mapping[str, str]) -> bool:
    """Whether an end of the body without an error means that all of it came.

    A body has an end of its own in HTTP/2, or if it is chunked or has a `content-length`: one that
    stops before is a `RemoteProtocolError`. Any other lasts until the connection is closed, as it
    is also where a server dies.
    """
    if version == "HTTP/2":
        return True
    return "content-length" in headers or "chunked" in headers.get("transfer-encoding", "").lower()


def refused_coding(asked: Mapping[str, str], headers: Mapping[str, str]) -> str | None:
    """Return the content coding of an answer that cannot be read, None if it can be.

    One coding that was asked for is read. Several, one inside the other, are not: a few bytes of
    them can keep a processor busy for hours without a byte of content.

    Args:
        asked: The headers of the request.
        headers: The headers of the answer.
    """
    named = headers.get("content-encoding", "").lower().split(",")
    codings = [name for each in named if (name := each.strip()) not in ("", "identity")]
    if not codings:
        return None
    known = {name.strip() for name in asked.get("accept-encoding", "").lower().split(",")}
    if len(codings) == 1 and codings[0] in known:
        return None
    return ", ".join(codings)[:_MAX_NAME_CHARS]


async def read_beginning(response: httpx2.Response, max_bytes: int, seconds: float) -> bytes:
    """Return the beginning of a body, or as much of it as comes in time."""
    import httpx2

    read = bytearray()
    with contextlib.suppress(httpx2.HTTPError), anyio.move_on_after(seconds):
        await read_into(read, response, max_bytes)
    return bytes(read)


async def read_into(body: bytearray, response: httpx2.Response, max_bytes: int) -> None:
    """Read the body of an error or a list, up to `max_bytes`."""
    async with contextlib.aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) >= max_bytes:
                return


def is_page(headers: Mapping[str, str]) -> bool:
    """Whether an answer is a page for people."""
    return "text/html" in headers.get("content-type", "")


def find_challenger(headers: Mapping[str, str], body: bytes = b"") -> str | None:
    """Return whose proxy asks for a person, None if none does.

    Args:
        headers: The headers of the answer.
        body: Its beginning, which counts if it is a page.
    """
    for name, (vendor, actions) in _HEADERS.items():
        if headers.get(name, "").strip().lower() in actions:
            return vendor
    if not is_page(headers):
        return None
    return next((vendor for mark, vendor in _PAGES.items() if mark in body), None)
