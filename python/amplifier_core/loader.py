"""Finding and importing the modules that a session is made of."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _module_info as info
from . import module_sources
from ._import_failure import describe_failure, error_text
from ._installed import forget_import_state, import_package, list_entry_points
from ._known_modules import own_modules, suggestion
from ._module_check import (
    check_package,
    check_transport,
    find_package,
    is_async,
    package_name,
    summarize,
)
from ._module_error import (
    MODULE_FAILURE_REASONS,
    ModuleDiscoveryError,
    ModuleValidationError,
    module_failure_reason,
)
from ._module_info import TYPE_TO_MOUNT_POINT
from ._search_path import add_entry, remove_entry

if TYPE_CHECKING:
    from .models import ModuleInfo

__all__ = [
    "MODULE_FAILURE_REASONS",
    "TYPE_TO_MOUNT_POINT",
    "ModuleLoader",
    "ModuleValidationError",
    "module_failure_reason",
]

logger = logging.getLogger(__name__)

Mount: TypeAlias = Callable[..., Any]
"""A module's own `mount(coordinator, config)`."""

Closure: TypeAlias = Callable[[Any], Awaitable[Any]]
"""A module's `mount` with its configuration: what `load` gives."""

Ready: TypeAlias = Callable[[Any], Awaitable[None]]
"""A module's `on_session_ready(coordinator)`."""


