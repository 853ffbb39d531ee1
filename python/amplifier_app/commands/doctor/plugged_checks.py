"""The checks of what others have made: MCP servers, rules, and hooks."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from amplifier_app.commands.settings import MCP_EXTRA, NO_MCP
from amplifier_modules.running.user_folders import find_state_folder

from .finding import Finding, State

if TYPE_CHECKING:
    from amplifier_app.commands.mcp.listed_servers import ListedServer

_ASK = "`amplifier-core mcp ask` asks about it"
_ADVICE = {"not asked": _ASK, "not agreed": _ASK, "left out": "yours of the same name counts"}
_BEGIN = "begin a conversation in the folder, which asks"


def check_servers(folder: Path) -> Iterator[Finding]:
    """Yield a finding for each MCP server of the user and of the project; none is started."""
    from amplifier_app.commands.mcp.listed_servers import list_servers

    servers, problems = list_servers(folder.resolve())
    if servers and find_spec("mcp") is None:
        yield Finding("MCP servers", "broken", f"none is connected: {NO_MCP}", MCP_EXTRA)
    for each in servers:
        yield _check_server(each, folder)
    for problem in problems:
        yield Finding("MCP servers", "broken", problem, "correct it")


def _check_server(server: ListedServer, folder: Path) -> Finding:
    from amplifier_app.commands.mcp.list import describe_place

    entry = server.entry
    name = f"server {entry.name}"
    whose = "yours" if server.origin == "you" else "of the project"
    text = f"{whose}, {server.state}: {describe_place(server)}"
    if not server.is_connected:
        state: State = "missing" if server.state == "not asked" else "ok"
        return Finding(name, state, text, _ADVICE.get(server.state, ""))
    if unset := entry.list_unset(os.environ):
        names = ", ".join(f"`{each}`" for each in unset)
        return Finding(name, "broken", f"{text}; not set: {names}", "set it before you start")
    command = entry.settings.command
    if command is not None and "$" not in command:
        folders = os.pathsep.join((os.environ.get("PATH", os.defpath), str(folder)))
        if shutil.which(command, path=folders) is None and not (folder / command).exists():
            advice = "install it, or write its whole path"
            return Finding(name, "broken", f"{text}; there is no program `{command}`", advice)
    return Finding(name, "ok", text, f"`amplifier-core mcp test {entry.name}` connects it")


def check_rules(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with files of rules, and which of the project's wait for a yes."""
    from amplifier_modules.hooks.approval.rule_files import (
        find_user_settings,
        is_trusted,
        read_project_rules,
        read_rules,
    )

    project, state = folder.resolve(), find_state_folder(os.environ)
    own = find_user_settings(os.environ)
    for whose, rules in (
        ("yours", None if own is None else read_rules(own)),
        ("of the project", read_project_rules(project)),
    ):
        if rules is None:
            continue
        for problem in rules.problems:
            yield Finding("rules", "broken", problem, "correct the file")
        counts = {"allow": rules.allow, "ask": rules.ask, "deny": rules.deny}
        if not (said := [f"{len(each)} {name}" for name, each in counts.items() if each]):
            continue
        text, state_of = f"{whose}: {', '.join(said)}", None
        if whose != "yours" and rules.allow and state is not None:
            state_of = is_trusted(project, rules.allow, state)
            answers = {None: "nobody was asked about", True: "agreed to", False: "you denied"}
            text += f"; {answers[state_of]} what it allows"
        is_waiting = whose != "yours" and bool(rules.allow) and state_of is None
        yield Finding("rules", "missing" if is_waiting else "ok", text, is_waiting * _BEGIN)


def check_hooks(folder: Path) -> Iterator[Finding]:
    """Yield how many hooks the project has, and whether they may run."""
    from amplifier_modules.hooks.project_answers import read_answers
    from amplifier_modules.hooks.shell.agreements import find_answers, hash_hook, read_project_hooks
    from amplifier_modules.sandbox.named_files import NamedFileError

    project, state = folder.resolve(), find_state_folder(os.environ)
    found = read_project_hooks(project)
    for problem in found.problems:
        yield Finding("hooks", "broken", problem, "correct the file")
    answers = {} if state is None else read_answers(project, find_answers(state))
    words = {None: "not asked", True: "agreed", False: "not agreed"}
    counts: Counter[str] = Counter()
    for hook in found.hooks:
        try:
            counts[words[answers.get(hash_hook(hook, project))]] += 1
        except NamedFileError as error:
            yield Finding("hooks", "broken", f"`{hook.command}` never runs: {error}")
    if counts:
        listed = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        is_waiting = counts["not asked"] > 0
        state_of = "missing" if is_waiting else "ok"
        yield Finding("hooks", state_of, f"of the project: {listed}", is_waiting * _BEGIN)
