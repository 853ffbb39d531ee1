"""Loading and mounting the modules that a mount plan names."""

from __future__ import annotations

import logging
from copy import deepcopy
from inspect import isawaitable
from typing import Any, Literal

from ._loading.load_report import Configured, FailureEvents, LoadFailure, begin_report, keep_report
from ._loading.occupants import (
    Occupants,
    is_unchanged,
    mounted_providers,
    rename_new_provider,
    restore_providers,
)
from ._module_error import module_failure_reason
from .error_messages import add_hint, failure_text, short_repr
from .error_messages import error_text as _safe_exception_str
from .events import MODULE_LOAD_FAILED, MODULE_ON_SESSION_READY_FAILED, SESSION_FORK
from .mount_plan import (
    MAIN_LABELS,
    MountPlanError,
    find_main_entry,
    find_store_entry,
    is_strict,
    listed_entries,
    plan_for_events,
)
from .mounting import MountedModules, listen_for_absences
from .session_capabilities import PROVIDER_BEFORE_LOAD, PROVIDER_LOAD_FAILURE

__all__ = ["MountPlanError", "_safe_exception_str", "_session_aenter", "initialize_session"]

logger = logging.getLogger(__name__)

_ALWAYS_REQUIRED = frozenset({"hooks-guard"})
"""Modules without which a session is less safe than its mount plan says."""
_NOT_INSTALLED = "Provider mount did not install a new provider instance"


async def initialize_session(
    config: dict[str, Any], coordinator: Any, session_id: str, parent_id: str | None
) -> None:
    """Load and mount a session's modules: loop, context, providers, tools, hooks.

    A session cannot begin without its loop and its context. Any other module that fails is
    skipped, logged and reported by the event `module:load_failed`; the session itself then judges
    whether it can begin. At the end the modules' own `on_session_ready` functions are called.

    Args:
        config: Mount plan.
        coordinator: Coordinator to mount on; its `loader` is used, or one is made.
        session_id: Id of the session.
        parent_id: Id of the session that this one is forked from.

    Raises:
        RuntimeError: The loop or the context failed, with the error as its cause, or the mount
            plan cannot be followed.
    """
    loader = coordinator.loader
    if loader is None:
        from .loader import ModuleLoader, make_session_loader

        loader = coordinator.loader = make_session_loader(coordinator, ModuleLoader)
    beginning = _Beginning(coordinator, loader, session_id, parent_id)
    # A module that is mounted may itself begin a session.
    heard_before = listen_for_absences(beginning.reasons)
    try:
        await beginning.mount_all(config)
    except BaseException:
        beginning.forget_ready_functions()
        raise
    finally:
        listen_for_absences(heard_before)
    queue = loader.get_on_session_ready_queue()
    if queue:
        await beginning.call_ready_functions(queue)
    loader.clear_on_session_ready_queue()
    if beginning.failures is not None:
        await beginning.failures.replay()
    if parent_id:
        payload = {"parent": parent_id, "session_id": session_id, **plan_for_events(config)}
        await coordinator.hooks.emit(SESSION_FORK, payload)


async def _session_aenter(session: Any) -> Any:
    """Initialize a session on entering `async with`, and return it.

    A session that cannot be initialized is cleaned up, as its `async with` is never left.
    """
    try:
        await session.initialize()
    except BaseException:
        await session.cleanup()
        raise
    return session


