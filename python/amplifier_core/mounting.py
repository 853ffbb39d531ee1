"""What each module of a mount plan has put into its session: tools, providers, handlers; or why nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, TypeAlias, cast

from .handlers import count_registrations

_ATTRIBUTE = "_mounted_modules"
_reasons: ContextVar[list[str] | None] = ContextVar("amplifier_core_unmounted", default=None)

Kind: TypeAlias = Literal[
    "orchestrator", "context", "provider", "tool", "hook", "store", "inherited"
]


_NO_NAMES: frozenset[str] = frozenset()
_OFFERING = frozenset({"tool", "hook"})
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

    def noting(self, kind: Kind, entry: dict[str, Any]) -> Noting:
        """List a module with what is mounted meanwhile; one that fails is not listed."""
        module = MountedModule(kind, entry)
        return Noting(
            self._coordinator,
            kind,
            lambda parts: self._store((*self._modules, parts.added_to(module))),
        )

    def noting_more(self, module_id: Any) -> AbstractContextManager[None]:
        """Add what is mounted meanwhile to a module, the last one of this id."""
        listed = (each for each in reversed(self._modules) if each.entry.get("module") == module_id)
        module = next(listed, None)
        return nullcontext() if module is None else self._noting_more(module)

    def _noting_more(self, module: MountedModule) -> Noting:
        def store(parts: _Parts) -> None:
            changed = parts.added_to(module)
            self._store((*(changed if each is module else each for each in self._modules),))

        return Noting(self._coordinator, module.kind, store)

    def _store(self, modules: tuple[MountedModule, ...]) -> None:
        self._modules = modules
        # A stand-in may take no attributes.
        with suppress(AttributeError):
            setattr(self._coordinator, _ATTRIBUTE, modules)


class Noting:
    """Finds what is mounted and registered in a block: `with noting: ...`."""

    __slots__ = (
        "_begun",
        "_capabilities",
        "_coordinator",
        "_kind",
        "_providers",
        "_store",
        "_tools",
    )

    def __init__(self, coordinator: Any, kind: Kind, store: Callable[[_Parts], None]) -> None:
        """Look at a coordinator; what is found is stored, unless the block raises."""
        self._coordinator = coordinator
        self._kind = kind
        self._store = store

    def __enter__(self) -> None:
        """Note what is there."""
        coordinator = self._coordinator
        self._tools, self._providers = _list_parts(coordinator)
        self._capabilities = self._list_capabilities()
        self._begun = count_registrations(coordinator.hooks)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Store what is new."""
        if error is not None:
            return
        coordinator = self._coordinator
        tools, providers = _list_parts(coordinator)
        self._store(
            _Parts(
                _list_new(tools, self._tools),
                _list_new(providers, self._providers),
                (*range(self._begun, count_registrations(coordinator.hooks)),),
                self._list_capabilities() - self._capabilities,
            )
        )

    def _list_capabilities(self) -> frozenset[str]:
        """List the capabilities; they are noted of tools and hook modules alone."""
        return _list_capabilities(self._coordinator) if self._kind in _OFFERING else _NO_NAMES


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
    return _copy_slot(getattr(coordinator, "mount_points", None), slot)


def _list_parts(coordinator: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return copies of the tools and of the providers that are mounted."""
    points = getattr(coordinator, "mount_points", None)
    return _copy_slot(points, "tools"), _copy_slot(points, "providers")


def _copy_slot(points: object, slot: str) -> dict[str, Any]:
    mounted: object = cast("Any", points).get(slot) if isinstance(points, dict) else None
    return {**cast("dict[str, Any]", mounted)} if isinstance(mounted, dict) else {}


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
    if not now:
        return ()
    return (*(each for each in now.items() if before.get(each[0], _missing) is not each[1]),)


def _list_capabilities(coordinator: Any) -> frozenset[str]:
    describe = getattr(coordinator, "to_dict", None)
    described: object = describe() if callable(describe) else None
    if not isinstance(described, dict):
        return _NO_NAMES
    return frozenset(cast("dict[str, list[str]]", described).get("capabilities", ()))
