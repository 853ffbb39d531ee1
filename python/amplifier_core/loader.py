"""Finding and importing the modules that a session is made of."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from . import module_sources
from ._loading import lookup
from ._loading.check import check_transport, judge_package
from ._loading.discovery import discover
from ._loading.module_attributes import Mount, Ready, carried_ready, declared_settings
from ._module_error import (
    MODULE_FAILURE_REASONS,
    ModuleDiscoveryError,
    ModuleValidationError,
    check_id,
    module_failure_reason,
    not_loadable,
)
from ._packages.installed import forget_import_state
from ._packages.package import find_package
from ._packages.search_path import add_entry, remove_entry
from .error_messages import describe_failure, error_text, short_repr
from .known_modules import TYPE_TO_MOUNT_POINT, Own, suggest_module
from .mounting import is_mounting
from .weak_link import link_weakly

if TYPE_CHECKING:
    from .models import ModuleInfo
    from .validation._mounted import MountedCheck

__all__ = [
    "MODULE_FAILURE_REASONS",
    "TYPE_TO_MOUNT_POINT",
    "ModuleLoader",
    "ModuleValidationError",
    "module_failure_reason",
]

logger = logging.getLogger(__name__)

_RESOLVER = TYPE_TO_MOUNT_POINT["resolver"]
_OWN = Own.TABLE

Closure: TypeAlias = Callable[[Any], Awaitable[Any]]
"""A module's `mount` with its configuration: what `load` returns."""