class _Beginning:
    """A session on its way to its first prompt."""

    def __init__(
        self, coordinator: Any, loader: Any, session_id: str, parent_id: str | None
    ) -> None:
        self.failures: FailureEvents | None = None
        self.reasons: list[str] = []
        """Why the module that is being mounted mounts nothing, in its own words."""
        self._coordinator = coordinator
        self._loader = loader
        self._ids = (session_id, parent_id)
        self._report_of_load = begin_report(coordinator)
        self._modules = MountedModules(coordinator)
        self._has_ready_functions = False
        self._plan: dict[str, Any] = {}

    async def mount_all(self, config: dict[str, Any]) -> None:
        """Mount every module of a plan in its order."""
        self._plan = config
        for name, label in MAIN_LABELS.items():
            try:
                entry = find_main_entry(config, name)
                with self._modules.noting(name, entry):
                    mount = await self._mount(entry)
            except Exception as error:
                message = f"Cannot initialize without {label}: {_safe_exception_str(error)}"
                raise RuntimeError(add_hint(message, error)) from error
            self._expect_ready(mount)
        if is_strict(config):
            # Late, as it needs Pydantic, and other sessions may not.
            from ._kernel.answer_mistakes import refuse_mistakes

            refuse_mistakes(self._coordinator.hooks)
        providers, tools, hooks = listed_entries(config)
        if len(providers) == 1:
            await self._mount_provider(providers[0])
        elif providers:
            await self._mount_list("providers", providers)
        if tools:
            await self._mount_list("tools", tools)
        for entry in hooks:
            await self._mount_optional("hook", entry)
        await self._mount_store()
        keep_report(self._coordinator, self._report_of_load)

    async def _mount_store(self) -> None:
        """Mount what stores the session: behind all that it stores, and required."""
        try:
            entry = find_store_entry(self._plan)
            if entry is None:
                return
            with self._modules.noting("store", entry):
                mount = await self._mount(entry)
        except Exception as error:
            message = f"Cannot initialize without store: {_safe_exception_str(error)}"
            raise RuntimeError(add_hint(message, error)) from error
        self._expect_ready(mount)

    async def _mount_list(self, slot: str, entries: list[dict[str, Any]]) -> None:
        """Mount the modules of a slot, and note what one replaces of another."""
        mounting = Occupants(self._coordinator, slot) if len(entries) > 1 else None
        for entry in entries:
            if slot == "providers":
                await self._mount_provider(entry)
            else:
                await self._mount_optional("tool", entry)
            if mounting is not None:
                self._report_of_load.replaced += (*mounting.replaced_by(entry["module"]),)

    async def call_ready_functions(self, queue: list[tuple[str, Any]]) -> None:
        """Call the `on_session_ready` of the modules."""
        for module_id, ready in queue:
            try:
                with self._modules.noting_more(module_id):
                    await ready(self._coordinator)
            except Exception as error:
                text = failure_text(error)
                logger.warning("`on_session_ready` of `%s` failed: %s", module_id, text)
                logger.debug("traceback of `%s`", module_id, exc_info=True)
                payload = {"module_id": module_id, "error": text}
                await self._emit(MODULE_ON_SESSION_READY_FAILED, payload)

    def forget_ready_functions(self) -> None:
        """Empty the queue, so that another attempt does not call them twice."""
        if self._has_ready_functions:
            self._loader.clear_on_session_ready_queue()

    async def _mount_provider(self, entry: dict[str, Any]) -> None:
        coordinator = self._coordinator
        instance_id = entry.get("instance_id")
        before = mounted_providers(coordinator).copy()
        try:
            plan_for_events = coordinator.get_capability(PROVIDER_BEFORE_LOAD)
            if plan_for_events is not None:
                await _call(plan_for_events, coordinator, deepcopy(entry))
            with self._modules.noting("provider", entry):
                mount = await self._mount(entry)
                if is_unchanged(coordinator, before):
                    raise ValueError("; ".join(self.reasons) or _NOT_INSTALLED)
                if instance_id:
                    await rename_new_provider(coordinator, entry["module"], instance_id, before)
        except BaseException as error:
            restore_providers(coordinator, before)
            if not isinstance(error, Exception):
                raise
            await self._report("provider", entry, error)
            plan_for_events = coordinator.get_capability(PROVIDER_LOAD_FAILURE)
            if plan_for_events is not None:
                await _call(plan_for_events, coordinator, deepcopy(entry), error)
        else:
            self._expect_ready(mount)

    async def _mount_optional(self, kind: Literal["tool", "hook"], entry: dict[str, Any]) -> None:
        try:
            with self._modules.noting(kind, entry):
                mount = await self._mount(entry)
        except Exception as error:  # noqa: BLE001 (a foreign module; reported)
            await self._report(kind, entry, error)
        else:
            self._expect_ready(mount)

    async def _mount(self, entry: dict[str, Any]) -> Any:
        """Load a module, mount it, and return the function that mounted it."""
        coordinator = self._coordinator
        if self.reasons:
            self.reasons.clear()
        config: Any = entry.get("config") or {}
        mount = await self._loader.load(
            entry["module"],
            config,
            source_hint=entry.get("source"),
            coordinator=coordinator,
        )
        settings = getattr(mount, "__amplifier_settings__", None)
        # A module that refuses unknown keys names them itself, beside what else is wrong.
        is_refusing = getattr(settings, "unknown_keys", "refuse") == "refuse"
        if settings is not None and not is_refusing:
            self._note_settings(entry["module"], config, settings)
        cleanup = await mount(coordinator)
        if cleanup:
            coordinator.register_cleanup(cleanup)
        if settings is not None and is_refusing:
            self._note_settings(entry["module"], config, settings)
        return mount

    def _note_settings(self, module_id: Any, config: Any, settings: Any) -> None:
        self._report_of_load.configured += (Configured(module_id, config, settings),)

    def _expect_ready(self, mount: Any) -> None:
        carried = getattr(mount, "__on_session_ready__", None)
        if carried is not None:
            self._has_ready_functions = True
            self._loader.enqueue_on_session_ready(*carried)

    async def _report(self, kind: str, entry: dict[str, Any], error: Exception) -> None:
        text, module_id = failure_text(error), _make_plain(entry["module"])
        is_required = bool(entry.get("required")) or module_id in _ALWAYS_REQUIRED
        failure = LoadFailure(kind, module_id, text, error, is_required)
        self._report_of_load.failures += (failure,)
        # Where it is an error, that says it.
        is_said = is_required or is_strict(self._plan)
        logger.log(logging.DEBUG if is_said else logging.WARNING, "%s", failure)
        logger.debug("traceback of '%s'", module_id, exc_info=error)
        payload: dict[str, Any] = {
            "module_type": kind,
            "module_id": module_id,
            "error": text,
            "reason_code": module_failure_reason(error),
        }
        if entry.get("instance_id"):
            payload["instance_id"] = _make_plain(entry["instance_id"])
        await self._emit(MODULE_LOAD_FAILED, payload)

    async def _emit(self, event: str, payload: dict[str, Any]) -> None:
        if self.failures is None:
            self.failures = FailureEvents(self._coordinator, *self._ids)
        await self.failures.emit(event, payload)


async def _call(function: Any, *arguments: Any) -> None:
    """Call a function that the application registered, plain or async."""
    called = function(*arguments)
    if isawaitable(called):
        await called


def _make_plain(value: Any) -> Any:
    """Return an id of a plan, as text if an event cannot carry it."""
    return value if isinstance(value, str | int) else short_repr(value)
