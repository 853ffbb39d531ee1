"""Lines of a conversation that begin with a slash."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORDS = {"exit": "/quit", "quit": "/quit", ":q": "/quit", "/exit": "/quit", "?": "/help"}
"""Words that mean a command, typed alone."""
_COMMAND = re.compile(r"(/[\w-]+(?::[\w-]+)*)(?:\s+(.*))?", re.DOTALL)
"""A command and its argument; a path such as `/etc/hosts` does not match."""


@dataclass(frozen=True)
class SlashCommand:
    """A command that was typed."""

    name: str
    argument: str = ""


def slash_command(line: str) -> SlashCommand | None:
    """Return the command in a line, known or not; None if the line is a prompt."""
    typed = line.strip()
    found = _COMMAND.fullmatch(_WORDS.get(typed.lower(), typed))
    return SlashCommand(found[1].lower(), (found[2] or "").strip()) if found else None
