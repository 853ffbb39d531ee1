"""One address: its answer, read over checked connections, bounded in size and time."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Callable
from contextlib import aclosing
from functools import cache

import anyio
import httpx2

from amplifier_guard import TerminalText
from amplifier_guard.url import UrlDenied, UrlPolicy
from amplifier_guard.url_transport import CheckedTransport

from .answer import Answer, FetchError, Moved, show_url

MAX_HOPS = 5
"""Redirects that are followed."""
_HEADERS = {
    "Accept": "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5",
    # Packed, a small answer can be a large one; who packs it all the same is unpacked in bounds.
    "Accept-Encoding": "identity",
    "User-Agent": "amplifier-core (web_fetch)",
}


async def fetch_address(
    url: str, policy: UrlPolicy, *, seconds: float, max_bytes: int
) -> Answer | Moved:
    """Read an address.

    Args:
        url: The address.
        policy: Which addresses may be read.
        seconds: How long it may take, redirects included.
        max_bytes: How much is read of an answer, unpacked.

    Raises:
        FetchError: It cannot be read.
    """
    shown = show_url(url)
    try:
        with anyio.fail_after(seconds):
            async with httpx2.AsyncClient(
                transport=CheckedTransport(policy, ssl_context=_load_certificates()),
                headers=_HEADERS,
                timeout=seconds,
                trust_env=False,
            ) as client:
                return await _follow(client, client.build_request("GET", url), max_bytes)
    except UrlDenied as error:
        raise FetchError(f"`{shown}` is not read: {error}") from error
    except TimeoutError as error:
        raise FetchError(f"`{shown}` has not answered within {seconds:g} s") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, zlib.error, OSError) as error:
        why = TerminalText.line(str(error) or type(error).__name__, 200)
        raise FetchError(f"`{shown}` cannot be read: {why}") from error


@cache
def _load_certificates() -> ssl.SSLContext:
    """Return the trusted certificates, which take a while to read."""
    return httpx2.create_ssl_context(trust_env=False)


async def _follow(
    client: httpx2.AsyncClient, request: httpx2.Request, max_bytes: int
) -> Answer | Moved:
    for _ in range(MAX_HOPS + 1):
        response = await client.send(request, stream=True, follow_redirects=False)
        try:
            following = response.next_request
            if following is None:
                return await _read_answer(response, max_bytes)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()
        if following.url.host != request.url.host:
            return Moved(str(following.url))
        following.headers.pop("cookie", None)
        request = following
    raise FetchError(f"`{show_url(str(request.url))}` is behind more than {MAX_HOPS} redirects")


async def _read_answer(response: httpx2.Response, max_bytes: int) -> Answer:
    if not response.is_success:
        reason = TerminalText.line(f"{response.status_code} {response.reason_phrase}", 100)
        raise FetchError(f"`{show_url(str(response.url))}` answers {reason.strip()}")
    unpack = _choose_unpacking(response.headers.get("content-encoding", ""))
    body = bytearray()
    async with aclosing(response.aiter_raw()) as pieces:
        async for piece in pieces:
            body += unpack(piece, max_bytes + 1 - len(body))
            if len(body) > max_bytes:
                break
    is_cut = len(body) > max_bytes
    content_type = response.headers.get("content-type", "")
    return Answer(str(response.url), content_type, bytes(body[:max_bytes]), is_cut)


def _choose_unpacking(encoding: str) -> Callable[[bytes, int], bytes]:
    """Return what unpacks a piece of an answer, to so many bytes at most.

    Raises:
        FetchError: It is packed in a way that is not known here.
    """
    match encoding.strip().lower():
        case "" | "identity":
            return lambda piece, most: piece[:most]
        case "gzip" | "x-gzip" | "deflate":
            return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress
        case other:
            shown = TerminalText.line(other, 40)
            raise FetchError(f"the answer is packed as `{shown}`, which nobody has asked for")
