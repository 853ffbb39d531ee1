"""What is known about a module before it is loaded: its type, name and version."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._module_error import ModuleValidationError
from .._packages.package import FOLDER_PREFIX
from ..error_messages import short_repr
from ..known_modules import TYPE_TO_MOUNT_POINT, Kind

if TYPE_CHECKING:
    from ..models import ModuleInfo


def declared_kind(module_id: str, declared: Any) -> Kind | None:
    """Check the `__amplifier_module_type__` of a module; None if it declares none.

    Raises:
        ModuleValidationError: There is no such type.
    """
    if declared is None:
        return None
    if not isinstance(declared, str) or declared not in TYPE_TO_MOUNT_POINT:
        valid = list(TYPE_TO_MOUNT_POINT)
        message = (
            f"Module '{module_id}' has unknown type {short_repr(declared)}. Valid types: {valid}"
        )
        raise ModuleValidationError(message, reason_code="invalid_module_metadata")
    return declared


def describe(module_id: str, kind: Kind, version: str | None) -> ModuleInfo:
    """Describe a module by its id."""
    from ..models import ModuleInfo

    return ModuleInfo(
        id=module_id,
        name=module_id.replace("-", " ").title(),
        version=version or "1.0.0",
        type=kind,
        mount_point=TYPE_TO_MOUNT_POINT[kind],
        description=f"Module: {module_id}",
    )


def search_folders(search_paths: list[Path] | None) -> list[Path]:
    """Return the folders to search: the given ones, else those of `AMPLIFIER_MODULES`."""
    if search_paths is not None:
        return list(search_paths)
    listed = os.environ.get("AMPLIFIER_MODULES", "")
    return [Path(entry) for entry in listed.split(os.pathsep) if entry]


def list_modules(folder: Path) -> list[tuple[str, Path]]:
    """List the modules in a folder, by id: its folders `amplifier-module-<id>`."""
    if not folder.is_dir():
        return []
    return [
        (child.name.removeprefix(FOLDER_PREFIX), child)
        for child in sorted(folder.glob(f"{FOLDER_PREFIX}*"))
        if child.is_dir()
    ]


def project_version(folder: Path) -> str | None:
    """Read the version from a folder's `pyproject.toml`, None if it names none."""
    import tomllib

    try:
        project: Any = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
        version: object = project["version"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return version if isinstance(version, str) else None


def distribution_version(entry_point: Any) -> str | None:
    """Read the version of the distribution that an entry point came with, None if unknown."""
    version: object = getattr(getattr(entry_point, "dist", None), "version", None)
    return version if isinstance(version, str) else None
