"""Hosts that a rule such as `WebFetch(domain:example.com)` means."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DOMAIN = re.compile(
    r"(\*\.)?((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)"
)
_URL = re.compile(
    r"https?://([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)\.?(?::\d{1,5})?(?:[/?#][!-\[\]-~]*)?",
    re.IGNORECASE,
)
"""A URL of which everyone reads the same host: no user, no backslash, no space, ASCII alone."""


@dataclass(frozen=True)
class Domain:
    """A host, or with `*.` all hosts beneath one."""

    name: str
    has_all_beneath: bool

    @classmethod
    def read(cls, written: str) -> Domain:
        """Read what stands behind `domain:`.

        Raises:
            ValueError: It is no host.
        """
        found = _DOMAIN.fullmatch(written.strip().lower())
        if found is None:
            raise ValueError(f"`{written.strip()}` is no host")
        return cls(found[2], found[1] is not None)

    def has_url(self, url: object) -> bool:
        """Whether the host of a URL is certain to be meant."""
        host = read_host(url)
        if host is None:
            return False
        return self._is_beneath(host) if self.has_all_beneath else host == self.name

    def may_have_url(self, url: object) -> bool:
        """Whether the host of a URL may be meant: it is beneath it, or cannot be read."""
        host = read_host(url)
        return host is None or host == self.name or self._is_beneath(host)

    def is_named_in(self, text: str) -> bool:
        """Whether a line of shell names the host, or one beneath it."""
        plain = re.sub(r"[\"'\\]", "", text.lower())
        return (
            re.search(rf"(?<![a-z0-9-]){re.escape(self.name)}(?![a-z0-9-]|\.[a-z0-9])", plain)
            is not None
        )

    def _is_beneath(self, host: str) -> bool:
        return host.endswith(f".{self.name}")


def read_host(url: object) -> str | None:
    """Return the host of a URL; None where not everyone reads the same."""
    found = _URL.fullmatch(url) if isinstance(url, str) else None
    return None if found is None else found[1].lower()
