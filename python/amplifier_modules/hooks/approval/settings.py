"""The settings of `hooks-approval`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from amplifier_providers.settings import Settings

from .modes import Mode


class ApprovalSettings(Settings):
    """Which calls a person is asked about."""

    # A misspelt key must not leave something unasked.
    unknown_keys = "refuse"

    mode: Mode | None = None
    """What happens to a call that no rule is about; `auto` where commands run in namespaces, else `ask`."""
    goes_on_in_mode: bool = True
    """Whether a session that goes on is in the mode that it was left in, if that lets less happen than `mode`."""
    allow: tuple[str, ...] = Field(default=(), strict=False)
    """Rules for calls that need no question."""
    ask: tuple[str, ...] = Field(default=(), strict=False)
    """Rules for calls that a person is asked about in any case."""
    deny: tuple[str, ...] = Field(default=(), strict=False)
    """Rules for calls that are denied."""
    timeout: float | None = Field(default=None, gt=0, strict=False)
    """Seconds to answer; without it those of the tool, the agent or the loop, else no limit."""
    default_action: Literal["deny"] = "deny"
    """What happens without an answer in time."""
    root: Path | None = Field(default=None, strict=False)
    """The project, from which paths in rules are counted; without it the folder of the session."""
    user_settings: Path | None = Field(default=None, strict=False)
    """A file of the user with more rules, to which those are added that a person grants."""
    project_rules: bool = False
    """Whether the rules in the folder `.claude` of the project count."""
    state_folder: Path | None = Field(default=None, strict=False)
    """Where it is remembered what the user agreed to that a project allows; without it, that has no effect."""
    audit_log: Path | None = Field(default=None, strict=False)
    """A file to which each question, answer and refusal is added as a line of JSON."""
