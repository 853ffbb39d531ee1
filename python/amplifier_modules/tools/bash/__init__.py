"""`tool-bash`: run commands in the project, at once or in the background."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from amplifier_core.session_capabilities import (
    APPROVAL_POLICY,
    BASH_AGREED_HOSTS,
    BASH_JOBS,
    BASH_KILL_JOB,
    GUARD_TOOL_TIMEOUT,
    OBSERVABILITY_EVENTS,
    SESSION_WORKING_DIR,
)
from amplifier_core.weak_link import link_weakly
from amplifier_modules.changes.mounting import mount_changes
from amplifier_modules.sandbox import runner as runners
from amplifier_modules.sandbox.command import AddedPlaces
from amplifier_modules.sandbox.environment import build_environment, find_caches
from amplifier_modules.sandbox.network_setting import Network
from amplifier_modules.sandbox.runner import Confinement
from amplifier_modules.sandbox.session_folder import SessionFolder
from amplifier_modules.sandbox.unconfined import UnconfinedRunner
from amplifier_modules.tools.added_folders import find_added_folders
from amplifier_modules.tools.agreed_secrets import look_up_agreed_secrets
from amplifier_providers.settings import read_settings

from .agreed_hosts import AgreedHosts
from .bash_tool import BashTool
from .command_session import CLOSE_SECONDS, CommandSession
from .edges import Edges
from .host_questions import HostQuestions
from .job import JOB_END, JOB_START, JobInfo
from .job_tool import JobTool
from .jobs import Jobs
from .kept_changes import KeptChanges
from .permission import Permission
from .settings import BashSettings

__amplifier_module_type__ = "tool"
__amplifier_settings__ = BashSettings

__all__ = ["BashSettings", "BashTool", "JobInfo", "JobTool", "mount"]

logger = logging.getLogger(__name__)


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount `bash` and `bash_job`, and register the capability `bash.jobs`.

    Args:
        coordinator: Where they are mounted.
        config: The keys of `BashSettings`.

    Raises:
        SettingError: A value cannot be used.
        OSError: The root does not exist, or the folder for temporary files cannot be made.
    """
    settings = read_settings(BashSettings, config, "tool-bash")
    working = Path(coordinator.get_capability(SESSION_WORKING_DIR) or ".")
    root = working / settings.root.expanduser()
    project, folder = await anyio.to_thread.run_sync(_open_folders, root)
    changes = mount_changes(coordinator) if settings.keep_changes else None
    caches = find_caches(project)
    find_coordinator = link_weakly(coordinator)
    added = find_added_folders(coordinator)
    jobs = Jobs(settings.max_jobs, partial(_emit, find_coordinator))
    hosts = _ask_about_hosts(coordinator, settings, jobs)
    network: Network = settings.reachable
    if network == () and hosts is None:
        network = "off"
    confinement = Confinement(
        project,
        folder.path,
        folder.temporary,
        caches,
        settings.profile,
        network,
        look_up_agreed_secrets(coordinator).paths,
        None if hosts is None else hosts.decide,
        AddedPlaces(
            lambda: added.paths, lambda: added.paths if _may_change(find_coordinator) else ()
        ),
    )
    runner = await anyio.to_thread.run_sync(runners.open_runner, confinement)
    if not runner.reaches_hosts:
        network, hosts = "off", None
    permission = Permission(runner.tier, settings.profile, settings.allow)
    environment = build_environment(
        os.environ,
        folder.temporary,
        caches,
        added=settings.environment,
        passed=settings.pass_environment,
    )
    session = CommandSession(project, folder, environment, settings.max_output_bytes)
    find_limit = partial(_find_limit, find_coordinator)
    limits: dict[str, Any] = {"timeout": settings.timeout, "find_limit": find_limit}
    limits["max_bytes"] = settings.max_output_bytes
    edges = Edges(project, folder.path, network)
    kept = KeptChanges(runner, str(project), changes)
    bash = BashTool(
        session, jobs, permission, edges, runner, UnconfinedRunner(), kept, hosts, **limits
    )
    if permission.asks_always:
        _warn(coordinator)

    async def close() -> None:
        await session.close()
        await jobs.finish(CLOSE_SECONDS)
        await anyio.to_thread.run_sync(runner.close)

    coordinator.register_cleanup(close)
    coordinator.register_capability(BASH_JOBS, jobs.list_jobs)
    coordinator.register_capability(BASH_KILL_JOB, jobs.kill_job)
    coordinator.register_contributor(OBSERVABILITY_EVENTS, "tool-bash", _list_events)
    for tool in (bash, JobTool(jobs, **limits)):
        await coordinator.mount("tools", tool, name=tool.name)


