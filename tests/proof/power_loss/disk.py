"""A disk on which only what was synced is sure to be, and what it may have after a loss of power.

What was not synced may be there in any combination: a part of the writes to a file, sectors of a
write, names in a folder. A file may have grown without its content, with zeros or with what was
on the disk before.
"""

from __future__ import annotations

import os
import random
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from system_calls import SystemCall

Entries = dict[str, "File | Folder"]


class Write(NamedTuple):
    offset: int
    content: bytes


class Cut(NamedTuple):
    size: int


@dataclass(eq=False)
class File:
    """A file: what it began with, and each change at its time."""

    content: bytes = b""
    changes: list[tuple[int, Write | Cut]] = field(default_factory=list)
    syncs: list[int] = field(default_factory=list)
    durable: dict[int, bytes] = field(default_factory=dict)
    """The content that is sure, by the number of the syncs."""


@dataclass(eq=False)
class Folder:
    """A folder: what it began with, and each change of its names at its time."""

    entries: Entries = field(default_factory=dict)
    changes: list[tuple[int, dict[str, File | Folder | None]]] = field(default_factory=list)
    syncs: list[int] = field(default_factory=list)
    now: Entries = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.now = dict(self.entries)


class Disk:
    """A folder with all that is in it, through the time of a recorded run."""

    def __init__(self, place: Path) -> None:
        """Begin with what is in the folder, all of it synced."""
        self.root = _load(place)
        self.time = 0
        self.marks: list[tuple[int, str]] = []
        """What was written to `/dev/null`."""
        self._place = os.fsencode(place)
        self._open: dict[int, File | Folder] = {}
        self._positions: dict[int, int] = {}

    def play(self, calls: Iterable[SystemCall]) -> None:
        """Note what the calls do in the folder; it must be the folder of that run.

        Raises:
            NotImplementedError: A call is none that is known.
        """
        marks: set[int] = set()
        for name, arguments, result in calls:
            match name, arguments:
                case "openat", [_, path, flags, *_]:
                    self._open.pop(result, None)
                    marks.discard(result)
                    if path == b"/dev/null":
                        marks.add(result)
                    elif self._is_inside(path):
                        self._note_open(result, path, flags)
                case "close", [number]:
                    self._open.pop(number, None)
                    marks.discard(number)
                case "write", [number, content, _] if number in marks:
                    self.marks.append((self.time, content.decode()))
                case "mkdir", [path, _] if self._is_inside(path):
                    self._rename({path: Folder()})
                case "unlink", [path] if self._is_inside(path):
                    self._rename({path: None})
                case "link", [old, new] if self._is_inside(new):
                    self._rename({new: self._find(old)})
                case "rename", [old, new] if self._is_inside(new):
                    self._rename({old: None, new: self._find(old)})
                case _, [int(number), *_] if number in self._open:
                    self._note_use(name, number, arguments, result)
                case _, [bytes(path), *_] if self._is_inside(path):
                    raise NotImplementedError(f"`{name}` of {path!r}")
                case _:
                    pass

    def fail(self, time: int, chance: random.Random) -> dict[str, bytes | None]:
        """Return what may be there if the power fails at a time: contents by path, None for folders.

        Args:
            time: How many changes had been made.
            chance: What decides, of all that is possible.
        """
        keep = _choose_rule(chance)
        found: dict[str, bytes | None] = {}

        def walk(folder: Folder, path: str) -> None:
            sure, open_changes = _split(folder, time)
            entries = dict(folder.entries)
            for changes in [*sure, *(each for each in open_changes if keep())]:
                for name, item in changes.items():
                    if item is None:
                        entries.pop(name, None)
                    else:
                        entries[name] = item
            for name, item in entries.items():
                if isinstance(item, Folder):
                    found[path + name] = None
                    walk(item, f"{path}{name}/")
                else:
                    found[path + name] = _make_content(item, time, keep, chance)

        walk(self.root, "")
        return found

    def _is_inside(self, path: bytes) -> bool:
        return path == self._place or path.startswith(self._place + b"/")

    def _note_open(self, number: int, path: bytes, flags: str) -> None:
        item = self._find(path)
        if item is None:
            item = File()
            self._rename({path: item})
        elif "O_TRUNC" in flags and isinstance(item, File):
            self._change(item, Cut(0))
        self._open[number] = item
        self._positions[number] = 0

    def _note_use(self, name: str, number: int, arguments: list[object], result: int) -> None:
        item = self._open[number]
        match name, arguments:
            case (("fsync" | "fdatasync"), _):
                item.syncs.append(self.time)
                self.time += 1
            case "pwrite64", [_, bytes(content), _, int(offset)] if isinstance(item, File):
                self._change(item, Write(offset, content[:result]))
            case "write", [_, bytes(content), _] if isinstance(item, File):
                self._change(item, Write(self._positions[number], content[:result]))
                self._positions[number] += result
            case "ftruncate", [_, int(size)] if isinstance(item, File):
                self._change(item, Cut(size))
            case "lseek", _:
                self._positions[number] = result
            case "fallocate", [_, _, int(offset), int(length)] if isinstance(item, File):
                self._change(item, Write(offset + length, b""))
            case _:
                raise NotImplementedError(f"`{name}` of an open file")

    def _change(self, file: File, change: Write | Cut) -> None:
        file.changes.append((self.time, change))
        self.time += 1

    def _find(self, path: bytes) -> File | Folder | None:
        item: File | Folder | None = self.root
        for name in os.fsdecode(path[len(self._place) :]).split("/")[1:]:
            if not isinstance(item, Folder):
                return None
            item = item.now.get(name)
        return item

    def _rename(self, changes: dict[bytes, File | Folder | None]) -> None:
        (parent,) = {os.path.dirname(path) for path in changes}
        folder = self._find(parent)
        assert isinstance(folder, Folder), parent
        named = {os.fsdecode(os.path.basename(path)): item for path, item in changes.items()}
        for name, item in named.items():
            if item is None:
                folder.now.pop(name, None)
            else:
                folder.now[name] = item
        folder.changes.append((self.time, named))
        self.time += 1


