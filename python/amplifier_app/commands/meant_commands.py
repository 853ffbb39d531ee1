"""Words that are no commands here, and what somebody who types them alone may mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_OF_OTHERS: Mapping[str, str] = {
    "agents": "sub-agents are described in `.claude/agents`",
    "chat": "`amplifier-core` alone begins a conversation",
    "continue": "`amplifier-core --continue` goes on with the last session",
    "exec": '`amplifier-core "…"` runs a prompt',
    "exit": "there is no conversation to end",
    "help": "`amplifier-core --help` shows the commands",
    "login": "`amplifier-core provider key set NAME` keeps a key, `amplifier-core mcp login NAME` logs in to a server",
    "logout": "`amplifier-core provider key remove NAME` forgets a key, `amplifier-core mcp logout NAME` a login",
    "models": "`amplifier-core provider models NAME` lists them",
    "plugin": "`amplifier-core --module NAME` mounts a module",
    "quit": "there is no conversation to end",
    "resume": "`amplifier-core --resume` goes on with a session",
    "version": "`amplifier-core --version` shows it",
}
"""Commands and habits of other programs for agents."""


def find_meant(word: str, commands: Collection[str]) -> str:
    """Return what may be meant by a prompt of one word, empty if it is a prompt.

    Args:
        word: The word.
        commands: The commands that there are.
    """
    lower = "help" if word == "?" else word.lower()
    if word in commands or not lower.replace("-", "").isalpha():
        return ""
    if lower in _OF_OTHERS:
        return f"{_OF_OTHERS[lower]};"
    from difflib import get_close_matches

    alike = get_close_matches(lower, [*commands, *_OF_OTHERS], n=1, cutoff=0.8)
    if not alike:
        return ""
    if alike[0] in _OF_OTHERS:
        return f"{_OF_OTHERS[alike[0]]};"
    return f"did you mean `amplifier-core {alike[0]}`?"
