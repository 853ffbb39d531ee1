"""The commands within a conversation: lines that begin with a slash."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_app.commands.named_modules import NamedModules

SLASH_COMMANDS = {
    "/help": "Show this.",
    "/model": "Show the model; with a name, use that one from now on.",
    "/mode": "Show the mode; with a name, go on in it: `auto`, `ask`, `review`, `read-only`, `plan`.",
    "/goal": "Work until a goal is reached: `/goal TEXT`; alone, show it; `/goal off` ends it.",
    "/init": "Have `AGENTS.md` of the project drafted, or improved: what agents have to know of it.",
    "/skills": "List the skills: what they are for, and whose they are.",
    "/mcp": "Show the MCP servers; `/mcp NAME`: its tools, prompts and resources.",
    "/continue": "Go on with a turn that was not finished.",
    "/undo": "Take back what the last turn has changed; `/undo change-3`: all that came after that.",
    "/redo": "Make again what was taken back.",
    "/diff": "Show what the conversation has changed in the project.",
    "/jobs": "List the commands in the background; `/jobs kill ID` ends one.",
    "/cost": "Show the tokens so far, what they cost, and what was paid again.",
    "/clear": "Begin a new conversation.",
    "/quit": "End; Ctrl+D does the same.",
}
"""What each does."""

_WRITING = ("tool-filesystem", "tool-bash")
"""The tools whose changes a session keeps."""
_OF_TOOLS = {
    "/jobs": ("tool-bash",),
    "/undo": _WRITING,
    "/redo": _WRITING,
    "/diff": _WRITING,
    "/init": ("tool-filesystem",),
}
"""Those that a session has only with one of these tools."""

_KEYS = """\
A line that you type while the model works is steering: the model reads it
before its next step. `!git status` runs a command of yours, which the model
reads with your next line. `@path` attaches a file or an image, and Ctrl+V the
image in the clipboard. Alt+Enter, or Enter after a backslash, begins a new line;
Tab completes commands and the names of files; Shift+Tab goes on in the next
mode, which the prompt shows. Ctrl+C stops the model at once;
while a tool runs, the first one lets it finish."""

_COMMAND = re.compile(r"(/[\w-]+)(?:\s+(.*))?", re.DOTALL)
"""A command and its argument; a path such as `/etc/hosts` does not match."""


@dataclass(frozen=True)
class SlashCommand:
    """A command that was typed."""

    name: str
    argument: str = ""


def slash_command(line: str) -> SlashCommand | None:
    """Return the command in a line, known or not; None if the line is a prompt."""
    found = _COMMAND.fullmatch(line.strip())
    return SlashCommand(found[1].lower(), (found[2] or "").strip()) if found else None


def find_commands(named: NamedModules | None) -> dict[str, str]:
    """Return the commands of a session with the modules that the user names."""
    return {name: what for name, what in SLASH_COMMANDS.items() if _is_there(name, named)}


def _is_there(name: str, named: NamedModules | None) -> bool:
    tools = _OF_TOOLS.get(name)
    if tools is _WRITING and os.name != "posix":  # nothing can be kept there
        return False
    return tools is None or named is None or any(map(named.keeps_tool, tools))


def help_text(commands: Mapping[str, str], prompts: Mapping[str, str] | None = None) -> str:
    """Return what `/help` shows.

    Args:
        commands: What each command does.
        prompts: The same of the commands that are prompts of MCP servers.
    """
    rows = [f"{name:<9} {what}" for name, what in commands.items()]
    of_servers = [f"{usage}  {what}".rstrip() for usage, what in (prompts or {}).items()]
    return "\n".join([*rows, *of_servers, "", _KEYS])
