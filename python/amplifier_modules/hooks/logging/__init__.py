"""`hooks-logging`: each event as a line of JSON, without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import Field

from amplifier_core.session_capabilities import GUARD_REDACTOR
from amplifier_core.weak_link import link_weakly
from amplifier_guard import Redactor
from amplifier_modules.hooks.approval.audit import AuditLog
from amplifier_modules.running.user_folders import find_state_folder
from amplifier_providers.settings import Settings, read_settings
from amplifier_providers.value_problems import Form

__amplifier_module_type__ = "hook"

NAME = "hooks-logging"
_NO_NAME = re.compile(r"[^\w-]")
_RAW = "raw"


class LoggingSettings(Settings):
    """Which events are logged, and where."""

    unknown_keys = "refuse"

    folder: Annotated[Path | None, Field(strict=False), Form("the path of a folder")] = None
    """Folder for the files, each named by its session; without it `logs` in the state folder of the user."""
    events: Annotated[tuple[str, ...], Field(strict=False)] = ("*",)
    """Names of the events, `*` for any letters."""
    without: Annotated[tuple[str, ...], Field(strict=False)] = (
        "content_block:delta",
        "agent:*_content",
    )
    """Names of events that are left out, `*` for any letters."""
    strip_raw: bool = True
    """Whether `raw`, what a provider sent as it came, and the raw plan are left out."""


__amplifier_settings__ = LoggingSettings

__all__ = ["LoggingSettings", "mount"]


class EventLog:
    """Writes the events of a session and of its sub-agents, each into a file of its own."""

    def __init__(
        self, settings: LoggingSettings, folder: Path, redact: Callable[[Any], Any], own: str
    ) -> None:
        """Write into a folder.

        Args:
            settings: What is written.
            folder: The folder.
            redact: Removes secrets from data in the form of JSON.
            own: The session of events that do not name theirs.
        """
        self._settings = settings
        self._folder = folder
        self._redact = redact
        self._own = own
        self._logs: dict[str, AuditLog] = {}

    async def log_event(self, event: str, data: dict[str, Any]) -> None:
        """Write an event, if it is one of those that are logged."""
        settings = self._settings
        if not _is_one_of(event, settings.events) or _is_one_of(event, settings.without):
            return
        session_id = str(data.get("session_id") or self._own or "session")
        name = _NO_NAME.sub("_", session_id)[:100]
        log = self._logs.get(name)
        if log is None:
            path = self._folder / f"{name}.jsonl"
            log = self._logs[name] = AuditLog(path, self._redact, NAME)
        level = "error" if data.get("error") else "info"
        fields = _strip_raw(data) if settings.strip_raw else data
        await log.add(event, {"level": level, "data": fields})


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Log the events of a session.

    Args:
        coordinator: The coordinator of the session.
        config: See `LoggingSettings`.

    Returns:
        A callable that ends it.

    Raises:
        SettingError: A key is unknown, or a value cannot be used.
    """
    settings = read_settings(LoggingSettings, config, NAME)
    folder = settings.folder
    if folder is None:
        folder = (find_state_folder(os.environ) or Path(".amplifier")) / "logs"
    redact = partial(_redact, link_weakly(coordinator))
    log = EventLog(settings, folder.expanduser(), redact, str(coordinator.session_id or ""))
    return coordinator.hooks.observe(log.log_event, NAME)


def _is_one_of(event: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(event, each) for each in patterns)


def _strip_raw(data: Any) -> Any:
    if isinstance(data, dict):
        fields = cast("dict[str, Any]", data).items()
        return {key: _strip_raw(value) for key, value in fields if key != _RAW}
    if isinstance(data, list):
        return [_strip_raw(each) for each in cast("list[Any]", data)]
    return data


def _redact(find_coordinator: Callable[[], Any], data: Any) -> Any:
    redactor: Any = find_coordinator().get_capability(GUARD_REDACTOR) or Redactor()
    return redactor.redact_data(data)
