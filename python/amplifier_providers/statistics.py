"""Counts, durations and errors of a session, in bounded memory."""

from __future__ import annotations

from collections import Counter
from typing import Any

from amplifier_stream.process_metrics import Histogram

__all__ = ["OTHER", "Labels", "Statistics"]

OTHER = "_OTHER"
"""The label of all names beyond the limit."""


class Labels:
    """A limited set of names; further ones become `_OTHER`."""

    def __init__(self, most: int) -> None:
        """Keep at most this many names."""
        self._most = most
        self._known: set[str] = set()

    def label(self, name: str) -> str:
        """Return the name, or `_OTHER` if the set is full."""
        if name in self._known:
            return name
        if len(self._known) < self._most:
            self._known.add(name)
            return name
        return OTHER


class Statistics:
    """Blocks, durations, failures and tokens of a session.

    Args:
        most_labels: The limit of names counted separately, for tools, models, types of blocks and
            types of errors each.
    """

    def __init__(self, most_labels: int) -> None:
        self._types = Labels(most_labels)
        self._most_labels = most_labels
        self._names: dict[str, Labels] = {}
        self._failures = Labels(most_labels)
        self._blocks: Counter[str] = Counter()
        self._characters: Counter[str] = Counter()
        self._durations: dict[str, dict[str, Histogram]] = {}
        self._errors: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()

    def block(self, kind: str, characters: int) -> None:
        """Count a block of content."""
        kind = self._types.label(kind)
        self._blocks[kind] += 1
        self._characters[kind] += characters

    def count_duration(self, operation: str, name: str, seconds: float) -> None:
        """Count an operation (`turn`, `model`, `tool`) under a name."""
        names = self._names.setdefault(operation, Labels(self._most_labels))
        by_name = self._durations.setdefault(operation, {})
        by_name.setdefault(names.label(name), Histogram()).add(seconds)

    def count_error(self, kind: str) -> None:
        """Count a failure."""
        self._errors[self._failures.label(kind)] += 1

    def count_tokens(self, kind: str, count: int) -> None:
        """Count tokens, `input` or `output`."""
        self._tokens[kind] += count

    def snapshot(self) -> dict[str, Any]:
        """Return a copy as plain data; durations in seconds."""
        return {
            "blocks": dict(self._blocks),
            "characters": dict(self._characters),
            "durations_seconds": {
                operation: {name: histogram.snapshot() for name, histogram in by_name.items()}
                for operation, by_name in self._durations.items()
            },
            "errors": dict(self._errors),
            "tokens": dict(self._tokens),
        }
