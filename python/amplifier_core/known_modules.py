"""The modules that could be loaded by id: of which type they are, and where each would be taken from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal, TypeAlias

from ._packages.installed import EntryPoint, list_entry_points
from ._packages.package import PREFIX, id_of, package_name
from ._packages.second_name import SecondName, forget_second_name

Kind: TypeAlias = Literal["orchestrator", "provider", "tool", "context", "hook", "resolver"]
"""What a module is mounted as."""

TYPE_TO_MOUNT_POINT: dict[Kind, str] = {
    "orchestrator": "orchestrator",
    "provider": "providers",
    "tool": "tools",
    "hook": "hooks",
    "context": "context",
    "resolver": "module-source-resolver",
}
"""Where modules of each type are mounted."""

_HINTS: tuple[tuple[str, Kind], ...] = (
    ("orchestrat", "orchestrator"),
    ("loop", "orchestrator"),
    ("provider", "provider"),
    ("tool", "tool"),
    ("hook", "hook"),
    ("context", "context"),
)


def guess_kind(module_id: str) -> Kind:
    """Guess the type of a module from its id; a tool if the id does not say."""
    for hint, kind in _HINTS:
        if hint in module_id:
            return kind
    return "tool"


Origin: TypeAlias = Literal["entry point", "package", "our own"]
"""How a module is found."""


class Own(StrEnum):
    """The `source` of a mount plan's entry that only our own table may answer.

    No file can say so: a text is not a member of this class.
    """

    TABLE = "amplifier_modules"


@dataclass(frozen=True)
class Source:
    """One place that a module of some id could be taken from."""

    origin: Origin
    name: str
    """What is imported."""
    place: str
    """The distribution that it came with, or its folder; may be empty."""


def list_own_modules() -> dict[str, str]:
    """Return the import paths of the modules that come with the kernel, by id."""
    try:
        from amplifier_modules import MODULES
    except ModuleNotFoundError:
        return {}
    return MODULES


def list_own_packages() -> dict[str, str]:
    """Return the import paths of modules of ours by the package names that others know them by."""
    try:
        from amplifier_modules import PACKAGES
    except ModuleNotFoundError:
        return {}
    return PACKAGES


def list_own_events() -> frozenset[str]:
    """Return the events that the modules that come with the kernel emit beside the kernel's."""
    try:
        from amplifier_modules import EVENTS
    except ModuleNotFoundError:
        return frozenset()
    return EVENTS


def list_known_sources() -> dict[str, list[Source]]:
    """List what can be found without a resolver, by id; of several sources the first is taken.

    Nothing is imported, so a module that is listed may still fail to load.
    """
    points = list_entry_points()
    packages = _list_packages()
    own = list_own_modules()
    ids = {point.name for point in points} | own.keys()
    ids.update(map(id_of, packages))
    found: dict[str, list[Source]] = {}
    for module_id in sorted(ids):
        sources = [_of_entry_point(point) for point in points if point.name == module_id]
        package = package_name(module_id)
        if package in packages:
            sources.append(Source("package", package, packages[package]))
        if module_id in own:
            sources.append(Source("our own", own[module_id], ""))
        found[module_id] = sources
    return found


def list_other_sources(module_id: str) -> list[Source]:
    """List what else has the id of a module of our own; nothing is imported."""
    found = [_of_entry_point(point) for point in list_entry_points() if point.name == module_id]
    name = package_name(module_id)
    forget_second_name(name)
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):  # a finder failed, or a module without a spec is loaded
        spec = None
    if spec is not None and not isinstance(spec.loader, SecondName):
        place = str(Path(spec.origin).parent) if spec.origin else ""
        found.append(Source("package", name, place))
    return found


_NEARLY = 0.1
"""How much less like what was written a name may be than the most similar one."""


def suggest_module(module_id: str) -> str | None:
    """Name the known modules that may be meant; None if none is similar."""
    from difflib import SequenceMatcher, get_close_matches  # late: few programs have a mistake

    def measure_likeness(name: str) -> float:
        return SequenceMatcher(None, name, str(module_id)).ratio()

    close = get_close_matches(str(module_id), list(list_known_sources()), n=3)
    # Ids of one kind begin alike: where one is meant clearly, the others are none of it.
    close = [
        name for name in close if measure_likeness(name) > measure_likeness(close[0]) - _NEARLY
    ]
    return f"did you mean {' or '.join(f'`{name}`' for name in close)}?" if close else None


def _list_packages() -> dict[str, str]:
    """The folders of the importable packages that are named like modules."""
    packages: dict[str, str] = {}
    for found in iter_modules():
        if found.name.startswith(PREFIX):
            folder: object = getattr(found.module_finder, "path", "")
            packages.setdefault(found.name, str(Path(str(folder)).resolve()))
    return packages


def _of_entry_point(point: EntryPoint) -> Source:
    distribution: Any = getattr(point, "dist", None)
    name, version = (getattr(distribution, each, None) for each in ("name", "version"))
    place = f"{name} {version}" if isinstance(name, str) else ""
    return Source("entry point", str(getattr(point, "value", point.name)), place)