class ModuleLoader:
    """Finds modules by their ids and returns what mounts them.

    A resolver at the mount point `module-source-resolver` is asked first. Without one, or if it
    knows nothing of the module, the order is: an installed entry point, an importable package
    `amplifier_module_<id>`, a module that comes with the kernel. What the command mounts by itself
    always comes with the kernel.

    Args:
        coordinator: Coordinator whose resolver is asked; None to look among what is installed.
        search_paths: Folders that `discover` lists; None for those of `AMPLIFIER_MODULES`.
    """

    def __init__(self, coordinator: Any = None, search_paths: list[Path] | None = None) -> None:
        self._find_coordinator: Callable[[], Any] = lambda: coordinator
        self._search_paths = search_paths
        # Each session has a loader, and most need none of these.
        self._loaded_modules: dict[str, Mount] | None = None
        self._loaded_module_paths: dict[str, Path] | None = None
        self._ready_functions: dict[str, Ready] | None = None
        self._checks: dict[str, MountedCheck] | None = None
        self._added_paths: list[str] = []
        self._on_session_ready_queue: list[tuple[str, Ready]] = []
        self._failures: list[Exception] = []

    @property
    def _coordinator(self) -> Any:
        """The coordinator whose resolver is asked."""
        return self._find_coordinator()

    @property
    def ignores_sources(self) -> bool:
        """Whether nothing reads the `source` of an entry: no resolver is mounted."""
        return self._find_resolver() is None

    async def discover(self) -> list[ModuleInfo]:
        """List the installed modules and those in the folders that are searched.

        Raises:
            ModuleValidationError: A module declares a type that does not exist.
        """
        return list(discover(self._search_paths, self._locate))

    async def load(
        self,
        module_id: str,
        config: dict[str, Any] | None = None,
        source_hint: Any = None,
        coordinator: Any = None,
    ) -> Closure:
        """Find a module and return the function that mounts it.

        Args:
            module_id: Id of the module, such as `tool-search`.
            config: Configuration for the module's `mount`.
            source_hint: Where the mount plan says that the module is; for the resolver.
            coordinator: Coordinator that the module is for.

        Returns:
            A new `async mount(coordinator)`. If the module has an `on_session_ready`, it carries
            the attribute `__on_session_ready__ = (module_id, function)`; if it declares its
            settings, `__amplifier_settings__`.

        Raises:
            ValueError: The module was not found or cannot be imported; its `reason_code` says
                which of both.
            ModuleValidationError: What the resolver gave is not a module.
            ImportError: The resolver gave another folder than for an earlier load.
        """
        try:
            check_id(module_id)
            if source_hint is _OWN:
                own = lookup.only_our_own(module_id)
                return _make_closure(module_id, own.mount, config or {}, own.ready)
            mount = await self._find(module_id, source_hint, config, coordinator)
        except Exception as error:
            # A session that loads it reports the failure itself.
            level = logging.DEBUG if is_mounting() else logging.ERROR
            logger.log(
                level, "Failed to load module %s: %s", short_repr(module_id), error_text(error)
            )
            raise
        ready = self._ready_functions.get(module_id) if self._ready_functions else None
        ready = ready or carried_ready(module_id, mount)
        check = self._checks.get(module_id) if self._checks else None
        return _make_closure(module_id, mount, config or {}, ready, check)

    async def initialize(self, module: Closure, coordinator: Any) -> Any:
        """Mount a loaded module and return the result of its `mount`."""
        if not callable(module):
            raise TypeError(f"`module` must be what `load` returns, found `{short_repr(module)}`")
        try:
            return await module(coordinator)
        except Exception as error:
            logger.error("Failed to initialize module: %s", error_text(error))
            raise

    def cleanup(self) -> None:
        """Take the folders of this loader off `sys.path`, unless another loader needs them."""
        while self._added_paths:
            remove_entry(self._added_paths.pop())

    def get_on_session_ready_queue(self) -> list[tuple[str, Ready]]:
        """Return a copy of the queue of functions to call when the session is ready."""
        return list(self._on_session_ready_queue)

    def enqueue_on_session_ready(self, module_id: str, fn: Ready) -> None:
        """Add a function to call when the session is ready."""
        self._on_session_ready_queue.append((module_id, fn))

    def clear_on_session_ready_queue(self) -> None:
        """Empty the queue."""
        self._on_session_ready_queue.clear()

    async def _find(
        self, module_id: str, source_hint: Any, config: dict[str, Any] | None, coordinator: Any
    ) -> Mount:
        modules, paths = self._loaded_modules, self._loaded_module_paths
        mount = None if modules is None else modules.get(module_id)
        if mount is not None and (paths is None or module_id not in paths):
            return mount
        path: Path | None = None
        unresolved: Exception | None = None
        resolver = self._find_resolver()
        if resolver is not None:
            try:
                path = await self._resolved_folder(resolver, module_id, source_hint)
            except module_sources.ModuleNotFoundError as error:
                unresolved = error
        if mount is not None:
            self._check_same_source(module_id, path)
        elif path is not None:
            mount = await self._load_resolved(module_id, path, config, coordinator)
            self._loaded_module_paths = {**(self._loaded_module_paths or {}), module_id: path}
        else:
            mount = self._load_direct(module_id, unresolved)
        self._loaded_modules = {**(self._loaded_modules or {}), module_id: mount}
        return mount

    async def _resolved_folder(self, resolver: Any, module_id: str, hint: Any) -> Path:
        """Ask the mounted resolver for a module's folder."""
        hints = {"source_hint": hint, "profile_hint": hint}
        if hasattr(resolver, "async_resolve"):
            source = await resolver.async_resolve(module_id, **hints)
        else:
            source = resolver.resolve(module_id, **hints)
        path = Path(source.resolve())
        logger.debug("module `%s` resolved to %s", module_id, path)
        return path

    def _find_resolver(self) -> Any:
        coordinator = self._coordinator
        return None if coordinator is None else coordinator.get(_RESOLVER)

    def _check_same_source(self, module_id: str, path: Path | None) -> None:
        earlier = (self._loaded_module_paths or {})[module_id]
        if path != earlier:
            found = path or "what is installed"
            raise ImportError(
                f"Refusing to load '{module_id}' from {found}: it is already loaded from {earlier}"
            )

    async def _load_resolved(
        self, module_id: str, path: Path, config: dict[str, Any] | None, coordinator: Any
    ) -> Mount:
        """Import a module from the folder that the resolver gave, and from nowhere else."""
        self._add_path(path)
        if coordinator is not None:
            check_transport(module_id, path)
        package = await self._validate_module(module_id, path, config=config)
        self._add_path(package.parent)
        mount = self._load_filesystem(module_id, package.name)
        if mount is None:
            words = f"Module '{module_id}' found at {path} but failed to load"
            raise not_loadable(words, self._take_failures())
        return mount

    def _load_direct(self, module_id: str, unresolved: Exception | None = None) -> Mount:
        """Look for a module among what is installed, then among our own.

        What is there but broken is never replaced by a module of ours of the same id.
        """
        self._failures = []
        mount = self._load_entry_point(module_id) or self._load_filesystem(module_id)
        if mount is None and not self._failures:
            mount = self._load_our_own(module_id)
        if mount is not None:
            return mount
        failures = self._take_failures()
        forget_import_state()  # the module may be installed right after the error
        if unresolved is not None and not failures:
            raise unresolved
        words = f"Module '{module_id}' not found via entry points or filesystem"
        if failures:
            raise not_loadable(words, failures)
        raise ModuleDiscoveryError(words, hint=suggest_module(module_id))

    def _load_entry_point(self, module_id: str) -> Mount | None:
        """Return the mount function of an installed entry point; None if no such entry point works."""
        try:
            return self._remember(module_id, lookup.from_entry_point(module_id))
        except Exception as error:
            level = logging.DEBUG if is_mounting() else logging.ERROR
            logger.log(level, "Could not load '%s' via entry point", module_id, exc_info=True)
            self._failures.append(error)
            return None

    def _load_filesystem(self, module_id: str, module_name: str | None = None) -> Mount | None:
        """Return the mount function of an importable package; None if no such package works."""
        try:
            return self._remember(module_id, lookup.from_package(module_id, module_name))
        except Exception as error:  # noqa: BLE001 (a foreign import; reported with the load)
            reason = describe_failure(error)
            logger.debug("Could not load '%s' from filesystem: %s", module_id, reason)
            self._failures.append(error)
            return None

    def _load_our_own(self, module_id: str) -> Mount | None:
        """Return the mount function of a module of our own; None if there is no such module."""
        try:
            return self._remember(module_id, lookup.from_our_own(module_id))
        except Exception as error:  # noqa: BLE001 (reported with the load)
            self._failures.append(error)
            return None

    def _remember(self, module_id: str, found: lookup.Found | None) -> Mount | None:
        """Keep a module's `on_session_ready` and return its mount function."""
        if found is None:
            return None
        if found.ready is not None:
            self._ready_functions = {**(self._ready_functions or {}), module_id: found.ready}
        return found.mount

    async def _validate_module(
        self, module_id: str, module_path: Path, config: dict[str, Any] | None = None
    ) -> Path:
        """Check a module without mounting it, and return the folder of its package.

        Args:
            module_id: Id of the module.
            module_path: Folder that the resolver gave.
            config: Configuration of the module; nothing that is checked depends on it.

        Raises:
            ModuleValidationError: It is not a module; the text names each check that failed.
        """
        from .validation._mounted import MountedCheck  # late: only modules of resolvers need it

        located = self._locate(module_id, module_path)
        kind, package, checks = judge_package(module_id, module_path, located)
        self._checks = {**(self._checks or {}), module_id: MountedCheck(module_id, kind, checks)}
        return package

    def _find_package_dir(self, module_id: str, module_path: Path) -> Path | None:
        return find_package(module_id, module_path)

    def _locate(self, module_id: str, path: Path) -> Path | None:
        """Return the package of a module, with its folder on the path."""
        package = self._find_package_dir(module_id, path)
        if package is not None:
            self._add_path(package.parent)
        return package

    def _add_path(self, path: Path) -> None:
        entry = str(path)
        if entry not in self._added_paths and add_entry(entry):
            self._added_paths.append(entry)

    def _take_failures(self) -> list[Exception]:
        failures, self._failures = self._failures, []
        return failures


