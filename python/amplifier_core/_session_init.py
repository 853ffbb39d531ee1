"""Loading and mounting the modules that a mount plan names."""

from __future__ import annotations

import logging
from collections import Counter
from copy import deepcopy
from inspect import isawaitable
from typing import Any, cast

from ._kernel.import_failure import error_text as _safe_exception_str
from ._kernel.import_failure import failure_text, hinted
from ._kernel.shown import shown
from ._loading.failure_replay import FailureEvents
from ._loading.provider_slots import (
    is_unchanged,
    mounted_providers,
    rename_new_provider,
    restore_providers,
)
from ._module_error import module_failure_reason
from .events import MODULE_LOAD_FAILED, MODULE_ON_SESSION_READY_FAILED, SESSION_FORK

__all__ = ["MountPlanError", "_safe_exception_str", "_session_aenter", "initialize_session"]

logger = logging.getLogger(__name__)

_REQUIRED = (
    ("orchestrator", "loop-basic", "orchestrator"),
    ("context", "context-simple", "context manager"),
)
"""What no session does without: its slot, the module taken when none is named, and its words."""


class MountPlanError(RuntimeError, ValueError):
    """A mount plan that cannot be followed."""


async def initialize_session(
    config: dict[str, Any], coordinator: Any, session_id: str, parent_id: str | None
) -> None:
    """Load and mount a session's modules: loop, context, providers, tools, hooks.

    Without its loop or its context a session cannot begin. Any other module that fails is left
    out: it is logged and told by the event `module:load_failed`. At the end the modules' own
    `on_session_ready` functions are called.

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
        from .loader import ModuleLoader

        loader = coordinator.loader = ModuleLoader(coordinator=coordinator)
    beginning = _Beginning(coordinator, loader, session_id, parent_id)
    try:
        await beginning.mount_all(config)
    except BaseException:
        beginning.forget_ready_functions()
        raise
    queue = loader.get_on_session_ready_queue()
    if queue:
        await beginning.call_ready_functions(queue)
    loader.clear_on_session_ready_queue()
    if beginning.failures is not None:
        await beginning.failures.replay()
    if parent_id:
        await coordinator.hooks.emit(SESSION_FORK, _fork(config, session_id, parent_id))


async def _session_aenter(session: Any) -> Any:
    """Initialize a session on entering `async with`, and give it.

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
        self._coordinator = coordinator
        self._loader = loader
        self._ids = (session_id, parent_id)
        self._has_ready_functions = False

    async def mount_all(self, config: dict[str, Any]) -> None:
        """Mount every module of a plan in its order."""
        for name, default, words in _REQUIRED:
            try:
                mount = await self._mount(_required_entry(config, name, default))
            except Exception as error:
                message = f"Cannot initialize without {words}: {_safe_exception_str(error)}"
                raise RuntimeError(hinted(message, error)) from error
            self._expect_ready(mount)
        providers = _entries(config, "providers")
        tools = _entries(config, "tools")
        hooks = _entries(config, "hooks")
        if len(providers) > 1:
            _check_instances(providers)
        for entry in providers:
            await self._mount_provider(entry)
        for entry in tools:
            await self._mount_optional("tool", entry)
        for entry in hooks:
            await self._mount_optional("hook", entry)

    async def call_ready_functions(self, queue: list[tuple[str, Any]]) -> None:
        """Tell the modules that all of them are mounted."""
        for module_id, ready in queue:
            try:
                await ready(self._coordinator)
            except Exception as error:
                logger.warning("`on_session_ready` of `%s` failed", module_id, exc_info=True)
                payload = {"module_id": module_id, "error": failure_text(error)}
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
            announced = coordinator.get_capability("provider.before_load")
            if announced is not None:
                await _call(announced, coordinator, deepcopy(entry))
            mount = await self._mount(entry)
            if is_unchanged(coordinator, before):
                raise ValueError("Provider mount did not install a new provider instance")
            if instance_id:
                await rename_new_provider(coordinator, entry["module"], instance_id, before)
        except BaseException as error:
            restore_providers(coordinator, before)
            if not isinstance(error, Exception):
                raise
            await self._report("provider", entry, error)
            announced = coordinator.get_capability("provider.load_failure")
            if announced is not None:
                await _call(announced, coordinator, deepcopy(entry), error)
        else:
            self._expect_ready(mount)

    async def _mount_optional(self, kind: str, entry: dict[str, Any]) -> None:
        try:
            mount = await self._mount(entry)
        except Exception as error:  # noqa: BLE001 (a foreign module; reported)
            await self._report(kind, entry, error)
        else:
            self._expect_ready(mount)

    async def _mount(self, entry: dict[str, Any]) -> Any:
        """Load a module, mount it, and give the function that mounted it."""
        coordinator = self._coordinator
        mount = await self._loader.load(
            entry["module"],
            entry.get("config") or {},
            source_hint=entry.get("source"),
            coordinator=coordinator,
        )
        cleanup = await mount(coordinator)
        if cleanup:
            coordinator.register_cleanup(cleanup)
        return mount

    def _expect_ready(self, mount: Any) -> None:
        carried = getattr(mount, "__on_session_ready__", None)
        if carried is not None:
            self._has_ready_functions = True
            self._loader.enqueue_on_session_ready(*carried)

    async def _report(self, kind: str, entry: dict[str, Any], error: Exception) -> None:
        text, module_id = failure_text(error), _plain(entry["module"])
        logger.warning("Failed to load %s '%s': %s", kind, module_id, text, exc_info=error)
        payload: dict[str, Any] = {
            "module_type": kind,
            "module_id": module_id,
            "error": text,
            "reason_code": module_failure_reason(error),
        }
        if entry.get("instance_id"):
            payload["instance_id"] = _plain(entry["instance_id"])
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


