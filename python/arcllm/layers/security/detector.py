"""What finds personal data: the built-in types and patterns, or a class of the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Protocol, cast

from amplifier_guard import PersonalData

from ...exceptions import ArcLLMConfigError
from .settings import SecuritySettings

_CONTEXT_CHARS = 256
"""Characters of a stream that are held back for a class of the user's own, which does not say what
could become personal data."""


class Finder(Protocol):
    """A class of the user's own that finds personal data; made without arguments, used by threads."""

    def find(self, text: str) -> Iterable[tuple[int, int, str]]:
        """Return the place of each find, as characters from and to, and its type."""
        ...


class Detection(Protocol):
    """Takes personal data out of one text that comes in chunks."""

    def feed(self, chunk: str) -> str:
        """Take a chunk and return what can be shown by now."""
        ...

    def flush(self) -> str:
        """Return the rest; what is fed later begins another text."""
        ...

    def types(self) -> tuple[str, ...]:
        """Return the types that were found by now."""
        ...


class Detector(Protocol):
    """Takes personal data out of texts."""

    def redact(self, text: str) -> str:
        """Return the text without personal data; the same object if it has none."""
        ...

    def types(self, text: str) -> tuple[str, ...]:
        """Return the types of the personal data in a text."""
        ...

    def stream(self) -> Detection:
        """Return what takes personal data out of one text in chunks."""
        ...


def detector_of(settings: SecuritySettings) -> Detector:
    """Return what finds personal data with these settings.

    Raises:
        ArcLLMConfigError: A pattern cannot be used, or the class cannot be loaded.
    """
    if settings.pii_detector is not None:
        return FinderDetector(_load_finder(settings.pii_detector))
    try:
        return PersonalData(list(settings.pii_types), list(settings.pii_patterns.items()))
    except ValueError as error:
        raise ArcLLMConfigError(f"security: {error}") from None


class FinderDetector:
    """A class of the user's own as a detector.

    Args:
        finder: An instance of it.
    """

    def __init__(self, finder: Finder) -> None:
        self._finder = finder

    def redact(self, text: str) -> str:
        """Return the text without personal data; the same object if it has none."""
        parts: list[str] = []
        place = 0
        for start, end, kind in self.find(text):
            parts += text[place:start], f"[PII:{kind}]"
            place = end
        return "".join((*parts, text[place:])) if parts else text

    def types(self, text: str) -> tuple[str, ...]:
        """Return the types of the personal data in a text."""
        return tuple(dict.fromkeys(kind for _, _, kind in self.find(text)))

    def stream(self) -> Detection:
        """Return what takes personal data out of one text in chunks."""
        return _FinderStream(self)

    def find(self, text: str) -> list[tuple[int, int, str]]:
        """Return the finds in order and apart, of those that overlap the longest."""
        apart: list[tuple[int, int, str]] = []
        for start, end, kind in sorted(self._finder.find(text)):
            if not 0 <= start < end <= len(text):
                continue
            if apart and start < apart[-1][1]:
                first, last, name = apart[-1]
                name = kind if end - start > last - first else name
                apart[-1] = first, max(last, end), name
            else:
                apart.append((start, end, kind))
        return apart


class _FinderStream:
    def __init__(self, detector: FinderDetector) -> None:
        self._detector = detector
        self._held = ""
        self._types: dict[str, None] = {}

    def feed(self, chunk: str) -> str:
        self._held += chunk
        safe = len(self._held) - _CONTEXT_CHARS
        if safe <= 0:
            return ""
        for start, end, _ in self._detector.find(self._held):
            if start < safe < end:
                safe = start
        return self._release(safe)

    def flush(self) -> str:
        return self._release(len(self._held))

    def types(self) -> tuple[str, ...]:
        return tuple(self._types)

    def _release(self, end: int) -> str:
        released, self._held = self._held[:end], self._held[end:]
        self._types.update(dict.fromkeys(self._detector.types(released)))
        return self._detector.redact(released)


def _load_finder(name: str) -> Finder:
    module, _, attribute = name.partition(":")
    try:
        made = getattr(import_module(module), attribute)()
    except Exception as error:
        raise ArcLLMConfigError(
            f"security: `pii_detector` `{name}` cannot be loaded: {error}"
        ) from error
    if not callable(getattr(made, "find", None)):
        raise ArcLLMConfigError(
            f"security: `pii_detector` `{name}` needs a method `find(text)` that returns tuples of"
            " start, end and type"
        )
    return cast("Finder", made)