def make_session_loader(coordinator: Any, make_loader: Callable[..., ModuleLoader]) -> ModuleLoader:
    """Make the loader of a session, which the coordinator keeps, and not the other way round.

    Args:
        coordinator: The coordinator.
        make_loader: The class, as the caller finds it by its name, which programs may replace.
    """
    loader = make_loader(coordinator=coordinator)
    if type(loader) is ModuleLoader:
        loader._find_coordinator = link_weakly(coordinator)  # pyright: ignore[reportPrivateUsage] -- of the same file
    return loader


def _make_closure(
    module_id: str,
    mount: Mount,
    config: dict[str, Any],
    ready: Ready | None,
    check: MountedCheck | None = None,
) -> Closure:
    async def mount_module(coordinator: Any) -> Any:
        result = mount(coordinator, config)
        return await result if isawaitable(result) else result

    closure: Any = mount_module if check is None else _check_mounted(mount_module, check)
    settings = declared_settings(mount)
    if settings is not None:
        closure.__amplifier_settings__ = settings
    if ready is not None:
        closure.__on_session_ready__ = (module_id, ready)
    return closure


def _check_mounted(mount: Closure, check: MountedCheck) -> Closure:
    async def mount_module(coordinator: Any) -> Any:
        return await check.mount(partial(mount, coordinator), coordinator)

    return mount_module
