"""The settings of `hooks-project-notes`."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from amplifier_providers.settings import Settings

MAX_NOTES_BYTES = 64 * 1024
"""Bytes of all notes of a session together."""


class ProjectNotesSettings(Settings):
    """Which notes a model is given."""

    unknown_keys = "refuse"

    root: Path | None = Field(default=None, strict=False)
    """The working folder; without it the folder of the session."""
    user_notes: bool = True
    """Whether the user's own notes are read, in the folder of the configuration or else in `~/.claude`."""
    max_bytes: int = Field(default=MAX_NOTES_BYTES, ge=1024, le=1024 * 1024)
    """Bytes of all notes of a session together, those that changed among them."""
