"""What the tools of one round did, to compare it with other rounds and to show it to the judge."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Protocol

_MOST_SHOWN = 20
_SHOWN_CHARS = 300
_KEPT_CHARS = 4_096
"""Longer outputs are not kept until somebody asks for them."""


class Call(Protocol):
    """A call as the model asked for it."""

    @property
    def name(self) -> str:
        """The name of the tool."""
        ...

    @property
    def arguments(self) -> dict[str, Any] | None:
        """The arguments; None if they cannot be used."""
        ...


class Actions:
    """The calls of tools since the last judgement."""

    def __init__(self) -> None:
        """Begin with none."""
        self._noted: list[tuple[Call, Any]] = []
        """Calls with their outputs, for as long as nobody asks: most turns have no goal."""
        self._digests: list[str] = []
        self._shown: list[str] = []

    def note(self, calls: Iterable[Call], results: Iterable[Mapping[str, Any]]) -> None:
        """Note calls and the messages of their results, in the same order."""
        for call, result in zip(calls, results, strict=False):
            output = result.get("content")
            self._noted.append((call, output))
            if not isinstance(output, str) or len(output) > _KEPT_CHARS:
                self._write()

    def take(self) -> tuple[frozenset[str], list[str]]:
        """Return what was done, as digests and as lines of text, and begin again."""
        self._write()
        taken = frozenset(self._digests), self._shown[-_MOST_SHOWN:]
        self._digests.clear()
        self._shown.clear()
        return taken

    def _write(self) -> None:
        for call, content in self._noted:
            arguments, output = _write_arguments(call.arguments), _text(content)
            digest = blake2b(f"{call.name}\0{arguments}\0{output}".encode(errors="replace"))
            self._digests.append(digest.hexdigest())
            self._shown.append(f"{call.name} {_short(arguments)} -> {_short(output)}")
        self._noted.clear()


def _write_arguments(arguments: Any) -> str:
    try:
        return json.dumps(arguments, sort_keys=True, default=str, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return "arguments that cannot be written"


def _text(content: Any) -> str:
    return content if isinstance(content, str) else _write_arguments(content)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
