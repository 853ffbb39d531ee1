"""Words that are no commands here, and what somebody who types them alone may mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

COMMANDS_OF_OTHERS: Mapping[str, str] = {
    "acp": "`amplifier-core mcp serve` serves tools to other programs",
    "agents": "sub-agents are described in `.claude/agents`",
    "auth": "`amplifier-core provider key set NAME` keeps a key",
    "bundle": "`amplifier-core --plan FILE` mounts the modules of a plan",
    "chat": "`amplifier-core` alone begins a conversation",
    "completion": "there is none for shells; `amplifier-core --help` shows the commands",
    "continue": "`amplifier-core --continue` goes on with the last session",
    "exec": '`amplifier-core "…"` runs a prompt',
    "exit": "there is no conversation to end",
    "fork": "`amplifier-core --continue --fork-session` goes on with a copy",
    "help": "`amplifier-core --help` shows the commands",
    "info": "`amplifier-core doctor` shows what is set up",
    "init": "`amplifier-core config init` makes the settings, `/init` in a conversation drafts `AGENTS.md`",
    "login": "`amplifier-core provider key set NAME` keeps a key, `amplifier-core mcp login NAME` logs in to a server",
    "logout": "`amplifier-core provider key remove NAME` forgets a key, `amplifier-core mcp logout NAME` a login",
    "mcp-server": "`amplifier-core mcp serve` serves tools to other programs",
    "models": "`amplifier-core provider models NAME` lists them",
    "module": "`amplifier-core list-modules` lists them, `amplifier-core validate MODULE` checks one",
    "plugin": "`amplifier-core --module NAME` mounts a module",
    "quit": "there is no conversation to end",
    "resume": "`amplifier-core --resume` goes on with a session",
    "sandbox": "commands run in one by themselves; `amplifier-core doctor` shows its tier",
    "setup-token": "`amplifier-core provider key set NAME` keeps a key",
    "update": "`pip install --upgrade amplifier-core` does that",
    "upgrade": "`pip install --upgrade amplifier-core` does that",
    "version": "`amplifier-core --version` shows it",
}
"""Commands and habits of other programs for agents."""
SUBCOMMANDS_OF_OTHERS: Mapping[str, str] = {
    "mcp add-json": "`amplifier-core mcp add NAME …` adds a server",
    "mcp get": "`amplifier-core mcp list` lists them, `amplifier-core mcp test NAME` connects one",
    "provider add": "`amplifier-core provider key set NAME` keeps a key",
    "provider use": "`model` in the settings says who answers; `amplifier-core config edit` opens them",
    "session remove": "`amplifier-core session delete SESSION` deletes it",
    "session resume": "`amplifier-core --resume SESSION` goes on with it",
    "session start": "`amplifier-core` alone begins a conversation",
    "tool info": "`amplifier-core tool list --json` has the schemas",
}
"""The same, of commands that are ours."""
_ASKS_MODES = (
    "`--mode ask`, `auto`, `review`, `read-only` or `plan` says what runs without a question"
)
_ALLOWS_ALL = "`--mode auto` asks nothing of what the sandbox keeps to the folder"
_RULES = "rules for tools are in `settings.json`; `/permissions` shows them"
OPTIONS_OF_OTHERS: Mapping[str, str] = {
    "--allow-tool": _RULES,
    "--allowedTools": _RULES,
    "--allowed-tools": _RULES,
    "--append-system-prompt": "`--system TEXT` is all of the system prompt; notes are in `AGENTS.md`",
    "--ask-for-approval": _ASKS_MODES,
    "-a": _ASKS_MODES,
    "--bundle": "`--plan FILE` mounts the modules of a plan",
    "--cd": "`-C FOLDER` does that",
    "--dangerously-bypass-approvals-and-sandbox": _ALLOWS_ALL,
    "--dangerously-skip-permissions": _ALLOWS_ALL,
    "--disallowedTools": _RULES,
    "--disallowed-tools": _RULES,
    "--full-auto": _ALLOWS_ALL,
    "--last": "`--continue` goes on with the last session",
    "--max-turns": "`max_iterations` in the settings limits them; `amplifier-core config edit` opens them",
    "-n": "`--name NAME` names the session",
    "--output-format": "`--json` writes each event as a line; in a pipe the answer alone is written",
    "-p": "in a pipe or with `--quiet` the answer alone is written; a profile is `--profile NAME`",
    "--permission-mode": _ASKS_MODES,
    "--print": "in a pipe or with `--quiet` the answer alone is written",
    "--provider": "`--model PROVIDER:NAME` asks it",
    "--sandbox": "commands run in one by themselves; `--mode read-only` lets nothing be changed",
    "-s": "commands run in one by themselves; `--mode read-only` lets nothing be changed",
    "--session-id": "`--resume SESSION` goes on with one, `--name NAME` names one",
    "--system-prompt": "`--system TEXT` does that",
    "-t": "the prompt is written without an option",
    "--text": "the prompt is written without an option",
    "--with-extension": "`amplifier-core mcp add NAME …` adds a server; `--mcp-config FILE` has some",
    "--yolo": _ALLOWS_ALL,
}
"""Options of other programs for agents that `run` has not."""


def find_meant_together(words: Sequence[str]) -> str:
    """Return what is meant by a command of ours and a word that is none of its own; else empty."""
    return SUBCOMMANDS_OF_OTHERS.get(" ".join(words[:2]), "")


def is_of_others(word: str) -> bool:
    """Whether a word is a command of other programs."""
    return word.lower() in COMMANDS_OF_OTHERS


def find_meant(word: str, commands: Collection[str]) -> str:
    """Return what may be meant by a prompt of one word, empty if it is a prompt.

    Args:
        word: The word.
        commands: The commands that there are.
    """
    lower = "help" if word == "?" else word.lower()
    if word in commands or not lower.replace("-", "").isalpha():
        return ""
    if lower in COMMANDS_OF_OTHERS:
        return f"{COMMANDS_OF_OTHERS[lower]};"
    from difflib import get_close_matches

    alike = get_close_matches(lower, [*commands, *COMMANDS_OF_OTHERS], n=1, cutoff=0.8)
    if not alike:
        return ""
    if alike[0] in COMMANDS_OF_OTHERS:
        return f"{COMMANDS_OF_OTHERS[alike[0]]};"
    return f"did you mean `amplifier-core {alike[0]}`?"
