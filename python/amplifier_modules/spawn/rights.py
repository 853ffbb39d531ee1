"""What may be done in a session, and what a sub-agent of it gets of that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

from amplifier_core import session_capabilities
from amplifier_core.handlers import JUDGED_EVENTS
from amplifier_core.mounting import MountedModule, list_mounted, list_mounted_modules
from amplifier_modules.running.session_bound import is_session_bound

from ..spending.ledger import Ledger, running_ledger

_OF_APPLICATIONS = (
    session_capabilities.APPROVAL_POLICY,
    session_capabilities.BASH_AGREED_HOSTS,
    session_capabilities.GUARD_RATE_LIMITER,
    session_capabilities.GUARD_REDACTOR,
    session_capabilities.GUARD_TOOL_TIMEOUT,
    session_capabilities.HTTP_CLIENT,
    session_capabilities.PROJECT_CHANGES,
    session_capabilities.PROVIDER_BEFORE_LOAD,
    session_capabilities.PROVIDER_LOAD_FAILURE,
    session_capabilities.SESSION_ADDED_FOLDERS,
    session_capabilities.SESSION_STATE,
    session_capabilities.SESSION_WORKING_DIR,
    session_capabilities.STREAM_METRICS,
)
"""Capabilities for a session and all that it starts, whoever has registered them."""
_OWN = frozenset({"orchestrator", "context"})
"""Modules that every session has of its own."""
_OF_ONE_SESSION = frozenset(
    value for name, value in vars(session_capabilities).items() if name.isupper()
).difference(_OF_APPLICATIONS)
"""Capabilities that no other session may use, whatever module has registered them."""


class Handler(NamedTuple):
    """A handler of a session, as it was registered."""

    event: str | None
    """None for an observer of every event."""
    serial: int
    priority: int
    name: str
    function: Any
    fail_closed: bool
    timeout: float | None


@dataclass(frozen=True)
class Rights:
    """What may be done in a session at one moment: with which tools, judged and paid by whom.

    They are those of the objects that are mounted, whatever the mount plan says. A sub-agent gets
    a copy, which can only be narrowed.
    """

    tools: Mapping[str, Any]
    providers: Mapping[str, Any]
    handlers: tuple[Handler, ...]
    """What judges and observes, in the order of running."""
    approvals: Any
    """Who is asked; None for nobody."""
    display: Any
    """What shows messages to the user; may be None."""
    ledger: Ledger | None
    """The ledger of the turn that pays; None outside of a turn."""
    capabilities: Mapping[str, Any]
    """What is offered to sub-agents too, such as the folder that the session works in."""
    modules: tuple[MountedModule, ...]
    """The modules that the session began with."""

    @classmethod
    def of(cls, coordinator: Any) -> Rights:
        """Return the rights that the session of a coordinator has now."""
        modules = list_mounted_modules(coordinator)
        return cls(
            tools=list_mounted(coordinator, "tools"),
            providers=list_mounted(coordinator, "providers"),
            handlers=_list_handlers(coordinator.hooks),
            approvals=coordinator.approval_system,
            display=coordinator.display_system,
            ledger=running_ledger(),
            capabilities=_collect_capabilities(coordinator, modules),
            modules=modules,
        )

    def narrowed_to(self, tools: Iterable[str]) -> Rights:
        """Return the same rights with these tools alone; names that are not there are left out."""
        names = set(tools)
        return replace(
            self, tools={name: tool for name, tool in self.tools.items() if name in names}
        )

    def own_tools(self, module: MountedModule) -> set[str]:
        """Name the tools of a module that are still those that it mounted."""
        return {name for name, tool in module.tools if self.tools.get(name) is tool}

    def is_unchanged(self, provider: MountedModule) -> bool:
        """Whether all providers of a module are still those that it mounted."""
        return all(self.providers.get(name) is each for name, each in provider.providers)

    def bound_modules(self) -> list[MountedModule]:
        """Return the tools and hook modules that each session has of its own: a mark says so.

        One is left out where the program has taken away or replaced what it mounted: then that
        would come back.
        """
        listed = [each for each in self.modules if each.kind in {"tool", "hook"}]
        return [each for each in listed if self._is_bound(each)]

    def handed_on(self, remounted: Iterable[MountedModule]) -> list[Handler]:
        """Return the handlers that are called for the events of a sub-agent, too.

        They are the judges, and those of hook modules that only observe.

        Args:
            remounted: The modules that the sub-agent has of its own: theirs are not called twice.
        """
        own = {serial for each in remounted for serial in each.handlers}
        of_modules = {serial for each in self.modules for serial in each.handlers}
        return [
            each
            for each in self._shared_handlers()
            if each.serial not in own and (each.serial in of_modules or each.event in JUDGED_EVENTS)
        ]

    def list_judges(self) -> list[Handler]:
        """Return the handlers that judge sub-agents with modules of their own."""
        return [each for each in self._shared_handlers() if each.event in JUDGED_EVENTS]

    def _shared_handlers(self) -> Iterator[Handler]:
        """Yield the handlers that are not of this session alone."""
        own = {
            serial
            for each in self.modules
            if each.kind in _OWN or (each.kind == "provider" and self.is_unchanged(each))
            for serial in each.handlers
        }
        for each in self.handlers:
            if each.serial not in own and not is_session_bound(each.function):
                yield each

    def _is_bound(self, module: MountedModule) -> bool:
        if any(
            is_session_bound(tool) for name, tool in module.tools if self.tools.get(name) is tool
        ):
            return True
        registered = [each for each in self.handlers if each.serial in module.handlers]
        is_whole = len(registered) == len(module.handlers)
        return is_whole and any(is_session_bound(each.function) for each in registered)


def hand_on(handlers: Iterable[Handler], hooks: Any) -> None:
    """Register handlers with another registry, each in its place, and none a second time."""
    registered = [(each.event, each.function) for each in _list_handlers(hooks)]
    for each in handlers:
        if (each.event, each.function) in registered:
            continue
        if each.event is None:
            hooks.observe(each.function, each.name)
            continue
        hooks.register(
            each.event,
            each.function,
            each.priority,
            each.name,
            fail_closed=each.fail_closed,
            timeout=each.timeout,
        )


def _list_handlers(hooks: Any) -> tuple[Handler, ...]:
    # Asked of the class: a stand-in would answer any attribute of its own.
    listed: Any = getattr(cast(Any, type(hooks)), "_all_registrations", None)
    return () if listed is None else tuple(Handler(*each) for each in listed(hooks))


def _collect_capabilities(coordinator: Any, modules: Iterable[MountedModule]) -> dict[str, Any]:
    names = {*_OF_APPLICATIONS}
    for each in modules:
        names |= each.capabilities - _OF_ONE_SESSION
    found = {name: coordinator.get_capability(name) for name in names}
    return {name: value for name, value in found.items() if value is not None}