def _required_entry(config: dict[str, Any], name: str, default: str) -> dict[str, Any]:
    """Give the entry of the loop or the context, which may be named by the id alone."""
    session: Any = config.get("session") or {}
    named = session.get(name)
    if isinstance(named, dict):
        entry = cast("dict[str, Any]", named)
        return entry if entry.get("module") else {**entry, "module": default}
    settings: Any = config.get(name) or {}
    source = session.get(f"{name}_source")
    return {"module": named or default, "source": source, "config": settings.get("config")}


def _entries(config: dict[str, Any], section: str) -> list[dict[str, Any]]:
    """Give the entries of a section of the mount plan that name a module."""
    listed: Any = config.get(section)
    if not listed:
        return []
    if not isinstance(listed, list | tuple):
        found = type(listed).__name__
        raise MountPlanError(f"`{section}` in the mount plan must be a list, found `{found}`")
    entries: list[dict[str, Any]] = []
    for position, entry in enumerate(cast("list[Any]", listed)):
        if isinstance(entry, str):
            entries.append({"module": entry})
        elif isinstance(entry, dict):
            if cast("dict[str, Any]", entry).get("module"):
                entries.append(cast("dict[str, Any]", entry))
        else:
            found = type(entry).__name__
            raise MountPlanError(
                f"`{section}[{position}]` in the mount plan must be a module id or a dict with "
                f"`module`, found `{found}`"
            )
    return entries


def _plain(value: Any) -> Any:
    """Give an id of a plan, in words if it is none that an event could carry."""
    return value if isinstance(value, str | int) else shown(value)


def _check_instances(providers: list[dict[str, Any]]) -> None:
    """Refuse two entries of one provider module that would have the same name."""
    unnamed = Counter(
        entry["module"]
        for entry in providers
        if not entry.get("instance_id") and isinstance(entry["module"], str)
    )
    for module_id, count in unnamed.items():
        if count > 1:
            raise MountPlanError(
                "Multi-instance providers require explicit 'instance_id' on all entries but one: "
                f"found {count} entries of module '{module_id}' without it"
            )


def _fork(config: dict[str, Any], session_id: str, parent_id: str) -> dict[str, Any]:
    """Make the payload that tells of a forked session."""
    payload: dict[str, Any] = {"parent": parent_id, "session_id": session_id}
    session: Any = config.get("session") or {}
    if session.get("metadata"):
        payload["metadata"] = session["metadata"]
    if session.get("raw"):
        from .utils.truncate import redact_secrets

        payload["raw"] = redact_secrets(config)
    return payload