class ModuleLoader:
    """Finds modules by their ids and gives what mounts them.

    A resolver at the mount point `module-source-resolver` is asked first. Without one, or if it
    knows nothing of the module, the order is: an installed entry point, an importable package
    `amplifier_module_<id>`, a module that comes with the kernel.

    Args:
        coordinator: Coordinator whose resolver is asked; None to look among what is installed.
        search_paths: Folders that `discover` lists; None for those of `AMPLIFIER_MODULES`.
    """

    def __init__(self, coordinator: Any = None, search_paths: list[Path] | None = None) -> None:
        self._coordinator = coordinator
        self._search_paths = search_paths
        self._loaded_modules: dict[str, Mount] = {}
        self._loaded_module_paths: dict[str, Path] = {}
        self._added_paths: list[str] = []
        self._on_session_ready_queue: list[tuple[str, Ready]] = []
        self._failures: list[Exception] = []

    async def discover(self) -> list[ModuleInfo]:
        """List the installed modules and those in the folders that are searched.

        Raises:
            ModuleValidationError: A module declares a type that does not exist.
        """
        found = [
            info.describe(
                entry_point.name,
                info.guess_kind(entry_point.name),
                info.distribution_version(entry_point),
            )
            for entry_point in list_entry_points()
        ]
        for folder in info.search_folders(self._search_paths):
            for module_id, path in info.list_modules(folder):
                kind = self._declared_kind(module_id, path) or info.guess_kind(module_id)
                found.append(info.describe(module_id, kind, info.project_version(path)))
        return found

    async def load(
        self,
        module_id: str,
        config: dict[str, Any] | None = None,
        source_hint: Any = None,
        coordinator: Any = None,
    ) -> Closure:
        """Find a module and give the function that mounts it.

        Args:
            module_id: Id of the module, such as `tool-search`.
            config: Configuration for the module's `mount`.
            source_hint: Where the mount plan says that the module is; for the resolver.
            coordinator: Coordinator that the module is for.

        Returns:
            A new `async mount(coordinator)`. If the module has an `on_session_ready`, it carries
            the attribute `__on_session_ready__ = (module_id, function)`.

        Raises:
            ValueError: The module was not found or cannot be imported; its `reason_code` says
                which of both.
            ModuleValidationError: What the resolver gave is not a module.
            ImportError: The resolver gave another folder than for an earlier load.
        """
        try:
            _check_id(module_id)
            mount = await self._find(module_id, source_hint, config, coordinator)
        except Exception as error:
            logger.error("Failed to load module '%s': %s", module_id, error_text(error))
            raise
        return _closure(module_id, mount, config or {})

    async def initialize(self, module: Closure, coordinator: Any) -> Any:
        """Mount a module that was loaded, and give what its `mount` returns."""
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
        """Give a copy of the queue of functions to call when the session is ready."""
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
        mount = self._loaded_modules.get(module_id)
        if mount is not None and module_id not in self._loaded_module_paths:
            return mount
        path: Path | None = None
        unresolved: Exception | None = None
        try:
            path = await self._resolve(module_id, source_hint)
        except module_sources.ModuleNotFoundError as error:
            unresolved = error
        if mount is not None:
            self._check_same_source(module_id, path)
        elif path is not None:
            mount = await self._load_resolved(module_id, path, config, coordinator)
            self._loaded_module_paths[module_id] = path
        else:
            mount = self._load_direct(module_id, unresolved)
        self._loaded_modules[module_id] = mount
        return mount

    async def _resolve(self, module_id: str, source_hint: Any) -> Path | None:
        """Ask the resolver for a module's folder; None if there is no resolver."""
        if self._coordinator is None:
            return None
        resolver = self._coordinator.get(TYPE_TO_MOUNT_POINT["resolver"])
        if resolver is None:
            return None
        hints = {"source_hint": source_hint, "profile_hint": source_hint}
        if hasattr(resolver, "async_resolve"):
            source = await resolver.async_resolve(module_id, **hints)
        else:
            source = resolver.resolve(module_id, **hints)
        path = Path(source.resolve())
        logger.debug("module `%s` resolved to %s", module_id, path)
        return path

    def _check_same_source(self, module_id: str, path: Path | None) -> None:
        earlier = self._loaded_module_paths[module_id]
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
            failures = self._take_failures()
            message = f"Module '{module_id}' found at {path} but failed to load{_told(failures)}"
            error = ModuleDiscoveryError(message, reason_code="invalid_entry_point")
            raise error from (failures[-1] if failures else None)
        return mount

    def _load_direct(self, module_id: str, unresolved: Exception | None = None) -> Mount:
        """Look for a module among what is installed, then among our own.

        What is there but broken is never replaced by a module of ours of the same id.
        """
        self._take_failures()
        mount = self._load_entry_point(module_id) or self._load_filesystem(module_id)
        if mount is None and not self._failures:
            mount = self._load_own(module_id)
        failures = self._take_failures()
        if mount is not None:
            return mount
        forget_import_state()  # whoever reads the error may install it at once
        if unresolved is not None and not failures:
            raise unresolved
        words = f"Module '{module_id}' not found via entry points or filesystem"
        if not failures:
            raise ModuleDiscoveryError(words + suggestion(module_id))
        error = ModuleDiscoveryError(words + _told(failures), reason_code="invalid_entry_point")
        raise error from failures[-1]

    def _load_entry_point(self, module_id: str) -> Mount | None:
        """Give the mount function of an installed entry point, None if there is none that works."""
        named = [point for point in list_entry_points() if point.name == module_id]
        if not named:
            return None
        if len(named) > 1:
            logger.debug("module `%s` has %d entry points; the first counts", module_id, len(named))
        point = named[0]
        try:
            mount = point.load()
            if not callable(mount):
                mount = mount.mount
        except Exception as error:
            logger.exception("Could not load '%s' via entry point", module_id)
            self._failures.append(error)
            return None
        logger.debug("module `%s` taken from its entry point %r", module_id, point)
        module = sys.modules.get(_module_name(point, mount))
        return self._with_ready(module_id, mount, getattr(module, "on_session_ready", None))

    def _load_filesystem(self, module_id: str, module_name: str | None = None) -> Mount | None:
        """Give the mount function of an importable package, None if there is none that works."""
        name = module_name or package_name(module_id)
        try:
            package = import_package(name)
            if package is None:
                return None
            mount = package.mount
            if not callable(mount):
                raise TypeError(f"`mount` of `{name}` is not callable, found `{mount!r}`")
        except Exception as error:  # noqa: BLE001 (a foreign import; told with the load)
            logger.debug(
                "Could not load '%s' from filesystem: %s", module_id, describe_failure(error)
            )
            self._failures.append(error)
            return None
        logger.debug("module `%s` taken from package `%s`", module_id, name)
        return self._with_ready(module_id, mount, getattr(package, "on_session_ready", None))

    def _load_own(self, module_id: str) -> Mount | None:
        """Give the mount function of a module that comes with the kernel."""
        name = own_modules().get(module_id)
        if name is None:
            return None
        try:
            module = importlib.import_module(name)
            mount = module.mount
        except Exception as error:  # noqa: BLE001 (a foreign import; told with the load)
            self._failures.append(error)
            return None
        logger.debug("module `%s` taken from our own `%s`", module_id, name)
        return self._with_ready(module_id, mount, getattr(module, "on_session_ready", None))

    def _with_ready(self, module_id: str, mount: Mount, ready: Any) -> Mount:
        """Have a mount function carry the function to call when the session is ready."""
        if ready is None:
            return mount
        if not is_async(ready):
            logger.warning(
                "`on_session_ready` of module `%s` is skipped: it is sync and must be async",
                module_id,
            )
            return mount
        try:
            mount.__on_session_ready__ = (module_id, ready)  # pyright: ignore[reportFunctionMemberAccess]
        except AttributeError:  # bound methods take no attributes
            mount = partial(mount)
            mount.__on_session_ready__ = (module_id, ready)  # pyright: ignore[reportAttributeAccessIssue]
        return mount

    async def _validate_module(
        self, module_id: str, module_path: Path, config: dict[str, Any] | None = None
    ) -> Path:
        """Check a module without mounting it, and give the folder of its package.

        Args:
            module_id: Id of the module.
            module_path: Folder that the resolver gave.
            config: Configuration of the module; nothing that is checked depends on it.

        Raises:
            ModuleValidationError: It is not a module; the text tells each check that failed.
        """
        package = self._find_package_dir(module_id, module_path)
        if package is None:
            is_there = module_path.exists()  # noqa: ASYNC240 (imports block as well)
            raise ModuleValidationError(
                f"Module '{module_id}' has no valid Python package at {module_path}",
                reason_code="invalid_package_layout" if is_there else "missing_source",
            )
        self._add_path(package.parent)
        checks = check_package(package)
        if not all(check.passed for check in checks):
            broken = {check.name for check in checks if not check.passed}
            raise ModuleValidationError(
                f"Module '{module_id}' failed validation: {summarize(checks)}",
                reason_code="validation_failed"
                if "module_importable" in broken
                else "invalid_entry_point",
            )
        module = sys.modules[package.name]
        info.declared_kind(module_id, getattr(module, "__amplifier_module_type__", None))
        return package

    def _find_package_dir(self, module_id: str, module_path: Path) -> Path | None:
        return find_package(module_id, module_path)

    def _declared_kind(self, module_id: str, path: Path) -> info.Kind | None:
        """Import a module that was discovered, and give the type that it declares."""
        package = self._find_package_dir(module_id, path)
        if package is None:
            return None
        self._add_path(package.parent)
        try:
            module = import_package(package.name)
        except Exception as error:  # noqa: BLE001 (a foreign import)
            logger.warning("cannot import module `%s`: %s", module_id, describe_failure(error))
            return None
        return info.declared_kind(module_id, getattr(module, "__amplifier_module_type__", None))

    def _add_path(self, path: Path) -> None:
        entry = str(path)
        if entry not in self._added_paths and add_entry(entry):
            self._added_paths.append(entry)

    def _take_failures(self) -> list[Exception]:
        failures, self._failures = self._failures, []
        return failures


def _check_id(module_id: object) -> None:
    if not isinstance(module_id, str) or not module_id:
        raise ModuleDiscoveryError(
            f"Module '{module_id}' not found via entry points or filesystem: "
            f"a module id is a `str` that is not empty, found `{module_id!r}`"
        )


def _closure(module_id: str, mount: Mount, config: dict[str, Any]) -> Closure:
    async def mount_module(coordinator: Any) -> Any:
        result = mount(coordinator, config)
        return await result if isawaitable(result) else result

    carried = getattr(mount, "__on_session_ready__", None)
    if carried is not None:
        mount_module.__on_session_ready__ = (module_id, carried[1])  # pyright: ignore[reportFunctionMemberAccess]
    return mount_module


def _module_name(entry_point: Any, mount: Any) -> str:
    """Name of the module that an entry point leads to."""
    named: object = getattr(entry_point, "module", None)
    if isinstance(named, str) and named in sys.modules:
        return named
    return getattr(mount, "__module__", None) or ""


def _told(failures: list[Exception]) -> str:
    """Append what failed to an error's text."""
    return "".join(f"; {describe_failure(failure)}" for failure in failures).replace(";", ":", 1)
