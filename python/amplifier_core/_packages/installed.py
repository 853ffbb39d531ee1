"""What is installed: entry points and importable packages, remembered while nothing can change.

Listing entry points reads the metadata of every distribution, and looking for a package that is
not there asks every folder of the path. Both answers hold as long as `sys.path`, the times of its
folders and the finders stay the same; the times are read once for all modules that are looked up
within five milliseconds, and anew after a look-up in vain. A function that somebody put in the
place of `importlib.metadata.entry_points` or `importlib.import_module` is always called.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from time import monotonic_ns, time_ns
from types import ModuleType
from typing import Any, Protocol

from .second_name import forget_second_name, is_second_name

logger = logging.getLogger("amplifier_core.loader")

GROUP = "amplifier.modules"
"""Entry-point group of installed modules."""

_SECOND = 1_000_000_000  # nanoseconds


class EntryPoint(Protocol):
    """The least that is asked of an entry point."""

    @property
    def name(self) -> str:
        """Id of the module."""
        ...

    def load(self) -> Any:
        """Import what the entry point names."""
        ...


_library = os.path.dirname(os.__file__)
_archive = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
_fixed_entries = frozenset(
    {
        _library,
        os.path.join(_library, "lib-dynload"),
        os.path.join(os.path.dirname(_library), _archive),
    }
)
"""Entries of the standard library, where nothing is installed while it runs."""


class ImportState:
    """What the outcome of an import depends on."""

    __slots__ = ("_is_settled", "_key", "_taken")

    def __init__(self) -> None:
        path = tuple(sys.path)
        times: list[tuple[int, int] | None] = []
        newest = 0
        for entry in path:
            if entry in _fixed_entries:
                continue
            try:
                status = os.stat(entry or ".")
            except OSError:
                times.append(None)
                continue
            modified = status.st_mtime_ns
            times.append((modified, status.st_ino))
            newest = max(newest, modified)
        self._key = (path, times, tuple(sys.meta_path))
        self._taken = monotonic_ns()
        tick = 2 * _SECOND if newest % _SECOND == 0 else _SECOND // 10
        self._is_settled = time_ns() - newest > tick

    def is_settled(self) -> bool:
        """Whether every later change will be noticed: no folder changed within a tick of its clock."""
        return self._is_settled

    def is_fresh(self) -> bool:
        """Whether it was taken just now, and the path is still the same."""
        is_young = monotonic_ns() - self._taken < _SECOND // 200
        return is_young and self._key[0] == tuple(sys.path)

    def is_same_as(self, earlier: ImportState) -> bool:
        """Whether an answer of an earlier state is still right."""
        return self is earlier or self._key == earlier._key


_latest: ImportState | None = None


def import_state() -> ImportState:
    """Return what an import depends on now."""
    global _latest
    if _latest is None or not _latest.is_fresh():
        _latest = ImportState()
    return _latest


def forget_import_state() -> None:
    """Have the next look-up read the times of the folders anew."""
    global _latest
    _latest = None


_metadata: ModuleType | None = None
_genuine: dict[str, Any] = {}
_entry_points: tuple[ImportState, tuple[EntryPoint, ...]] | None = None
_missing: tuple[ImportState, set[str]] | None = None


def _is_genuine(module: ModuleType, name: str, function: Any) -> bool:
    """Whether a function is the one that its module came with."""
    if function is _genuine.get(name):
        return True
    inside = getattr(function, "__globals__", None)
    if inside is not vars(module) or getattr(function, "__name__", None) != name:
        return False
    _genuine[name] = function
    return True


def list_entry_points() -> tuple[EntryPoint, ...]:
    """List the entry points of installed modules."""
    global _entry_points, _metadata
    if _metadata is None:
        from importlib import metadata  # late: it costs more than the rest of the loader

        _metadata = metadata
    listing: Any = _metadata.entry_points
    is_genuine = _is_genuine(_metadata, "entry_points", listing)
    state = import_state()
    if is_genuine and _entry_points is not None and state.is_same_as(_entry_points[0]):
        return _entry_points[1]
    try:
        found: tuple[EntryPoint, ...] = tuple(listing(group=GROUP))
    except Exception:
        # Broken metadata of some distribution must not hide the modules found by name.
        logger.warning("cannot list the entry points of group `%s`", GROUP, exc_info=True)
        return ()
    if is_genuine and state.is_settled():
        _entry_points = (state, found)
    return found


def _is_incomplete(module: ModuleType) -> bool:
    """Whether a module is being imported, perhaps by another thread."""
    return getattr(getattr(module, "__spec__", None), "_initializing", False)


def import_package(name: str) -> ModuleType | None:
    """Import a package; None if no package has that name, or only a module of ours is known by it."""
    global _missing
    is_genuine = _is_genuine(importlib, "import_module", importlib.import_module)
    module = None if is_second_name(name) else sys.modules.get(name)
    if is_genuine and module is not None and not _is_incomplete(module):
        return module
    state = import_state()
    known = _missing if _missing is not None and state.is_same_as(_missing[0]) else None
    if is_genuine and known is not None and name in known[1]:
        return None
    forget_second_name(name)
    try:
        module = importlib.import_module(name)
        if not is_second_name(name):
            return module
    except ModuleNotFoundError as error:
        # A package that exists but lacks something it needs names that other thing.
        absent = error.name
        if absent is None or not (name == absent or name.startswith(f"{absent}.")):
            raise
    if is_genuine and state.is_settled():
        _missing = known or (state, set())
        _missing[1].add(name)
    return None
