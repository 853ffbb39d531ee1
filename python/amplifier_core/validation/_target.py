"""The mount function that a validation is about."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from amplifier_core._packages.installed import GROUP, list_entry_points
from amplifier_core._packages.package import import_from, import_module_from_path


def find_target(module_path: str | Path, entry_point: str | None) -> Any:
    """Import what is validated: something with `mount`, and maybe `on_session_ready`.

    Args:
        module_path: Path or dotted name, as for `import_module_from_path`.
        entry_point: Name of an entry point; the `pyproject.toml` of the path is looked at first,
            then what is installed. None for the module at the path itself.

    Raises:
        ImportError: There is nothing of the kind.
        Exception: Whatever the module raises while it is imported.
    """
    if entry_point is None:
        return import_module_from_path(module_path)
    declared, project = _declared_entry_points(Path(module_path))
    if project is not None and entry_point in declared:
        return _load(declared[entry_point], entry_point, project)
    installed = {point.name: point for point in list_entry_points()}
    if entry_point in installed:
        return _with_ready(installed[entry_point].load())
    known = ", ".join(f"`{name}`" for name in sorted({*declared, *installed})) or "none"
    raise ImportError(
        f"no entry point `{entry_point}` in group `{GROUP}`, neither in a `pyproject.toml` at "
        f"{module_path} nor installed (found: {known})"
    )


def _declared_entry_points(path: Path) -> tuple[dict[str, str], Path | None]:
    """The entry points that the project around a path declares, and the project's folder."""
    import tomllib

    resolved = path.resolve()
    for folder in (resolved, *list(resolved.parents)[:2]):
        file = folder / "pyproject.toml"
        if not file.is_file():
            continue
        try:
            project: Any = tomllib.loads(file.read_text("utf-8"))["project"]
            return dict(project["entry-points"][GROUP]), folder
        except (KeyError, TypeError):
            return {}, None
        except (OSError, ValueError) as error:
            raise ImportError(f"cannot read {file}: {error}") from error
    return {}, None


def _load(reference: object, name: str, project: Path) -> Any:
    """Import what an entry point of a project that is not installed refers to."""
    module_name, _, attributes = str(reference).partition(":")
    source = project / "src"
    folder = source if source.is_dir() else project
    value: Any = import_from(folder, module_name.strip())
    for attribute in filter(None, attributes.strip().split(".")):
        if not hasattr(value, attribute):
            raise ImportError(f"entry point `{name}`: `{module_name}` has no `{attribute}`")
        value = getattr(value, attribute)
    return _with_ready(value)


def _with_ready(loaded: Any) -> Any:
    """What an entry point gave; a mount function together with its module's other function."""
    if hasattr(loaded, "mount"):
        return loaded
    module = sys.modules.get(getattr(loaded, "__module__", None) or "")
    ready = getattr(module, "on_session_ready", None)
    return SimpleNamespace(mount=loaded, on_session_ready=ready)
