"""`tool-skill`: instructions for kinds of tasks, which a model reads when it needs them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread

from amplifier_core.session_capabilities import SESSION_WORKING_DIR
from amplifier_modules.instructions.reporting import report_problems
from amplifier_modules.tools.folder import FolderSettings
from amplifier_providers.settings import read_settings

from .limits import SkillLimits
from .skill_files import FoundSkills, Skill, find_skills, has_skills
from .skill_tool import SkillTool

__all__ = [
    "FoundSkills",
    "Skill",
    "SkillSettings",
    "SkillTool",
    "find_skills",
    "has_skills",
    "mount",
]


class SkillSettings(FolderSettings):
    """Which skills there are."""

    unknown_keys = "refuse"

    user_skills: bool = True
    """Whether there are those of the user: in the folder of the configuration, and in `~/.claude/skills`."""


__amplifier_module_type__ = "tool"
__amplifier_settings__ = SkillSettings


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> Callable[[], None]:
    """Mount the tool as `skill`.

    Args:
        coordinator: The coordinator of the session.
        config: The keys of `SkillSettings`.

    Returns:
        A callable that unregisters its handlers.

    Raises:
        SettingError: A value cannot be used.
        OSError: The working folder cannot be opened.
    """
    settings = read_settings(SkillSettings, config, "tool-skill")
    working = Path(coordinator.get_capability(SESSION_WORKING_DIR) or ".")
    folder = await anyio.to_thread.run_sync((working / settings.root.expanduser()).resolve)
    find = partial(find_skills, folder, os.environ, user_skills=settings.user_skills)
    found = await anyio.to_thread.run_sync(find)
    await report_problems(coordinator, "tool-skill", found.problems)
    limits = SkillLimits(coordinator, folder)
    tool = SkillTool(found, find, limits, settings.max_result_bytes)
    await coordinator.mount("tools", tool, name=tool.name)
    return limits.register()
