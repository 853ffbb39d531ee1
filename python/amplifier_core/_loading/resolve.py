"""What kind of module a folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from .._packages.package import PREFIX, is_package, packages_in
from ..error_messages import error_text
from ..known_modules import TYPE_TO_MOUNT_POINT, guess_kind

_MANIFEST = "amplifier.toml"


def resolve_module(path: str) -> dict[str, str]:
    """Say what a folder holds; only Python packages are supported.

    Args:
        path: Folder of a package, or its parent folder.

    Returns:
        `transport` and `artifact_type`, both `python`; `module_type`, as `amplifier.toml` says or
        else as the package's name suggests; `package_name`.

    Raises:
        RuntimeError: There is no such folder, no package in it, or `amplifier.toml` asks
            for something that is not supported.
    """
    folder = Path(path)
    if not folder.exists():
        raise RuntimeError(f"module path does not exist: {path}")
    manifest = folder / _MANIFEST
    declared = _read_type(manifest) if manifest.is_file() else None
    package = _find_package(folder)
    if package is None:
        raise RuntimeError(
            f"could not detect module transport at {path}: expected a Python package, a folder "
            "with an `__init__.py`, here or one level below"
        )
    return {
        "transport": "python",
        "module_type": declared or guess_kind(package.name.removeprefix(PREFIX)),
        "artifact_type": "python",
        "package_name": package.name,
    }


def _read_type(manifest: Path) -> str:
    """The type that a manifest declares.

    Raises:
        RuntimeError: The manifest cannot be read, or asks for another transport.
    """
    import tomllib

    try:
        module: Any = tomllib.loads(manifest.read_text("utf-8")).get("module")
    except (OSError, ValueError) as error:
        raise RuntimeError(f"cannot read {manifest}: {error_text(error)}") from error
    section = cast("dict[str, object]", module) if isinstance(module, dict) else {}
    kind = section.get("type")
    if not isinstance(kind, str) or kind not in TYPE_TO_MOUNT_POINT:
        known = ", ".join(f"`{name}`" for name in TYPE_TO_MOUNT_POINT)
        raise RuntimeError(
            f"{manifest}: `type` in `[module]` must be one of {known}, found `{kind!r}`"
        )
    transport = section.get("transport", "python")
    if transport != "python":
        raise RuntimeError(
            f"{manifest} asks for transport `{transport}`: this package has `python` only"
        )
    return kind


def _find_package(folder: Path) -> Path | None:
    """The folder itself if it is a package, else the first package in it."""
    if is_package(folder):
        return folder
    return next(packages_in(folder, "*"), None) if folder.is_dir() else None
