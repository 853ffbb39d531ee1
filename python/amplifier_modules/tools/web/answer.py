"""What an address has answered, or why it cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

from amplifier_guard import TerminalText

_MAX_SHOWN_CHARS = 500


class FetchError(Exception):
    """An address that cannot be read, and why."""


@dataclass(frozen=True)
class Answer:
    """What an address has answered."""

    url: str
    """Where it was found, redirects followed."""
    content_type: str
    """The header as it is; empty without one."""
    body: bytes
    is_cut: bool
    """Whether there is more than was read."""


@dataclass(frozen=True)
class Moved:
    """A redirect to another host, which nobody has agreed to yet."""

    url: str


def show_url(url: str) -> str:
    """Return an address as it can be shown in a line."""
    return TerminalText.line(url, _MAX_SHOWN_CHARS)
