"""The request to `amplifier-core run`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from amplifier_app.commands.named_modules import NamedModules


@dataclass(frozen=True)
class Order:
    """A prompt with its folder, model, system prompt and hooks."""

    prompt: str
    folder: Path
    model: str | None = None
    system: str | None = None
    """The system prompt, instead of that of the command."""
    block_chars: int = 0
    """How many characters of the prompt are a block from standard input."""
    hooks: tuple[Mapping[str, Any], ...] = ()
    """Hook modules to mount in addition to the guard."""
    named: NamedModules | None = None
    """The modules that the user names."""
    goal: str | None = None
    """The turn goes on until this is reached."""
    provider: str = "anthropic"
    """The provider that answers, unless the user names another as a module."""
