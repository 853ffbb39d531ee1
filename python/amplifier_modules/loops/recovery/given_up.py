"""Why a loop gives a turn up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GivenUp:
    """Why a turn ends."""

    tool_name: str
    """The tool whose calls failed; empty where no call was made."""
    reason: str
