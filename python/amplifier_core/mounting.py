"""What each module of a mount plan has put into its session: tools, providers, handlers; or why nothing."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from .handlers import count_registrations

_ATTRIBUTE = "_mounted_modules"
_reasons: ContextVar[list[str] | None] = ContextVar("amplifier_core_unmounted", default=None)

Kind: TypeAlias = Literal[
    "orchestrator", "context", "provider", "tool", "hook", "store", "inherited"
]


_NO_NAMES: frozenset[str] = frozenset()
_missing = object()


class MountedModule:
    """A module that mounted and registered nothing, or nothing but itself: a loop, a context.

    Every session keeps some, so this has no more slots than it needs. An empty set takes 216 bytes,
    a dict with one name 184, a pair in a tuple 104.
    """

    __slots__ = ("entry", "kind")

    kind: Kind
    entry: dict[str, Any]
    """Its entry in the mount plan; empty for what modules of a parent session have handed on."""
    tools: tuple[tuple[str, Any], ...] = ()
    providers: tuple[tuple[str, Any], ...] = ()
    handlers: tuple[int, ...] = ()
    """The serial numbers of its handlers."""
    capabilities: frozenset[str] = _NO_NAMES
    """The names that it added; noted of tools and hook modules."""

    def __init__(self, kind: Kind, entry: dict[str, Any]) -> None:
        """Describe a module that has mounted nothing."""
        self.kind: Kind = kind
        self.entry = entry


class _ModuleWithParts(MountedModule):
    """A module with the objects that were mounted and registered while it was."""

    __slots__ = ("capabilities", "handlers", "providers", "tools")

    def __init__(self, module: MountedModule, parts: _Parts) -> None:
        super().__init__(module.kind, module.entry)
        self.tools = module.tools + parts.tools
        self.providers = module.providers + parts.providers
        self.handlers = module.handlers + parts.handlers
        self.capabilities = (module.capabilities | parts.capabilities) or _NO_NAMES


@dataclass(slots=True)
class _Parts:
    """What was mounted and registered for a time."""

    tools: tuple[tuple[str, Any], ...] = ()
    providers: tuple[tuple[str, Any], ...] = ()
    handlers: tuple[int, ...] = ()
    capabilities: frozenset[str] = _NO_NAMES

    def added_to(self, module: MountedModule) -> MountedModule:
        """Return the module with these parts, or itself if there are none."""
        has_any = self.tools or self.providers or self.handlers or self.capabilities
        return _ModuleWithParts(module, self) if has_any else module


class MountedModules:
    """The modules of one load, in the order in which they were mounted."""

    def __init__(self, coordinator: Any) -> None:
        """Begin the list of a coordinator, where `list_mounted_modules` finds it."""
        self._coordinator = coordinator
        self._modules: tuple[MountedModule, ...] = ()
        self._store(())

    @contextmanager
    def noting(self, kind: Kind, entry: dict[str, Any]) -> Generator[None]:
        """List a module with what is mounted meanwhile; one that fails is not listed."""
        module = MountedModule(kind, entry)
        with self._finding_parts(kind) as parts:
            yield
        self._store((*self._modules, parts.added_to(module)))

    @contextmanager
    def noting_more(self, module_id: Any) -> Generator[None]:
        """Add what is mounted meanwhile to a module, the last one of this id."""
        listed = (each for each in reversed(self._modules) if each.entry.get("module") == module_id)
        module = next(listed, None)
        if module is None:
            yield
            return
        with self._finding_parts(module.kind) as parts:
            yield
        changed = parts.added_to(module)
        self._store((*(changed if each is module else each for each in self._modules),))

    def _store(self, modules: tuple[MountedModule, ...]) -> None:
        self._modules = modules
        # A stand-in may take no attributes.
        with suppress(AttributeError):
            setattr(self._coordinator, _ATTRIBUTE, modules)

    @contextmanager
    def _finding_parts(self, kind: Kind) -> Generator[_Parts]:
        coordinator = self._coordinator
        has_capabilities = kind in {"tool", "hook"}
        tools, providers = (
            list_mounted(coordinator, "tools"),
            list_mounted(coordinator, "providers"),
        )
        capabilities = _list_capabilities(coordinator) if has_capabilities else _NO_NAMES
        begun = count_registrations(coordinator.hooks)
        parts = _Parts()
        yield parts
        parts.tools = _list_new(list_mounted(coordinator, "tools"), tools)
        parts.providers = _list_new(list_mounted(coordinator, "providers"), providers)
        parts.handlers = (*range(begun, count_registrations(coordinator.hooks)),)
        if has_capabilities:
            parts.capabilities = _list_capabilities(coordinator) - capabilities


def list_mounted_modules(coordinator: Any) -> tuple[MountedModule, ...]:
    """Return the modules that were mounted when the session began."""
    modules: object = getattr(coordinator, _ATTRIBUTE, None)
    return cast("tuple[MountedModule, ...]", modules) if isinstance(modules, tuple) else ()


def note_inherited(coordinator: Any, handlers: Iterable[int], capabilities: Iterable[str]) -> None:
    """Note what modules of the parent session have handed on to a session that has begun."""
    if modules := list_mounted_modules(coordinator):
        parts = _Parts(handlers=tuple(handlers), capabilities=frozenset(capabilities))
        inherited = parts.added_to(MountedModule("inherited", {}))
        setattr(coordinator, _ATTRIBUTE, (*modules, inherited))


def list_mounted(coordinator: Any, slot: str) -> dict[str, Any]:
    """Return a copy of what is mounted by name in a slot; nothing for a stand-in."""
    points: object = getattr(coordinator, "mount_points", None)
    if not isinstance(points, dict):
        return {}
    mounted = cast("dict[str, Any]", points).get(slot)
    return dict(cast("dict[str, Any]", mounted)) if isinstance(mounted, dict) else {}


def explain_absence(reason: str) -> bool:
    """Say why a module mounts nothing; False if no session is mounting it, so nobody listens."""
    reasons = _reasons.get()
    if reasons is None:
        return False
    reasons.append(reason)
    return True


def is_mounting() -> bool:
    """Whether a session is mounting a module, and reports what fails."""
    return _reasons.get() is not None


def listen_for_absences(reasons: list[str] | None) -> list[str] | None:
    """Have modules that are mounted from now on say in this list why they mount nothing.

    Returns:
        The list that they said it in before; None if nobody listened.
    """
    before = _reasons.get()
    _reasons.set(reasons)
    return before


def _list_new(now: dict[str, Any], before: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return (*(each for each in now.items() if before.get(each[0], _missing) is not each[1]),)


def _list_capabilities(coordinator: Any) -> frozenset[str]:
    describe = getattr(coordinator, "to_dict", None)
    described: object = describe() if callable(describe) else None
    if not isinstance(described, dict):
        return _NO_NAMES
    return frozenset(cast("dict[str, list[str]]", described).get("capabilities", ()))
