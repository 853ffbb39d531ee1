"""`hooks-notify`: tells the desktop that a turn has ended or a person is asked."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio.to_thread
from pydantic import Field

from amplifier_core import world
from amplifier_core.events import APPROVAL_REQUIRED, TURN_END, TURN_START
from amplifier_guard import TerminalText
from amplifier_modules.hooks.shell.hook_process import HookPlace, HookProcess
from amplifier_modules.running.session_bound import session_bound
from amplifier_modules.sandbox.environment import build_environment, find_caches
from amplifier_modules.sandbox.session_folder import SessionFolder
from amplifier_modules.sandbox.unconfined import UnconfinedRunner
from amplifier_providers.settings import SettingError, Settings, read_settings

__amplifier_module_type__ = "hook"

logger = logging.getLogger(__name__)

NAME = "hooks-notify"
_LINUX = 'notify-send -- "$NOTIFY_TITLE" "$NOTIFY_TEXT"'
_MACOS = (
    """osascript -e 'on run a' -e 'display notification (item 2 of a) with title (item 1 of a)'"""
    """ -e 'end run' "$NOTIFY_TITLE" "$NOTIFY_TEXT\""""
)
_DESKTOP = ("DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR")
"""The variables by which programs find the desktop."""


class NotifySettings(Settings):
    """When and how a person is notified."""

    unknown_keys = "refuse"

    command: str | None = None
    """A line of shell that shows `$NOTIFY_TITLE` and `$NOTIFY_TEXT`; without it `notify-send`, or `osascript` on macOS."""
    min_seconds: float = Field(default=10.0, ge=0)
    """How long a turn takes at least of whose end a person is notified."""
    questions: bool = True
    """Whether a person is notified of questions."""
    timeout: float = Field(default=5.0, gt=0, le=60)
    """Seconds after which the command is ended."""


__amplifier_settings__ = NotifySettings

__all__ = ["NotifySettings", "mount"]


class Notifier:
    """The handlers of a session."""

    def __init__(self, settings: NotifySettings, place: HookPlace) -> None:
        """Notify by a command that runs at a place."""
        self._settings = settings
        self._place = place
        self._begun: float | None = None
        self._has_failed = False

    @session_bound
    def note_begin(self, _event: str, _data: dict[str, Any]) -> None:
        """Note when a turn begins."""
        self._begun = world.monotonic()

    @session_bound
    async def notify_end(self, _event: str, data: dict[str, Any]) -> None:
        """Notify of the end of a turn that took long."""
        begun, self._begun = self._begun, None
        if begun is not None and world.monotonic() - begun >= self._settings.min_seconds:
            await self._notify(f"the turn has ended: {data.get('status')}")

    @session_bound
    async def notify_question(self, _event: str, data: dict[str, Any]) -> None:
        """Notify of a question, by the tool that it is about."""
        name = data.get("tool_name")
        await self._notify(f"a question about `{name}`" if name else "a question")

    async def _notify(self, text: str) -> None:
        named = {"NOTIFY_TITLE": "amplifier-core", "NOTIFY_TEXT": TerminalText.line(text, 200)}
        place = replace(self._place, environment={**self._place.environment, **named})
        line = self._settings.command or (_MACOS if sys.platform == "darwin" else _LINUX)
        finished = await HookProcess(place, line, self._settings.timeout, b"").run()
        is_well = finished.ending is not None and finished.ending.exit_code == 0
        if not is_well and not self._has_failed:
            self._has_failed = True
            said = TerminalText.line(finished.errors.decode("utf-8", "replace").strip(), 200)
            logger.warning("hooks-notify: nobody is notified, as the command failed: %s", said)


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Notify a person of a session.

    Args:
        coordinator: The coordinator of the session.
        config: See `NotifySettings`.

    Returns:
        A callable that unregisters its handlers.

    Raises:
        SettingError: A key is unknown, a value cannot be used, or this is Windows.
    """
    settings = read_settings(NotifySettings, config, NAME)
    if sys.platform == "win32":
        raise SettingError(f"{NAME}: there are no notifications on Windows", module=NAME)
    folder = await anyio.to_thread.run_sync(SessionFolder)

    async def close() -> None:
        await anyio.to_thread.run_sync(folder.remove)

    coordinator.register_cleanup(close)
    home = Path(folder.path)
    environment = build_environment(
        os.environ, folder.temporary, find_caches(home), passed=_DESKTOP
    )
    place = HookPlace(UnconfinedRunner(), str(home), folder.temporary, environment)
    notifier, hooks = Notifier(settings, place), coordinator.hooks
    registered = [
        hooks.register(TURN_START, notifier.note_begin, name=NAME),
        hooks.register(TURN_END, notifier.notify_end, name=NAME),
    ]
    if settings.questions:
        registered.append(hooks.register(APPROVAL_REQUIRED, notifier.notify_question, name=NAME))

    def unregister() -> None:
        for each in registered:
            each()

    return unregister
