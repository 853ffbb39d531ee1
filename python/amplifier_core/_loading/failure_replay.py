"""Events about failed modules, repeated for hooks that load after the failure."""

from __future__ import annotations

from typing import Any, cast


class FailureEvents:
    """Emits failures while a session begins, and repeats them for handlers that came later.

    Hook modules load last: without this, their handlers would miss every failed provider and
    tool.
    """

    def __init__(self, coordinator: Any, session_id: str, parent_id: str | None) -> None:
        self._hooks = coordinator.hooks
        self._defaults = {"session_id": session_id, "parent_id": parent_id}
        self._emitted: list[tuple[str, dict[str, Any], set[int]]] = []

    async def emit(self, event: str, payload: dict[str, Any]) -> None:
        """Emit an event, and remember who could hear it."""
        heard = {serial for serial, *_ in self._registrations(event)}
        self._emitted.append((event, payload, heard))
        await self._hooks.emit(event, payload)

    async def replay(self) -> None:
        """Emit each event once more, to the handlers that did not exist at the time."""
        for event, payload, heard in self._emitted:
            late = [entry for entry in self._registrations(event) if entry[0] not in heard]
            if not late:
                continue
            # A registry of its own, so that the kernel's rules for handlers hold here as well.
            hooks = type(self._hooks)()
            hooks.set_default_fields(**self._defaults)
            for _, name, handler, fail_closed, timeout in late:
                hooks.register(event, handler, name=name, fail_closed=fail_closed, timeout=timeout)
            await hooks.emit(event, payload)

    def _registrations(self, event: str) -> list[tuple[int, str, Any, bool, float | None]]:
        # Asked of the class: a stand-in would answer any attribute of its own.
        listed: Any = getattr(cast(Any, type(self._hooks)), "_registrations", None)
        return [] if listed is None else listed(self._hooks, event)
