"""`hooks-shell`: runs commands at events, in the format of Claude Code."""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import anyio.to_thread

from amplifier_core.session_capabilities import HOOKS_ASK_AGAIN, SESSION_WORKING_DIR
from amplifier_core.weak_link import link_weakly
from amplifier_modules.hooks.settings_file import read_object
from amplifier_providers.settings import SettingError, read_settings

from .event_runs import EventRuns
from .hook_files import HookFormatError, ShellHook, WrittenHooks, read_hooks
from .hook_runs import AskAgain, HookRuns
from .settings import ShellHookSettings
from .shell_hooks import NAME, ShellHooks

__amplifier_module_type__ = "hook"
__amplifier_settings__ = ShellHookSettings

__all__ = ["ShellHookSettings", "mount"]

logger = logging.getLogger(__name__)


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Mount the hooks of the settings, of the user, and of the project as far as the user agreed.

    Args:
        coordinator: The coordinator of the session.
        config: See `ShellHookSettings`.

    Returns:
        A callable that unregisters its handlers.

    Raises:
        SettingError: A key is unknown, or hooks of the settings or of the user cannot be read.
        OSError: The project is not there.
    """
    settings = read_settings(ShellHookSettings, config, NAME)
    working = Path(coordinator.get_capability(SESSION_WORKING_DIR) or ".")
    ask = partial(_ask_again, link_weakly(coordinator))
    project, runs, hooks = await anyio.to_thread.run_sync(_open, settings, working, ask)

    async def close() -> None:
        await anyio.to_thread.run_sync(runs.close)

    coordinator.register_cleanup(close)
    return ShellHooks(EventRuns(coordinator, hooks, runs, project)).register()


async def _ask_again(find_coordinator: Callable[[], Any], hook: ShellHook) -> bool:
    """Ask a person about a hook that has changed, where one can be asked."""
    ask: Any = find_coordinator().get_capability(HOOKS_ASK_AGAIN)
    return callable(ask) and await cast("Awaitable[Any]", ask(hook)) is True


def _open(
    settings: ShellHookSettings, working: Path, ask: AskAgain
) -> tuple[Path, HookRuns, list[ShellHook]]:
    written = read_hooks_of_user(settings)
    for problem in written.problems:
        logger.warning("hooks-shell: %s", problem)
    if sys.platform == "win32" and (written.hooks or settings.project_hooks):
        raise SettingError(f"{NAME}: hooks do not run on Windows", module=NAME)
    project = (working / settings.root.expanduser()).resolve(strict=True)
    runs = HookRuns(project, settings.timeout, settings.pass_environment, ask)
    hooks = list(written.hooks)
    if settings.project_hooks:
        hooks += runs.add_project_hooks(settings.state_folder)
    return project, runs, hooks


def read_hooks_of_user(settings: ShellHookSettings) -> WrittenHooks:
    """Return the hooks of the settings and of the user's file.

    Raises:
        SettingError: They cannot be read.
    """
    path = settings.user_settings
    try:
        found = read_hooks(settings.hooks, "the settings")
        if path is None:
            return found
        content = read_object(path)
        if content.get("disableAllHooks") is True:
            return found
        of_user = read_hooks(content.get("hooks", {}), f"`{path}`")
    except FileNotFoundError:
        return read_hooks(settings.hooks, "the settings")
    except HookFormatError as error:
        raise SettingError(f"{NAME}: {error}", module=NAME) from error
    except (OSError, ValueError, RecursionError) as error:
        raise SettingError(f"{NAME}: `{path}` cannot be read: {error}", module=NAME) from error
    hooks = list(dict.fromkeys([*found.hooks, *of_user.hooks]))
    return WrittenHooks(hooks, [*found.problems, *of_user.problems])
