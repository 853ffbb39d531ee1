"""Texts and plain data without personal data and secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, cast

from amplifier_guard import Redactor

from ...exceptions import ArcLLMSecurityError
from .detector import Detector
from .settings import Direction

LEAST_NUMBER = 100_000_000
"""Shorter numbers are no personal data by themselves."""
SECRET = "SECRET"
"""The type of a secret in errors and metadata."""

ItemT = TypeVar("ItemT")


def each_cleaned(items: list[ItemT], clean: Callable[[ItemT], ItemT]) -> list[ItemT]:
    """Return the items as they are cleaned; the same list if each of them is the same object."""
    cleaned = [clean(item) for item in items]
    is_same = all(new is old for new, old in zip(cleaned, items, strict=True))
    return items if is_same else cleaned


class Cleaning:
    """Takes personal data and secrets out of one call, or of one answer, and keeps what types it found.

    Args:
        direction: Which of them.
        detector: Finds personal data; None to leave it.
        redactor: Finds secrets; None to leave them.
        action: Whether what is found is taken out, or an error is raised.
    """

    def __init__(
        self,
        direction: Direction,
        detector: Detector | None,
        redactor: Redactor | None,
        action: Literal["redact", "block"],
    ) -> None:
        self.direction: Direction = direction
        self.detector = detector
        self.redactor = redactor
        self._blocks = action == "block"
        self.found: dict[str, None] = {}

    def clean_text(self, text: str) -> str:
        """Return a text without them; the same object if it has none.

        Raises:
            ArcLLMSecurityError: It has some, and they are to be blocked.
        """
        if self.redactor is not None:
            without = self.redactor.redact(text)
            if without is not text and without != text:
                self.note((SECRET,))
                text = without
        if self.detector is not None:
            without = self.detector.redact(text)
            if without is not text and without != text:
                self.note(self.detector.types(text))
                text = without
        return text

    def clean_data(self, value: Any) -> Any:
        """Return plain data without them, names of mappings included; the same object if it has none.

        Raises:
            ArcLLMSecurityError: It has some, and they are to be blocked.
        """
        if self.redactor is not None:
            without = self.redactor.redact_data(value)
            if without is not value and without != value:
                self.note((SECRET,))
                value = without
        return value if self.detector is None else self._without_personal(value, self.detector)

    def note(self, types: tuple[str, ...]) -> None:
        """Keep what was found, or block it.

        Raises:
            ArcLLMSecurityError: It is to be blocked.
        """
        if types and self._blocks:
            raise ArcLLMSecurityError(self.direction, types)
        self.found.update(dict.fromkeys(types))

    def _without_personal(self, value: Any, detector: Detector) -> Any:
        if isinstance(value, str):
            without = detector.redact(value)
            if without is not value and without != value:
                self.note(detector.types(value))
                return without
            return value
        if isinstance(value, int):
            written = str(value) if abs(value) >= LEAST_NUMBER else ""
            without = self._without_personal(written, detector)
            return value if without is written else without
        if isinstance(value, Mapping):
            return self._clean_mapping(cast("Mapping[Any, Any]", value), detector)
        if isinstance(value, list | tuple):
            items = cast("list[Any]", value)
            return each_cleaned(items, lambda item: self._without_personal(item, detector))
        return value

    def _clean_mapping(self, value: Mapping[Any, Any], detector: Detector) -> Mapping[Any, Any]:
        cleaned: dict[Any, Any] = {}
        is_same = True
        for name, item in value.items():
            new_name = self._without_personal(name, detector) if isinstance(name, str) else name
            new_item = self._without_personal(item, detector)
            is_same = is_same and new_name is name and new_item is item
            count, free = 1, new_name
            while free in cleaned:  # two people, one mark
                count += 1
                free = f"{new_name} {count}"
            cleaned[free] = new_item
        return value if is_same else cleaned
