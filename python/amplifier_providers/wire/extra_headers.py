"""Headers that a program adds to requests, such as the trace that a call belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from amplifier_core.llm_errors import ConfigurationError

OPTION = "extra_headers"
"""The keyword of a call."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TEXT = re.compile(r"[\x20-\x7e]*")
_OF_THE_REQUEST = frozenset(
    {
        "accept", "accept-encoding", "api-key", "authorization", "connection", "content-encoding",
        "content-length", "content-type", "cookie", "expect", "host", "proxy-authorization", "te",
        "trailer", "transfer-encoding", "upgrade", "x-api-key",
    }
)  # fmt: skip
"""What the request itself says, its key among it."""


def can_be_sent(headers: Mapping[str, str]) -> bool:
    """Whether names and values have the form of headers."""
    return all(_NAME.fullmatch(name) and _TEXT.fullmatch(headers[name]) for name in headers)


def extra_headers(options: Mapping[str, Any], provider: str) -> dict[str, str]:
    """Return the headers that a call adds to its requests, with small letters.

    Raises:
        ConfigurationError: They are no headers, or would replace those of the request itself.
    """
    given = options.get(OPTION)
    if not given:
        return {}
    if not isinstance(given, Mapping) or not all(
        isinstance(part, str) for item in cast("Mapping[Any, Any]", given).items() for part in item
    ):
        raise _refusal("is no mapping of texts", provider)
    headers = cast("Mapping[str, str]", given)
    if not can_be_sent(headers):
        raise _refusal("has a name or a value that no header can have", provider)
    named = {name.lower(): value for name, value in headers.items()}
    if own := sorted(_OF_THE_REQUEST & named.keys()):
        names = ", ".join(f"`{name}`" for name in own)
        raise _refusal(f"has {names}, which the request has itself", provider)
    return named


def _refusal(what: str, provider: str) -> ConfigurationError:
    # Without the values: one may be a key.
    message = f"`{OPTION}` {what} (must be a mapping of header names to text of ASCII characters)"
    return ConfigurationError(message, provider=provider)
