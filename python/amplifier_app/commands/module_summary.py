"""What the source of a module says of it: its type and one line, read without importing it."""

from __future__ import annotations

import ast
import re
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import NamedTuple

from amplifier_core.known_modules import TYPE_TO_MOUNT_POINT, Kind, Source

_MAX_SOURCE_BYTES = 1 << 20
_OWN_NAME = re.compile(r"\A`?[\w.-]+`?: ")
"""A module may begin its docstring with its own name."""


class Summary(NamedTuple):
    """What a module says of itself."""

    kind: Kind | None
    """Its `__amplifier_module_type__`; None if it declares none."""
    line: str
    """The first line of its docstring; empty without one."""


def summary_of(source: Source) -> Summary:
    """Read the source of a module; what cannot be read says nothing."""
    file = _find_file(source.name.partition(":")[0].strip())
    try:
        if file is None or file.stat().st_size > _MAX_SOURCE_BYTES:
            return Summary(None, "")
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return Summary(None, "")
    text = (ast.get_docstring(tree) or "").strip().partition("\n")[0]
    return Summary(_declared_kind(tree), _OWN_NAME.sub("", text).rstrip("."))


def _find_file(name: str) -> Path | None:
    """The file of a module; no package on the way to it is imported."""
    path: list[str] | None = None
    spec: ModuleSpec | None = None
    prefix = ""
    for part in name.split("."):
        prefix = f"{prefix}.{part}" if prefix else part
        loaded = sys.modules.get(prefix)
        try:
            spec = loaded.__spec__ if loaded else PathFinder.find_spec(prefix, path)
        except (ImportError, ValueError, OSError):
            return None
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    origin = spec.origin if spec is not None else None
    return Path(origin) if origin and origin.endswith(".py") else None


def _declared_kind(tree: ast.Module) -> Kind | None:
    for statement in tree.body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id="__amplifier_module_type__")], value=ast.Constant(value=value)
            ):
                return next((kind for kind in TYPE_TO_MOUNT_POINT if kind == value), None)
            case _:
                pass
    return None