def write_files(place: Path, files: dict[str, bytes | None]) -> None:
    """Make what `Disk.fail` has returned."""
    place.mkdir()
    for name, content in files.items():
        if content is None:
            (place / name).mkdir()
        else:
            (place / name).write_bytes(content)


class _Rule(NamedTuple):
    """Which of the changes that were not synced are there."""

    chance: random.Random
    share: float
    sector: int
    """Bytes that are written as a whole; 0 if all of a write are."""
    has_rubbish: bool
    """Whether a file that has grown without its content has what was on the disk before."""

    def __call__(self) -> bool:
        return self.chance.random() < self.share


def _choose_rule(chance: random.Random) -> _Rule:
    share = chance.choice((0.0, 0.1, 0.5, 0.5, 0.5, 0.9, 1.0))
    return _Rule(chance, share, chance.choice((0, 4096, 512)), chance.random() < 0.3)


def _split(item: File | Folder, time: int) -> tuple[list, list]:
    """Return the changes before a time: those that are synced, and the others."""
    synced = bisect_left(item.syncs, time)
    since = item.syncs[synced - 1] if synced else -1
    sure = [change for at, change in item.changes if at < since]
    return sure, [change for at, change in item.changes if since < at < time]


def _make_content(file: File, time: int, keep: _Rule, chance: random.Random) -> bytes:
    synced = bisect_left(file.syncs, time)
    sure, open_changes = _split(file, time)
    if synced not in file.durable:
        content = bytearray(file.content)
        for change in sure:
            _apply(content, change)
        file.durable[synced] = bytes(content)
    if not open_changes:
        return file.durable[synced]
    content = bytearray(file.durable[synced])
    for change in open_changes:
        if isinstance(change, Cut) or not keep.sector:
            if keep():
                _apply(content, change)
            continue
        end = change.offset + len(change.content)
        if end > len(content) and keep():
            grown = end - len(content)
            content += chance.randbytes(grown) if keep.has_rubbish else bytes(grown)
        start = change.offset
        while start < end:
            stop = min(end, (start // keep.sector + 1) * keep.sector)
            if keep():
                part = change.content[start - change.offset : stop - change.offset]
                _apply(content, Write(start, part))
            start = stop
    return bytes(content)


def _apply(content: bytearray, change: Write | Cut) -> None:
    match change:
        case Cut(size):
            del content[size:]
            content.extend(bytes(size - len(content)))
        case Write(offset, new):
            content.extend(bytes(max(0, offset - len(content))))
            content[offset : offset + len(new)] = new


def _load(place: Path) -> Folder:
    entries: Entries = {
        each.name: _load(each) if each.is_dir() else File(each.read_bytes())
        for each in place.iterdir()
    }
    return Folder(entries)
