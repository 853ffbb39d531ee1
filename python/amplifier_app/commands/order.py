"""The request to `amplifier-core run`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Order:
    """A prompt with its folder, model and hooks."""

    prompt: str
    folder: Path
    model: str | None = None
    hooks: tuple[Mapping[str, Any], ...] = ()
    """Hook modules to mount in addition to the guard."""
