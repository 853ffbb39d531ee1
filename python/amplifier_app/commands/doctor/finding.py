"""What a check of `amplifier-core doctor` has found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["ok", "missing", "broken"]


@dataclass(frozen=True)
class Finding:
    """What a check has found."""

    name: str
    state: State
    text: str
    advice: str = ""
    """What to do; empty where nothing is to be done."""
