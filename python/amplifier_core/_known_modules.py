"""The ids of modules that could be loaded."""

from __future__ import annotations

from difflib import get_close_matches
from pkgutil import iter_modules

from ._installed import list_entry_points
from ._module_check import package_name


def own_modules() -> dict[str, str]:
    """Give the import paths of the modules that come with the kernel, by id."""
    try:
        from amplifier_modules import MODULES
    except ModuleNotFoundError:
        return {}
    return MODULES


def suggestion(module_id: str) -> str:
    """Name the known module that may be meant."""
    prefix = package_name("")
    known = {point.name for point in list_entry_points()}
    known.update(own_modules())
    known.update(
        found.name.removeprefix(prefix).replace("_", "-")
        for found in iter_modules()
        if found.name.startswith(prefix)
    )
    close = get_close_matches(str(module_id), sorted(known), n=3)
    return f"; did you mean {' or '.join(f'`{name}`' for name in close)}?" if close else ""
