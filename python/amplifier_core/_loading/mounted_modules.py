"""What each module of a mount plan has put into its session: tools, providers, handlers."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from .handled_events import registrations_so_far

_ATTRIBUTE = "_mounted_modules"

Kind: TypeAlias = Literal["orchestrator", "context", "provider", "tool", "hook", "inherited"]


@dataclass(eq=False)
class MountedModule:
    """A module, and the objects that were mounted and registered while it was."""

    kind: Kind
    entry: dict[str, Any]
    """Its entry in the mount plan; empty for what modules of a parent session have handed on."""
    tools: dict[str, Any] = field(default_factory=dict[str, Any])
    providers: dict[str, Any] = field(default_factory=dict[str, Any])
    handlers: set[int] = field(default_factory=set[int])
    """The serial numbers of its handlers."""
    capabilities: set[str] = field(default_factory=set[str])
    """The names that it added; noted of tools and hook modules."""


class MountedModules:
    """The modules of one load, in the order in which they were mounted."""

    def __init__(self, coordinator: Any) -> None:
        """Begin the list of a coordinator, where `mounted_modules` finds it."""
        self._coordinator = coordinator
        self._modules: list[MountedModule] = []
        try:
            setattr(coordinator, _ATTRIBUTE, self._modules)
        except AttributeError:  # a stand-in may take no attributes
            return

    @contextmanager
    def noting(self, kind: Kind, entry: dict[str, Any]) -> Generator[None]:
        """List a module with what is mounted meanwhile; one that fails is not listed."""
        module = MountedModule(kind, entry)
        with self._adding_to(module):
            yield
        self._modules.append(module)

    @contextmanager
    def noting_more(self, module_id: Any) -> Generator[None]:
        """Add what is mounted meanwhile to a module, the last one of this id."""
        listed = (each for each in reversed(self._modules) if each.entry.get("module") == module_id)
        module = next(listed, None)
        if module is None:
            yield
            return
        with self._adding_to(module):
            yield

    @contextmanager
    def _adding_to(self, module: MountedModule) -> Generator[None]:
        coordinator = self._coordinator
        has_capabilities = module.kind in {"tool", "hook"}
        tools, providers = mounted_in(coordinator, "tools"), mounted_in(coordinator, "providers")
        capabilities = _capabilities(coordinator) if has_capabilities else _NO_NAMES
        begun = registrations_so_far(coordinator.hooks)
        yield
        module.tools |= _new(mounted_in(coordinator, "tools"), tools)
        module.providers |= _new(mounted_in(coordinator, "providers"), providers)
        module.handlers.update(range(begun, registrations_so_far(coordinator.hooks)))
        if has_capabilities:
            module.capabilities |= _capabilities(coordinator) - capabilities


def mounted_modules(coordinator: Any) -> tuple[MountedModule, ...]:
    """Return the modules that were mounted when the session began."""
    modules: object = getattr(coordinator, _ATTRIBUTE, None)
    return tuple(cast("list[MountedModule]", modules)) if isinstance(modules, list) else ()


def note_inherited(coordinator: Any, handlers: Iterable[int], capabilities: Iterable[str]) -> None:
    """Note what modules of the parent session have handed on to a session that has begun."""
    modules: object = getattr(coordinator, _ATTRIBUTE, None)
    if isinstance(modules, list):
        inherited = MountedModule("inherited", {}, {}, {}, {*handlers}, {*capabilities})
        cast("list[MountedModule]", modules).append(inherited)


def mounted_in(coordinator: Any, slot: str) -> dict[str, Any]:
    """Return a copy of what is mounted by name in a slot; nothing for a stand-in."""
    points: object = getattr(coordinator, "mount_points", None)
    if not isinstance(points, dict):
        return {}
    mounted = cast("dict[str, Any]", points).get(slot)
    return dict(cast("dict[str, Any]", mounted)) if isinstance(mounted, dict) else {}


_NO_NAMES: frozenset[str] = frozenset()
_missing = object()


def _new(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in now.items() if before.get(name, _missing) is not one}


def _capabilities(coordinator: Any) -> frozenset[str]:
    describe = getattr(coordinator, "to_dict", None)
    described: object = describe() if callable(describe) else None
    if not isinstance(described, dict):
        return _NO_NAMES
    return frozenset(cast("dict[str, list[str]]", described).get("capabilities", ()))
