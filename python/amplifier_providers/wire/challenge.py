"""Pages of a proxy that wants to see a person, in the place of the answer of a service."""

from __future__ import annotations

from collections.abc import Mapping

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


def is_page(headers: Mapping[str, str]) -> bool:
    """Whether an answer is a page for people."""
    return "text/html" in headers.get("content-type", "")


def challenger(headers: Mapping[str, str], body: bytes = b"") -> str | None:
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
