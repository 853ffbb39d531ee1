"""`hooks-status-context`: tells requests the date, the folder and `git status`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import anyio.to_thread
from pydantic import Field

from amplifier_core import world
from amplifier_core.events import PROVIDER_REQUEST
from amplifier_core.models import HookResult
from amplifier_core.session_capabilities import SESSION_WORKING_DIR
from amplifier_guard import TerminalText
from amplifier_modules.hooks.shell.hook_process import HookPlace, HookProcess
from amplifier_modules.sandbox.command import Tier
from amplifier_modules.sandbox.environment import build_environment, find_caches
from amplifier_modules.sandbox.runner import Confinement, open_runner
from amplifier_modules.sandbox.session_folder import SessionFolder
from amplifier_providers.settings import Settings, read_settings
from amplifier_providers.value_problems import Form

__amplifier_module_type__ = "hook"

NAME = "hooks-status-context"
_GIT = "git --no-optional-locks -c core.fsmonitor=false status --short --branch"
_SECONDS = 5.0
_MAX_CHARS = 4000


class StatusSettings(Settings):
    """What a model is told of the place where it works."""

    unknown_keys = "refuse"

    root: Annotated[Path, Field(strict=False), Form("the path of a folder")] = Path()
    """The folder, from the session's working directory."""
    git: bool = True
    """Whether the status of git is told, where a sandbox can run it."""


__amplifier_settings__ = StatusSettings

__all__ = ["StatusSettings", "mount"]


class StatusContext:
    """The handler of a session."""

    def __init__(self, root: Path, place: HookPlace | None) -> None:
        """Tell of a folder.

        Args:
            root: The folder.
            place: Where git runs; None to leave that out.
        """
        self._root = root
        self._place = place

    async def add_status(self, _event: str, _data: dict[str, Any]) -> HookResult:
        """Add the status to the next request alone."""
        today = datetime.fromtimestamp(world.time(), UTC).date().isoformat()
        rows = [f"Today is {today} (UTC).", f"The working folder is `{self._root}`."]
        if self._place is not None:
            finished = await HookProcess(self._place, _GIT, _SECONDS, b"").run()
            if finished.ending is not None and finished.ending.exit_code == 0:
                written = TerminalText.show(finished.output.decode("utf-8", "replace"))
                rows.append(f"`git status` says:\n{written[:_MAX_CHARS]}")
        return HookResult(
            action="inject_context",
            context_injection="\n".join(rows),
            context_injection_role="user",
            ephemeral=True,
        )


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Tell the model of the place where it works.

    Args:
        coordinator: The coordinator of the session.
        config: See `StatusSettings`.

    Returns:
        A callable that unregisters its handler.

    Raises:
        SettingError: A key is unknown, or a value cannot be used.
        OSError: The folder is not there.
    """
    settings = read_settings(StatusSettings, config, NAME)
    working = Path(coordinator.get_capability(SESSION_WORKING_DIR) or ".")
    root = await anyio.to_thread.run_sync(_find_root, working / settings.root.expanduser())
    place = None
    if settings.git and sys.platform != "win32":
        folder = await anyio.to_thread.run_sync(SessionFolder)
        place = await anyio.to_thread.run_sync(_open_place, root, folder)

        async def close() -> None:
            if place is not None:
                await anyio.to_thread.run_sync(place.runner.close)
            await anyio.to_thread.run_sync(folder.remove)

        coordinator.register_cleanup(close)
    handler = StatusContext(root, place).add_status
    return coordinator.hooks.register(PROVIDER_REQUEST, handler, name=NAME)


def _find_root(path: Path) -> Path:
    return path.resolve(strict=True)


def _open_place(root: Path, folder: SessionFolder) -> HookPlace | None:
    """Return a sandbox that only reads: what a repository configures may run programs."""
    caches = find_caches(root)
    runner = open_runner(
        Confinement(root, folder.path, folder.temporary, caches, "read-only", "off")
    )
    if runner.tier is Tier.NONE:
        return None
    environment = build_environment(os.environ, folder.temporary, caches)
    return HookPlace(runner, str(root), folder.temporary, environment)
