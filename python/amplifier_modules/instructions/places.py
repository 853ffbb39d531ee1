"""Where users keep what they write for models, and which folders of a project have more of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, TypeAlias

from ..running.user_folders import find_home

Origin: TypeAlias = Literal["user", "project"]
"""Whose word it is: only the folder says so, never the text."""


def find_claude_folder() -> Path | None:
    """Return the user's folder of Claude Code; None if the user has no home."""
    home = find_home()
    return None if home is None else home / ".claude"


def list_project_folders(working: Path) -> list[Path]:
    """Return the folders from the root of the repository down to the working folder.

    Without a repository it is the working folder alone. A folder above it that belongs to somebody
    else ends the search: its words are not those of this project.
    """
    working = working.resolve()
    folders = [working]
    if not os.path.lexists(working / ".git"):
        owner = os.stat(working).st_uid
        for each in working.parents:
            try:
                if os.stat(each).st_uid != owner:
                    return [working]
            except OSError:
                return [working]
            folders.append(each)
            if os.path.lexists(each / ".git"):
                break
        else:
            return [working]
    return folders[::-1]
