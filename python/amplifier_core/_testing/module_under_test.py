"""Which module a test run is about."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .._packages.package import FOLDER_PREFIX, find_package, packages_in

_TYPES = {
    "context": "context",
    "hook": "hook",
    "hooks": "hook",
    "loop": "orchestrator",
    "orchestrator": "orchestrator",
    "provider": "provider",
    "tool": "tool",
}
"""Words in the names of modules, and the types they mean."""


class ModuleUnderTest(NamedTuple):
    """A module that tests are about."""

    package: Path
    """Folder of the package."""
    module_type: str | None
    """Type of the module, taken from its name."""


def find_module(
    given: str | None, test_file: Path | None, folders: Iterable[Path]
) -> ModuleUnderTest | None:
    """Find the module that tests are about.

    Args:
        given: Path that the user named, of a package or of its parent folder.
        test_file: File of the test; a folder around it may be named for the module.
        folders: Folders to look for a package `amplifier_module_<type>_*` in.
    """
    if given is not None:
        return _find_module(Path(given).resolve())
    around = [] if test_file is None else list(test_file.resolve().parents)
    for folder in around:
        if folder.name.startswith(FOLDER_PREFIX):
            return _find_module(folder)
    for folder in folders:
        for package in packages_in(folder):
            if _type_of(package.name) is not None:
                return _find_module(package)
    return None


def _find_module(path: Path) -> ModuleUnderTest:
    package = path if path.is_file() else find_package(path.name.removeprefix(FOLDER_PREFIX), path)
    if package is None:
        package = path  # the tests tell that there is nothing
    return ModuleUnderTest(package, _type_of(package.name) or _type_of(path.name))


def _type_of(name: str) -> str | None:
    """The type in `amplifier-module-{type}-{name}` or `amplifier_module_{type}_{name}`."""
    words = name.replace("-", "_").split("_")
    if words[:2] != ["amplifier", "module"] or len(words) < 3:
        return None
    return _TYPES.get(words[2])
