"""The modules that are installed or in the searched folders."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .._packages.installed import import_package, list_entry_points
from ..error_messages import describe_failure
from ..known_modules import Kind, guess_kind
from .info import (
    declared_kind,
    describe,
    distribution_version,
    list_modules,
    project_version,
    search_folders,
)

if TYPE_CHECKING:
    from ..models import ModuleInfo

logger = logging.getLogger("amplifier_core.loader")

Locate = Callable[[str, Path], Path | None]
"""Gives the package of a module in its folder, ready to be imported by name."""


def discover(search_paths: list[Path] | None, locate: Locate) -> Iterator[ModuleInfo]:
    """List the installed modules, then those in folders.

    Args:
        search_paths: Folders to search; None for those of `AMPLIFIER_MODULES`.
        locate: Gives the package of a module.

    Raises:
        ModuleValidationError: A module declares a type that does not exist.
    """
    for point in list_entry_points():
        yield describe(point.name, guess_kind(point.name), distribution_version(point))
    for folder in search_folders(search_paths):
        if not folder.exists():
            logger.warning("Module path does not exist: %s", folder)
        for module_id, path in list_modules(folder):
            kind = _kind_in_source(module_id, locate(module_id, path)) or guess_kind(module_id)
            yield describe(module_id, kind, project_version(path))


def _kind_in_source(module_id: str, package: Path | None) -> Kind | None:
    """Import a discovered module and return the type that it declares."""
    if package is None:
        return None
    try:
        module = import_package(package.name)
    except Exception as error:  # noqa: BLE001 (a foreign import)
        logger.warning("cannot import module `%s`: %s", module_id, describe_failure(error))
        return None
    return declared_kind(module_id, getattr(module, "__amplifier_module_type__", None))