def _ask_about_hosts(coordinator: Any, settings: BashSettings, jobs: Jobs) -> HostQuestions | None:
    """Return what asks about hosts; None where they are not reached by name, or nobody is there."""
    is_by_name = settings.profile == "project" and isinstance(settings.reachable, tuple)
    if not is_by_name or getattr(coordinator, "approval_system", None) is None:
        return None
    agreed = AgreedHosts(coordinator.get_capability(BASH_AGREED_HOSTS))
    coordinator.register_capability(BASH_AGREED_HOSTS, agreed)

    # By weak links: the proxy's thread has it, also of a session that is dropped.
    find_jobs = link_weakly(jobs)

    def list_commands() -> list[str]:
        listed: list[JobInfo] = [] if (known := find_jobs()) is None else known.list_jobs()
        return [each.command for each in listed if each.status == "running"]

    return HostQuestions(agreed, partial(_may_ask, link_weakly(coordinator)), list_commands)


def _may_ask(find_coordinator: Callable[[], Any]) -> bool:
    """Whether somebody can be asked, in a mode in which calls may do more than read."""
    coordinator = find_coordinator()
    if getattr(coordinator, "approval_system", None) is None:
        return False
    policy = coordinator.get_capability(APPROVAL_POLICY)
    return getattr(policy, "lets_change", True) is not False


def _may_change(find_coordinator: Callable[[], Any]) -> bool:
    """Whether commands may write beyond the project, where nothing is shown before it is made."""
    find = getattr(find_coordinator(), "get_capability", None)
    policy = find(APPROVAL_POLICY) if callable(find) else None
    is_reviewing = getattr(policy, "is_reviewing", False) is True
    return not is_reviewing and getattr(policy, "lets_change", True) is not False


def _list_events() -> list[str]:
    return [JOB_START, JOB_END]


def _open_folders(root: Path) -> tuple[Path, SessionFolder]:
    """Return the folder of the project, links followed, and a new one for the session.

    Raises:
        OSError: One of them cannot be used.
    """
    project = root.resolve(strict=True)
    if not project.is_dir():
        raise NotADirectoryError(f"`{root}` is no folder")
    return project, SessionFolder()


async def _emit(find_coordinator: Callable[[], Any], event: str, data: dict[str, Any]) -> None:
    """Emit an event of the session; one that was freed has no more."""
    hooks = getattr(find_coordinator(), "hooks", None)
    if hooks is not None:
        await hooks.emit(event, data)


def _find_limit(find_coordinator: Callable[[], Any]) -> float | None:
    """Return the seconds after which loops end a call, by `hooks-guard`; None for no limit."""
    capability = getattr(find_coordinator(), "get_capability", None)
    seconds: Any = capability(GUARD_TOOL_TIMEOUT) if callable(capability) else None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        return None
    return float(seconds)


def _warn(coordinator: Any) -> None:
    """Say once for each session that nothing keeps its commands to the project."""
    if getattr(coordinator, "parent_id", None):
        return
    nobody = getattr(coordinator, "approval_system", None) is None
    logger.warning(
        "tool-bash: nothing on this machine keeps commands to the project, so that a person is"
        " asked about each that does more than read%s; %s",
        ", and nobody can be asked: they are denied" if nobody else "",
        runners.describe_remedy(),
    )
