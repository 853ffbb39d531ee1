"""What is asked of `amplifier-core run`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Order:
    """A prompt, and where and with what it is run."""

    prompt: str
    folder: Path
    model: str | None = None
    hooks: tuple[Mapping[str, Any], ...] = ()
    """Hooks to mount beside the guard."""
