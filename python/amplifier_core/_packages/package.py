"""The packages of modules: how they are named, where they are in a folder, how they are imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from .second_name import forget_second_name

PREFIX = "amplifier_module_"
"""Beginning of the names of packages."""

FOLDER_PREFIX = "amplifier-module-"
"""Beginning of the names of folders that hold such a package."""


def package_name(module_id: str) -> str:
    """Return the name of the package that holds a module: `amplifier_module_<id>`."""
    return f"{PREFIX}{module_id.replace('-', '_')}"


def id_of(name: str) -> str:
    """Return the id of the module that a package of this name holds."""
    return name.removeprefix(PREFIX).replace("_", "-")


def is_package(folder: Path) -> bool:
    """Whether a folder is a package."""
    return (folder / "__init__.py").is_file()


def packages_in(folder: Path, pattern: str = f"{PREFIX}*") -> Iterator[Path]:
    """List the packages in a folder whose names match a pattern, in alphabetical order."""
    return (child for child in sorted(folder.glob(pattern)) if is_package(child))


def find_package(module_id: str, path: Path) -> Path | None:
    """Find the package of a module: the folder itself, or the one inside that is named for it."""
    if is_package(path):
        return path
    named = path / package_name(module_id)
    if is_package(named):
        return named
    return next(packages_in(path), None) if path.is_dir() else None


def import_module_from_path(module_path: str | Path) -> ModuleType:
    """Import the package or file at a path, or the module of a dotted name.

    Args:
        module_path: Folder of a package, folder with a package `amplifier_module_*` in it, Python
            file, or dotted name of something importable.

    Raises:
        ImportError: There is nothing of the kind, or a module of that name is loaded from
            elsewhere.
        Exception: Whatever the module raises while it is imported.
    """
    path = Path(module_path)
    if not path.exists():
        return _import_by_name(str(module_path))
    path = path.resolve()
    if path.is_dir():
        package = find_package(path.name, path)
        if package is None:
            raise ImportError(f"no `__init__.py` in {path}", path=str(path))
        return import_from(*_find_outermost(package.parent, package.name), package / "__init__.py")
    if path.suffix != ".py":
        raise ImportError(f"{path} is neither a package nor a Python file", path=str(path))
    return import_from(*_find_outermost(path.parent, path.stem), path)


def _find_outermost(folder: Path, name: str) -> tuple[Path, str]:
    """The folder and the name from which a module can import relatively within its package."""
    while is_package(folder) and folder.name.isidentifier():
        folder, name = folder.parent, f"{folder.name}.{name}"
    return folder, name


def import_from(folder: Path, name: str, file: Path | None = None) -> ModuleType:
    """Import a module by name with a folder in front of `sys.path`.

    Args:
        folder: The folder it is in.
        name: Name of the module.
        file: File it has to come from; None for any.

    Raises:
        ImportError: It comes from another file.
    """
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        importlib.invalidate_caches()
        forget_second_name(name)
        module = importlib.import_module(name)
    finally:
        sys.path.remove(entry)
    origin = getattr(module, "__file__", None)
    if file is not None and (origin is None or Path(origin).resolve() != file.resolve()):
        raise ImportError(
            f"refusing to import `{name}` from {file}: it is loaded from {origin}", name=name
        )
    return module


def _import_by_name(name: str) -> ModuleType:
    if "/" in name or not all(part.isidentifier() for part in name.split(".")):
        raise ImportError(f"no file, folder or importable module `{name}`")
    return importlib.import_module(name)
