"""Texts that somebody has written for a model: read up to a limit, and harmless to show."""

from __future__ import annotations

import re
from typing import NamedTuple

from amplifier_guard import PathPolicy, PathProtected, TerminalText

_MARKS = re.compile(
    r"<(?=/?\s*(?:project-notes|project-command|notes|skill|system-reminder|user-command)\b)",
    re.IGNORECASE,
)


class WrittenTextError(ValueError):
    """A file that is not read, and why."""


class WrittenText(NamedTuple):
    """The text of a file."""

    text: str
    """Its text; control characters are escaped."""
    is_cut: bool
    """Whether the file goes on."""


def read_written_text(policy: PathPolicy, path: str, max_bytes: int) -> WrittenText | None:
    """Return the beginning of a file; None if there is none.

    Args:
        policy: Opens it.
        path: The path, from the root of the policy.
        max_bytes: The most bytes that are read.

    Raises:
        WrittenTextError: It must not or cannot be read, or is no text.
    """
    try:
        content = policy.read(path, max_bytes + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PathProtected:
        raise WrittenTextError("it may hold secrets") from None
    except (OSError, ValueError) as error:
        raise WrittenTextError(describe_refusal(error)) from None
    if b"\0" in content:
        raise WrittenTextError("it is no text")
    is_cut = len(content) > max_bytes
    text = _decode(content[:max_bytes]).removeprefix("\ufeff")
    # What is escaped takes more than it did.
    shown = TerminalText.show(text).encode()
    return WrittenText(_decode(shown[:max_bytes]), is_cut or len(shown) > max_bytes)


def _decode(content: bytes) -> str:
    """Decode text whose last character may be cut."""
    text = content.decode("utf-8", "replace")
    return text.removesuffix("\ufffd")


def describe_refusal(error: Exception) -> str:
    """Return in a line why a file cannot be read."""
    return TerminalText.line(getattr(error, "strerror", None) or str(error), 200)


def escape_marks(text: str) -> str:
    """Return a text that cannot end or forge the marks around it."""
    return _MARKS.sub("&lt;", text)
