"""The hops of a redirect: where each may lead, and that no key goes along to another origin."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import httpx2

from amplifier_guard.redact import Redactor
from amplifier_guard.url import Destination, UrlDenied, UrlPolicy

__all__ = ["judge_hop"]

_HOP = "amplifier_guard.hop"
"""The extension of a request that its redirects inherit."""

_HARMLESS_HEADERS = frozenset(
    {
        "accept",
        "accept-charset",
        "accept-encoding",
        "accept-language",
        "cache-control",
        "connection",
        "content-encoding",
        "content-language",
        "content-length",
        "content-type",
        "host",
        "if-modified-since",
        "if-none-match",
        "pragma",
        "range",
        "te",
        "transfer-encoding",
        "user-agent",
    }
)
"""The headers that hold no key; any other may, whatever its name."""

_KEY_NAME = re.compile(
    r"(?i)token|secret|passw|authorization|cookie"
    r"|(?:^|[-_]|api|access|auth|client|private)key$"
    r"|(?:^|[-_])(?:auth|code|credential|jwt|session|sid|sig|signature)$"
)
"""The names of values that are looked for in the URL of the next hop."""
_MIN_SECRET_CHARS = 6
"""A shorter value is not searched for: it may be an ordinary word."""

_BODILESS = frozenset({"GET", "HEAD", "OPTIONS"})


class _Hop(NamedTuple):
    """Where a request went, and what it carried when it set out."""

    first: Destination
    last: Destination
    has_left: bool
    """Whether any hop so far had another origin than the first request."""
    secrets: frozenset[str]


def judge_hop(policy: UrlPolicy, request: httpx2.Request) -> Destination:
    """Judge the URL of a request, which may be the next hop of a redirect, and remove its keys.

    The headers of the request are changed, so that no later hop has them either.

    Raises:
        UrlDenied: The URL may not be requested, or the redirect would carry on what it must not.
    """
    url = str(request.url)
    earlier = request.extensions.get(_HOP)
    if not isinstance(earlier, _Hop):
        there = policy.destination(url)
        hop = _Hop(there, there, False, _list_secrets(request))
    else:
        there = policy.redirect(earlier.last, url)
        has_left = earlier.has_left or _find_origin(there) != _find_origin(earlier.first)
        hop = earlier._replace(last=there, has_left=has_left)
        if has_left:
            _leave_keys_behind(request, hop)
    request.extensions[_HOP] = hop
    return there


def _leave_keys_behind(request: httpx2.Request, hop: _Hop) -> None:
    first, there = hop.first, hop.last
    is_upgrade = first.host == there.host and _find_origin(there)[0] == "https"
    if _does_more_than_ask(request) and not is_upgrade:
        raise UrlDenied(f"a redirect to `{there.host}` would repeat a `{request.method}` there")
    spelled = unquote_plus(str(request.url))
    if any(secret in spelled for secret in hop.secrets):
        raise UrlDenied(f"a redirect to `{there.host}` would take a key along in its URL")
    for name, value in list(request.headers.items()):
        has_key = any(secret in value for secret in hop.secrets)
        if has_key or name.lower() not in _HARMLESS_HEADERS:
            del request.headers[name]


def _does_more_than_ask(request: httpx2.Request) -> bool:
    """Whether a request may change something, or has a body, which a `GET` may have, too."""
    has_body = request.headers.get("content-length", "0") != "0"
    return has_body or "transfer-encoding" in request.headers or request.method not in _BODILESS


def _list_secrets(request: httpx2.Request) -> frozenset[str]:
    """The values of a request that must not turn up in the URL of another origin."""
    found: list[str] = []
    for name, value in request.headers.items():
        if _KEY_NAME.search(name):
            found += re.split(r"[\s;,=]+", value)
    for name, value in parse_qsl(request.url.query.decode("ascii", "replace")):
        pair = f"{name}={value}"
        if _KEY_NAME.search(name) or _make_redactor().redact(pair) != pair:
            found.append(value)
    return frozenset(value for value in found if len(value) >= _MIN_SECRET_CHARS)


def _find_origin(destination: Destination) -> tuple[str, str, int]:
    return urlsplit(destination.url).scheme, destination.host, destination.port


@cache
def _make_redactor() -> Redactor:
    return Redactor()
