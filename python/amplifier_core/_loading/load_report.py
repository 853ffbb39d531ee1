"""What happened while modules were mounted: for the review of the plan, and for hooks that load later."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from ..handlers import count_registrations
from .handled_events import strange_handlers

_ATTRIBUTE = "_load_report"


@dataclass(frozen=True)
class LoadFailure:
    """A module that was left out."""

    kind: str
    module_id: Any
    text: str
    """What went wrong, in one line."""
    error: Exception
    is_required: bool
    """Whether the session cannot begin without it."""

    def __str__(self) -> str:
        """Name the module and what went wrong."""
        return f"Failed to load {self.kind} '{self.module_id}': {self.text}"


class Configured(NamedTuple):
    """A module with its config and the settings that it declares."""

    module_id: Any
    config: Any
    settings: Any
    """The model that the module names by `__amplifier_settings__`."""


class LoadReport:
    """The modules of one load; most loads have nothing to report."""

    earlier_handlers: frozenset[tuple[str, int]] = frozenset()
    """Handlers of unknown events that no module has registered, by event and serial number."""
    failures: tuple[LoadFailure, ...] = ()
    configured: tuple[Configured, ...] = ()
    """The modules whose configs can be compared with their settings."""
    replaced: tuple[str, ...] = ()
    """What one spec mounted in the place of another."""

    def __bool__(self) -> bool:
        """Whether there is anything to review."""
        return bool(self.failures or self.configured or self.replaced)


_NOTHING = LoadReport()


def begin_report(coordinator: Any) -> LoadReport:
    """Begin the report of a load; the review of the mount plan finds it with the coordinator."""
    report = LoadReport()
    if count_registrations(coordinator.hooks):
        report.earlier_handlers = strange_handlers(coordinator.hooks)
    try:
        coordinator._load_report = report
    except AttributeError:  # a stand-in may take no attributes
        return report
    return report


def keep_report(coordinator: Any, report: LoadReport) -> None:
    """Keep the report of a load that has ended; that of nothing is one for all sessions."""
    if not (report or report.earlier_handlers):
        with suppress(AttributeError):
            coordinator._load_report = _NOTHING


def take_report(coordinator: Any) -> LoadReport | None:
    """Return the report of the last load, once; None if there was none."""
    report = getattr(coordinator, _ATTRIBUTE, None)
    if not isinstance(report, LoadReport):
        return None
    setattr(coordinator, _ATTRIBUTE, None)
    return report


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
