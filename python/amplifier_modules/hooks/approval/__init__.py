"""`hooks-approval`: modes, rules and grants, which decide what a person is asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from amplifier_core import world
from amplifier_core.approval import find_approval_mistake
from amplifier_core.events import (
    APPROVAL_DENIED,
    APPROVAL_GRANTED,
    APPROVAL_REQUIRED,
    TOOL_PRE,
)
from amplifier_core.models import HookResult
from amplifier_core.session_capabilities import (
    APPROVAL_POLICY,
    APPROVAL_REGISTER_PROVIDER,
    GUARD_REDACTOR,
    SESSION_JOURNAL,
    SESSION_WORKING_DIR,
)
from amplifier_core.weak_link import link_weakly
from amplifier_modules.loops.boundary.call_approval import APPROVAL_TIMEOUT
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.tiers import find_tier
from amplifier_providers.settings import read_settings

from .approval_record import ApprovalRecord, make_record
from .audit import AuditLog
from .modes import MODES, Mode
from .policy import ApprovalPolicy
from .rule_set import load_rules
from .settings import ApprovalSettings

__amplifier_module_type__ = "hook"
__amplifier_settings__ = ApprovalSettings

__all__ = ["MODES", "ApprovalPolicy", "ApprovalRecord", "ApprovalSettings", "Mode", "mount"]

NAME = "hooks-approval"
LATE = 999_000
"""The priority of its handler: it judges what other hooks have left; `hooks-guard` comes after it."""


class Approvals:
    """The handlers of one session."""

    def __init__(self, coordinator: Any, policy: ApprovalPolicy, log: AuditLog | None) -> None:
        """Judge by a policy, and write what happens into a log."""
        self._find_coordinator = link_weakly(coordinator)
        self._policy = policy
        self._log = log

    def register(self) -> Callable[[], None]:
        """Register the handlers; call what is returned to unregister them."""
        hooks = self._find_coordinator().hooks
        registered = [
            hooks.register(TOOL_PRE, self.judge_call, priority=LATE, name=NAME, fail_closed=True)
        ]
        if self._log is not None:
            events = (APPROVAL_REQUIRED, APPROVAL_GRANTED, APPROVAL_DENIED, APPROVAL_TIMEOUT)
            registered += [
                hooks.register(event, self.note_event, priority=LATE, name=f"{NAME}-log")
                for event in events
            ]

        def unregister() -> None:
            for each in registered:
                each()

        return unregister

    async def judge_call(self, _: str, data: dict[str, Any]) -> HookResult | None:
        """Judge a tool call as the hooks before have left it."""
        result, effect = await self._policy.judge(data)
        if result is not None and result.action == "deny" and self._log is not None:
            fields = {
                "session_id": data.get("session_id"),
                "tool": data.get("tool_name"),
                "arguments": data.get("tool_input"),
                "effect": effect,
                "reason": result.reason,
            }
            await self._log.add("approval:refused", fields)
        return result

    async def note_event(self, event: str, data: dict[str, Any]) -> None:
        """Write a question or its answer into the log."""
        if self._log is None:
            return
        if event == APPROVAL_REQUIRED:
            await self._log.add(event, self._record(data).describe())
            return
        names = ("question_id", "session_id", "grant", "reason")
        fields = {name: data[name] for name in names if data.get(name) is not None}
        await self._log.add(event, {**fields, "tool": data.get("tool_name")})

    def _record(self, data: Mapping[str, Any]) -> ApprovalRecord:
        coordinator = self._find_coordinator()
        journal: Any = coordinator.get_capability(SESSION_JOURNAL)
        return make_record(
            data,
            session_id=str(getattr(coordinator, "session_id", "") or ""),
            epoch=getattr(journal, "epoch", 1),
            now=world.time(),
        )


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Mount the approvals.

    Args:
        coordinator: The coordinator of the session.
        config: See `ApprovalSettings`.

    Returns:
        A callable that unregisters its handlers.

    Raises:
        SettingError: A key is unknown, or a value cannot be used.
    """
    settings = read_settings(ApprovalSettings, config, NAME)
    working = Path(coordinator.get_capability(SESSION_WORKING_DIR) or ".")
    project = await anyio.to_thread.run_sync(_find_project, working, settings.root)
    usual = await anyio.to_thread.run_sync(_find_usual_mode)
    policy = ApprovalPolicy(
        coordinator,
        project,
        await anyio.to_thread.run_sync(load_rules, settings, project),
        settings.mode or usual,
        usual=usual,
        seconds=settings.timeout,
        user_settings=settings.user_settings,
        around=coordinator.get_capability(APPROVAL_POLICY),
        goes_on_in_mode=settings.goes_on_in_mode,
    )
    log = None
    if settings.audit_log is not None:
        log = AuditLog(settings.audit_log, partial(_redact, link_weakly(coordinator)))
    coordinator.register_capability(APPROVAL_POLICY, policy)
    coordinator.register_capability(
        APPROVAL_REGISTER_PROVIDER, partial(_register_provider, link_weakly(coordinator))
    )
    await policy.offer_plan_tool()
    return Approvals(coordinator, policy, log).register()


def _find_project(working: Path, root: Path | None) -> Path:
    """Return the root of the project, links followed."""
    return (working if root is None else working / root.expanduser()).resolve()


def _find_usual_mode() -> Mode:
    """Return the mode where nobody chose one: commands in namespaces can harm only the project."""
    return "auto" if find_tier().tier is Tier.NAMESPACES else "ask"


def _register_provider(find_coordinator: Callable[[], Any], provider: Any) -> None:
    """Have a provider asked from now on, in the place of whoever was.

    Raises:
        TypeError: It cannot be asked.
    """
    if mistake := find_approval_mistake(provider):
        raise TypeError(mistake)
    find_coordinator().approval_system = provider


def _redact(find_coordinator: Callable[[], Any], data: Any) -> Any:
    """Remove the secrets of an application, and what looks like one."""
    from amplifier_guard import Redactor

    redactor: Any = find_coordinator().get_capability(GUARD_REDACTOR) or Redactor()
    return redactor.redact_data(data)
