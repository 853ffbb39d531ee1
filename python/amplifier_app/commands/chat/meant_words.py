"""Words that are no commands of a conversation, and what somebody who types them may mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping

WORDS_OF_OTHERS: Mapping[str, str] = {
    "agents": "sub-agents are described in `.claude/agents`",
    "allowed-tools": "/permissions",
    "approvals": "/permissions",
    "bashes": "/jobs",
    "branch": "/fork",
    "checkpoint": "/rewind",
    "config": "`amplifier-core config edit` opens the settings",
    "extension": "`amplifier-core mcp add` adds a server",
    "hotkeys": "/help",
    "keys": "`amplifier-core provider key set NAME` keeps a key",
    "login": "`amplifier-core provider key set NAME` keeps a key, `amplifier-core mcp login NAME` logs in to a server",
    "logout": "`amplifier-core provider key remove NAME` forgets a key, `amplifier-core mcp logout NAME` a login",
    "memory": "notes are in `AGENTS.md`, which `/init` drafts",
    "models": "/model",
    "new": "/clear",
    "plan": "/mode plan",
    "plugin": "`amplifier-core --module NAME` mounts a module",
    "prompts": "/mcp",
    "ps": "/jobs",
    "reset": "/clear",
    "session": "/resume",
    "sessions": "/resume",
    "settings": "`amplifier-core config edit` opens the settings",
    "stats": "/cost",
    "tasks": "/jobs",
    "usage": "/cost",
    "version": "/status",
}
"""Commands of other programs for agents, and of `amplifier-core` itself."""
_PROMPTS = ("continue", "plan", "new")
"""Words that are as likely prompts."""
_ALIKE = 0.82


def hint_at(name: str) -> str:
    """Return what a command of other programs is here; empty if it is none.

    Args:
        name: The command, without the slash.
    """
    meant = WORDS_OF_OTHERS.get(name, "")
    return f"did you mean `{meant}`?" if meant.startswith("/") else meant


def find_meant(line: str, commands: Collection[str]) -> str:
    """Return what may be meant by a line of one word, empty if it is a prompt.

    Args:
        line: The line.
        commands: The commands that there are, with the slash.
    """
    word = line.strip().lower()
    if word in _PROMPTS or not word.isascii() or not word.replace("-", "").isalpha():
        return ""
    if f"/{word}" in commands:
        return f"did you mean `/{word}`?"
    if hint := hint_at(word):
        return hint
    from difflib import get_close_matches

    known = [*(each[1:] for each in commands), *WORDS_OF_OTHERS]
    alike = get_close_matches(word, known, n=1, cutoff=_ALIKE)
    if not alike or alike[0] in _PROMPTS:
        return ""
    return f"did you mean `/{alike[0]}`?" if f"/{alike[0]}" in commands else hint_at(alike[0])
