"""A walk and a search over the parts of a large folder, with the results of one over a whole."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Generic, Literal, TypeVar

from amplifier_guard import PathPolicy
from amplifier_modules.tools.scope import Part

Order = Literal["path", "largest", "latest"]
FoundT = TypeVar("FoundT")


@dataclass
class Walked:
    """What `PathPolicy.walk` finds."""

    files: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
    total: int = 0
    total_bytes: int = 0
    endings: dict[str, int] = field(default_factory=dict[str, int])
    unreadable: int = 0


@dataclass
class Searched:
    """What `PathPolicy.search` finds."""

    lines: list[tuple[str, int, str]] = field(default_factory=list[tuple[str, int, str]])
    files: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    total_matches: int = 0
    total_files: int = 0
    searched_files: int = 0
    searched_lines: int = 0
    binary_files: int = 0
    unreadable: int = 0


def walk_parts(
    policy: PathPolicy,
    parts: Iterable[Part],
    *,
    pattern: str,
    order: Order,
    limit: int,
    max_bytes: int,
    stop: Event,
) -> Walked:
    """Walk each part and put the results together.

    Raises:
        InterruptedError: `stop` was set.
        ValueError: The pattern is invalid.
    """
    found, endings = Walked(), Counter[str]()
    files = _Kept[tuple[str, int, int]](limit, max_bytes, _RANKS[order])

    def look(part: Part) -> Any:
        return policy.walk(
            part.path,
            pattern=pattern,
            skip=part.skip,
            order=order,
            limit=limit,
            max_bytes=max_bytes,
            stop=stop,
        )

    for walk in _look_at_parts(found, parts, look, stop):
        found.total += walk.total
        found.total_bytes += walk.total_bytes
        endings.update(walk.endings)
        files.add(walk.files)
    found.endings, found.files = dict(endings), files.list_first()
    return found


def search_parts(
    policy: PathPolicy,
    expression: str,
    parts: Iterable[Part],
    *,
    pattern: str,
    ignore_case: bool,
    limit: int,
    order: Order,
    max_files: int,
    max_bytes: int,
    stop: Event,
) -> Searched:
    """Search each part and put the results together.

    Raises:
        InterruptedError: `stop` was set.
        ValueError: The expression or the pattern is invalid, or the expression takes too long.
    """
    found = Searched()
    lines = _Kept[tuple[str, int, str]](limit, max_bytes, _by_line)
    files = _Kept[tuple[str, int]](max_files, max_bytes, _RANKS[order])

    def look(part: Part) -> Any:
        return policy.search(
            expression,
            part.path,
            pattern=pattern,
            skip=part.skip,
            ignore_case=ignore_case,
            limit=limit,
            order=order,
            max_files=max_files,
            max_bytes=max_bytes,
            stop=stop,
        )

    for report in _look_at_parts(found, parts, look, stop):
        for total in _TOTALS:
            setattr(found, total, getattr(found, total) + getattr(report, total))
        lines.add(report.lines)
        files.add(report.files)
    found.lines, found.files = lines.list_first(), files.list_first()
    return found


_SLACK = 2
_TOTALS = ("total_matches", "total_files", "searched_files", "searched_lines", "binary_files")


def _look_at_parts(
    found: Walked | Searched, parts: Iterable[Part], look: Callable[[Part], Any], stop: Event
) -> Iterator[Any]:
    """Yield the result of each look, and count what cannot be read."""
    for part in parts:
        if stop.is_set():
            raise InterruptedError(f"reading `{part.path}` was stopped before it was complete")
        try:
            result = look(part)
        except FileNotFoundError:
            continue  # it has vanished meanwhile
        except InterruptedError:
            raise
        except OSError:
            found.unreadable += 1
            continue
        found.unreadable += result.unreadable
        yield result


class _Kept(Generic[FoundT]):
    """The first results of all parts, within a number and a sum of characters."""

    def __init__(self, limit: int, most_characters: int, rank: Callable[[FoundT], Any]) -> None:
        self._items: list[FoundT] = []
        self._limit = limit
        self._most_characters = most_characters
        self._rank = rank
        self._characters = 0

    def add(self, items: list[FoundT]) -> None:
        """Take the results of a part, and drop the last ones once there are many more than fit."""
        self._items += items
        self._characters += sum(map(_count_characters, items))
        is_long = len(self._items) > _SLACK * (self._limit + 1)
        if is_long or self._characters > _SLACK * self._most_characters:
            self._cut()

    def list_first(self) -> list[FoundT]:
        """Return them in their order."""
        self._cut()
        return self._items

    def _cut(self) -> None:
        self._items.sort(key=self._rank)
        self._characters = 0
        for number, item in enumerate(self._items):
            if number == self._limit or self._characters > self._most_characters:
                del self._items[number:]
                return
            self._characters += _count_characters(item)


def _count_characters(item: Any) -> int:
    """How many characters the texts of a result have: a result for the model has at least these."""
    return sum(len(value) for value in item if isinstance(value, str))


def _by_path(item: Any) -> Any:
    return os.fsencode(item[0])


def _by_line(item: Any) -> Any:
    return os.fsencode(item[0]), item[1]


def _by_figure(item: Any) -> Any:
    return -item[1], os.fsencode(item[0])


def _by_time(item: Any) -> Any:
    return -item[2], os.fsencode(item[0])


_RANKS: dict[Order, Callable[[Any], Any]] = {
    "path": _by_path,
    "largest": _by_figure,
    "latest": _by_time,
}
