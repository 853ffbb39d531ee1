"""The import path of the command: our packages come from beside this one, nothing from a stray colon."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib.machinery import PathFinder

PACKAGES = (
    "amplifier_agent",
    "amplifier_core",
    "amplifier_guard",
    "amplifier_modules",
    "amplifier_providers",
    "amplifier_serve",
    "amplifier_stream",
)
"""What the command imports that is ours."""


def secure_import_path() -> list[str]:
    """Take what must not be imported off the path, before anything is imported.

    An empty entry of `PYTHONPATH` (`:` at an end of it is enough) means the current folder, which
    holds somebody else's files. Where another folder has one of our packages, ours comes first.

    Returns:
        What was done, a line each; empty as a rule.
    """
    lines: list[str] = []
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if len(entries) > 1 and "" in entries and not sys.flags.ignore_environment:
        with suppress(FileNotFoundError):  # a folder that is gone has nothing to import
            here = os.getcwd()
            named = {os.path.abspath(entry) for entry in entries if entry}
            if here in sys.path and here not in named:
                sys.path[:] = [entry for entry in sys.path if entry != here]
                lines.append("`PYTHONPATH` has an empty entry, the current folder: it is ignored")
    # Without `pathlib`, which takes a tenth of the time of `--help`.
    folder = _find_parent(__file__)
    for name in PACKAGES:
        spec = PathFinder.find_spec(name)
        origin = spec.origin if spec is not None else None
        if origin is not None and _find_parent(origin) != folder:
            sys.path.insert(0, folder)
            place = os.path.dirname(os.path.dirname(origin))
            lines.append(f"`{name}` in {place} is ignored: it is not our own")
            break
    return lines


def _find_parent(path: str) -> str:
    """Return the folder of the package of a file."""
    return os.path.dirname(os.path.dirname(os.path.realpath(path)))
