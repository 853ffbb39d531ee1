"""What each module of a mount plan has put into its session: tools, providers, handlers."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast

from .handled_events import registrations_so_far

_ATTRIBUTE = "_mounted_modules"

Kind: TypeAlias = Literal["orchestrator", "context", "provider", "tool", "hook", "inherited"]


_NOTHING: Mapping[str, Any] = MappingProxyType({})
_NO_NAMES: frozenset[str] = frozenset()
_missing = object()


class MountedModule:
    """A module, and the objects that were mounted and registered while it was."""

    # Slots, and no containers of their own where nothing is in them: every session keeps some.
    __slots__ = ("capabilities", "entry", "handlers", "kind", "providers", "tools")

    kind: Kind
    entry: dict[str, Any]
    """Its entry in the mount plan; empty for what modules of a parent session have handed on."""
    tools: Mapping[str, Any]
    providers: Mapping[str, Any]
    handlers: frozenset[int]
    """The serial numbers of its handlers."""
    capabilities: frozenset[str]
    """The names that it added; noted of tools and hook modules."""

    def __init__(
        self,
        kind: Kind,
        entry: dict[str, Any],
        handlers: Iterable[int] = (),
        capabilities: Iterable[str] = (),
    ) -> None:
        """Describe a module that has mounted nothing yet."""
        self.kind = kind
        self.entry = entry
        self.tools = self.providers = _NOTHING
        self.handlers = frozenset(handlers)
        self.capabilities = frozenset(capabilities)


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
        if new := _new(mounted_in(coordinator, "tools"), tools):
            module.tools = {**module.tools, **new}
        if new := _new(mounted_in(coordinator, "providers"), providers):
            module.providers = {**module.providers, **new}
        module.handlers |= frozenset(range(begun, registrations_so_far(coordinator.hooks)))
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
        inherited = MountedModule("inherited", {}, handlers, capabilities)
        cast("list[MountedModule]", modules).append(inherited)


def mounted_in(coordinator: Any, slot: str) -> dict[str, Any]:
    """Return a copy of what is mounted by name in a slot; nothing for a stand-in."""
    points: object = getattr(coordinator, "mount_points", None)
    if not isinstance(points, dict):
        return {}
    mounted = cast("dict[str, Any]", points).get(slot)
    return dict(cast("dict[str, Any]", mounted)) if isinstance(mounted, dict) else {}


def _new(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in now.items() if before.get(name, _missing) is not one}


def _capabilities(coordinator: Any) -> frozenset[str]:
    describe = getattr(coordinator, "to_dict", None)
    described: object = describe() if callable(describe) else None
    if not isinstance(described, dict):
        return _NO_NAMES
    return frozenset(cast("dict[str, list[str]]", described).get("capabilities", ()))
