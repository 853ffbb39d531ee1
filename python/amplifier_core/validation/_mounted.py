"""The check of what a module mounted, after its one real mount, and the way back."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, cast

from amplifier_core._loading.check import Check
from amplifier_core._module_error import ModuleValidationError
from amplifier_core.coordinator import ModuleCoordinator
from amplifier_core.known_modules import TYPE_TO_MOUNT_POINT, Kind

from ._validator import MountingValidator
from .base import ValidationResult
from .context import ContextValidator
from .orchestrator import OrchestratorValidator
from .provider import ProviderValidator
from .tool import ToolValidator

logger = logging.getLogger("amplifier_core.loader")

_VALIDATORS: dict[Kind, type[MountingValidator]] = {
    "orchestrator": OrchestratorValidator,
    "context": ContextValidator,
    "provider": ProviderValidator,
    "tool": ToolValidator,
}
"""Validators of what a type of module mounts; hooks and resolvers mount no such object."""

_MAY_STAY_EMPTY = ("orchestrator", "context")
"""A session says itself what it lacks when it is asked to run."""


class MountedCheck:
    """Mounts a module that came from a resolver, once, and checks what it mounted.

    Args:
        module_id: Id of the module.
        kind: What it is, which says where to look.
        checks: What was found of its package before.
    """

    def __init__(self, module_id: str, kind: Kind, checks: list[Check]) -> None:
        self._module_id = module_id
        self._kind: Kind = kind
        self._checks = checks

    async def mount(self, mount: Callable[[], Awaitable[Any]], coordinator: Any) -> Any:
        """Mount the module, and return what its `mount` returns.

        On a stand-in for a coordinator it is mounted without the check.

        Raises:
            ModuleValidationError: What it mounted does not fit its type; all of it is undone.
        """
        kind = _VALIDATORS.get(self._kind)
        before = None if kind is None else _Before.of(coordinator)
        returned = await mount()
        if kind is None or before is None:
            return returned
        result = self._judge(kind(), before.find_added(self._kind), returned)
        if result is None or result.passed:
            return returned
        await before.undo(returned)
        found = "; ".join(f"{check.name}: {check.message}" for check in result.errors)
        raise ModuleValidationError(
            f"Module '{self._module_id}' failed validation: {result.summary()}. Errors: {found}"
        )

    def _judge(
        self, validator: MountingValidator, find_added: Any, returned: Any
    ) -> ValidationResult | None:
        """What the validator finds; None where there need be nothing."""
        if find_added is None and self._kind in _MAY_STAY_EMPTY:
            return None
        result = ValidationResult(self._kind, self._module_id)
        for check in self._checks:
            result.note(*check)
        validator.inspect(result, find_added, returned)
        return result


class _Before:
    """What was mounted before a module.

    Capabilities are not among it: nothing takes them back.
    """

    def __init__(self, coordinator: Any, points: dict[str, Any]) -> None:
        self._coordinator = coordinator
        self._points = points
        self._mounted = {
            point: cast("dict[str, Any]", mounted).copy() if isinstance(mounted, dict) else mounted
            for point, mounted in points.items()
        }
        self._cleanups = len(self._cleanup_functions())
        self._handlers = self._handler_names()
        self._contributors = {
            channel: len(entries) for channel, entries in coordinator.channels.items()
        }

    @classmethod
    def of(cls, coordinator: Any) -> _Before | None:
        """Look at a coordinator; None if it is not one of the kernel's classes."""
        if not isinstance(coordinator, ModuleCoordinator):
            return None
        points: dict[str, Any] = coordinator.mount_points
        return cls(coordinator, points)

    def find_added(self, kind: Kind) -> Any:
        """What is mounted now at the place of a type and was not before."""
        point = TYPE_TO_MOUNT_POINT[kind]
        now, before = self._points.get(point), self._mounted.get(point)
        if isinstance(now, dict):
            known = cast("dict[str, Any]", before) if isinstance(before, dict) else {}
            objects = cast("dict[str, Any]", now)
            return {name: one for name, one in objects.items() if known.get(name) is not one}
        return None if now is before else now

    async def undo(self, returned: Any) -> None:
        """Call the clean-up functions of the module, and restore everything."""
        functions = self._cleanup_functions()
        find_added = functions[self._cleanups :]
        del functions[self._cleanups :]
        if callable(returned):
            find_added.append(returned)
        try:
            for function in reversed(find_added):
                await _clean_up(function)
        finally:
            self._restore()

    def _restore(self) -> None:
        for point, before in self._mounted.items():
            now = self._points.get(point)
            if isinstance(now, dict) and isinstance(before, dict):
                objects = cast("dict[str, Any]", now)
                if objects != before:
                    objects.clear()
                    objects.update(cast("dict[str, Any]", before))
            else:
                self._points[point] = before
        for name in self._handler_names() - self._handlers:
            self._coordinator.hooks.unregister(name)
        for channel, entries in self._coordinator.channels.items():
            del entries[self._contributors.get(channel, 0) :]

    def _cleanup_functions(self) -> list[Any]:
        return self._coordinator._cleanup_fns

    def _handler_names(self) -> set[str]:
        listed: dict[str, list[str]] = self._coordinator.hooks.list_handlers()
        return {name for names in listed.values() for name in names}


async def _clean_up(function: Any) -> None:
    if not callable(function):
        return
    try:
        done = function()
        if isawaitable(done):
            await done
    except Exception:
        logger.exception("a clean-up function of a module that is rolled back failed")
