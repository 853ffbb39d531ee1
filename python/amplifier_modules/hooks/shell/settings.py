"""The settings of `hooks-shell`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from amplifier_providers.settings import Settings
from amplifier_providers.value_problems import Form

MAX_SECONDS = 600.0


class ShellHookSettings(Settings):
    """Commands that are run at events, as the settings of Claude Code name them."""

    # A misspelt key must not leave a call unjudged.
    unknown_keys = "refuse"

    hooks: dict[str, Any] = Field(default_factory=dict[str, Any])
    """Hooks in the format of Claude Code's settings, by the names of its events."""
    user_settings: Annotated[Path | None, Field(strict=False), Form("the path of a file")] = None
    """A file of the user with more of them, under its key `hooks`."""
    project_hooks: bool = False
    """Whether the hooks in the folder `.claude` of the project count, once the user agreed to them."""
    state_folder: Annotated[Path | None, Field(strict=False), Form("the path of a folder")] = None
    """Where it is remembered which hooks of projects the user agreed to; without it, none of them runs."""
    root: Annotated[Path, Field(strict=False), Form("the path of a folder")] = Path()
    """The project, in which hooks run, from the session's working directory."""
    timeout: float = Field(default=60.0, gt=0, le=MAX_SECONDS)
    """Seconds after which a hook is ended that has no `timeout` of its own."""
    pass_environment: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Names of variables of this process that hooks of the settings and of the user have too."""
