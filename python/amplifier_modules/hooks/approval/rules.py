"""Rules such as `Bash(git push:*)` and `Edit(src/**)`: what they say, and which calls they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from amplifier_guard import ShellDenied
from amplifier_modules.hooks.claude_tools import READING, TOOLS, WRITING

from .calls import Call
from .command_line import only_reads, runs_others
from .command_pattern import CommandPattern
from .domains import Domain
from .globs import PathGlob
from .hidden_programs import hides_program

_OF_PATHS = READING | WRITING
_OF_AGENTS = frozenset({"Agent", "Task", "task"})
_FORM = re.compile(r"([A-Za-z_][\w.*-]*)(?:\((.*)\))?", re.DOTALL)
_ANY = frozenset({"", "*", "**", ":*"})
_OF_SERVERS = "mcp__"
"""What rules have before the name of a tool of an MCP server."""


class RuleError(ValueError):
    """A rule that is not understood."""


@dataclass(frozen=True)
class Rule:
    """A rule that is understood."""

    text: str
    """As it is written."""
    tools: frozenset[str]
    """The names of our tools that it is about."""
    prefix: str | None = None
    """How the names of the tools begin, where it is about all of a server."""
    names: str | None = None
    """A glob of names of tools, ours or those that rules have for them."""
    command: CommandPattern | None = None
    """The commands; None for a rule about anything else, or about every command."""
    domain: Domain | None = None
    """The hosts of addresses; None for a rule about anything else."""
    agent: str | None = None
    """A glob of the sub-agents that do a task; None for a rule about anything else, or every task."""
    glob: PathGlob | None = None
    """The paths; None for a rule about anything else, or about every path."""

    @property
    def is_whole(self) -> bool:
        """Whether it means every call of its tools."""
        return (self.command, self.glob, self.domain, self.agent) == (None,) * 4

    def is_about(self, tool: str) -> bool:
        """Whether it is about a tool."""
        if self.domain is not None and tool == "bash":
            return True  # its commands can reach hosts, too
        if self.names is not None and any(
            fnmatchcase(each, self.names) for each in (tool, *_list_names(tool))
        ):
            return True
        if tool in self.tools:
            return True
        return self.prefix is not None and tool.startswith(
            (self.prefix, self.prefix.removeprefix(_OF_SERVERS))
        )


def _list_names(tool: str) -> Iterable[str]:
    yield from (name for name, tools in TOOLS.items() if tool in tools)
    if "__" in tool:  # a tool of an MCP server
        yield f"{_OF_SERVERS}{tool}"


def read_rule(text: str, project: Path, *, allows: bool = True) -> Rule:
    """Read a rule.

    Args:
        text: The rule.
        project: What paths are counted from.
        allows: Whether it is to allow something, and may not name any tool by `*`.

    Raises:
        RuleError: It is not understood.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise RuleError(f"`{text}` has not the form `Tool` or `Tool(what)`")
    name, what = found[1], found[2]
    if name.startswith(_OF_SERVERS):
        return _read_server_rule(text, name, what, allows=allows)
    if "*" in name:
        return _read_name_rule(text, name, what, allows=allows)
    tools = TOOLS.get(name, frozenset({name}))
    if what is None or what.strip() in _ANY:
        return Rule(text, tools)
    if name in ("Bash", "bash"):
        return _read_command_rule(text, what)
    if name in ("WebFetch", "web_fetch") and what.strip().startswith("domain:"):
        try:
            domain = Domain.read(what.strip().removeprefix("domain:"))
        except ValueError as error:
            raise RuleError(f"`{text}`: {error}") from error
        return Rule(text, tools, domain=domain)
    if name in _OF_AGENTS:
        return Rule(text, tools, agent=what.strip())
    if not tools <= _OF_PATHS:
        raise RuleError(f"`{text}`: rules for `{name}` have nothing in brackets")
    try:
        return Rule(text, tools, glob=PathGlob.read(what.strip(), project))
    except (RuntimeError, ValueError) as error:
        raise RuleError(f"`{text}`: {error}") from error


def _read_server_rule(text: str, name: str, what: str | None, *, allows: bool) -> Rule:
    if what is not None and what.strip() not in _ANY:
        raise RuleError(f"`{text}`: rules for tools of servers have nothing in brackets")
    server, _, tool = name.removeprefix(_OF_SERVERS).partition("__")
    if not server or "*" in server:
        return _read_name_rule(text, name, what, allows=allows)
    if tool in ("", "*"):
        return Rule(text, frozenset(), prefix=f"{_OF_SERVERS}{server}__")
    if "*" in tool:
        return Rule(text, frozenset(), names=name)
    # Ours have no more than the server before their name.
    return Rule(text, frozenset({name, name.removeprefix(_OF_SERVERS)}))


def _read_name_rule(text: str, name: str, what: str | None, *, allows: bool) -> Rule:
    if allows or "*" not in name:
        raise RuleError(f"`{text}` names no tool")
    if what is not None and what.strip() not in _ANY:
        raise RuleError(f"`{text}`: rules for several tools have nothing in brackets")
    return Rule(text, frozenset(), names=name)


def _read_command_rule(text: str, what: str) -> Rule:
    try:
        return Rule(text, TOOLS["Bash"], command=CommandPattern.read(what))
    except (ShellDenied, ValueError) as error:
        raise RuleError(f"`{text}`: {error}") from error


def tool_of_rule(text: str) -> frozenset[str] | None:
    """Return the tools that a rule is about which is not understood; None for any."""
    found = re.match(r"\s*([A-Za-z_][\w.-]*)(?![*?\w])", text)
    if found is None:
        return None
    return TOOLS.get(found[1], frozenset({found[1]}))


def find_allowing(rules: Iterable[Rule], call: Call) -> tuple[Rule, ...] | None:
    """Return the rules that allow a call together; None if a part of it is not allowed.

    Each part of a command must be allowed, or be known to change nothing; each path must be.
    """
    about = [each for each in rules if each.is_about(call.name)]
    for rule in about:
        if rule.is_whole:
            return (rule,)
    if call.line is not None:
        return _allow_parts([each for each in about if each.command is not None], call)
    if any(each.domain is not None for each in about):
        return _allow_address(about, call)
    if (rule := next((each for each in about if _means_agent(each, call)), None)) is not None:
        return (rule,)
    if not call.paths:
        return None
    used: list[Rule] = []
    for path in call.paths:
        meant = (
            each for each in about if each.glob and all(map(each.glob.is_match, path.spellings))
        )
        if (rule := next(meant, None)) is None:
            return None
        used.append(rule)
    return tuple(dict.fromkeys(used))


def _allow_parts(rules: Sequence[Rule], call: Call) -> tuple[Rule, ...] | None:
    if call.line is None or call.line.parts is None:
        return None
    used: list[Rule] = []
    for words in call.line.parts:
        rule = next(
            (each for each in rules if each.command and each.command.is_allowed(words)), None
        )
        if rule is not None:
            used.append(rule)
        elif not only_reads(_write_words(words), call.directory):
            return None
    return tuple(dict.fromkeys(used)) or None


def _allow_address(rules: Sequence[Rule], call: Call) -> tuple[Rule, ...] | None:
    url = call.arguments.get("url")
    rule = next((each for each in rules if each.domain and each.domain.has_url(url)), None)
    return None if rule is None else (rule,)


def _write_words(words: Sequence[str]) -> str:
    quoted = (each.replace("'", "'\\''") for each in words)
    return " ".join(f"'{each}'" for each in quoted)


def find_meaning(rules: Iterable[Rule], call: Call) -> tuple[Rule, bool] | None:
    """Return the first rule that means a part of a call, and whether that is certain.

    It is not certain where a command cannot be read in parts, or runs another one, and the program
    of the rule is named in it, or may be; where it may be written otherwise; and where a host may be
    another one.
    """
    unsure: Rule | None = None
    for rule in rules:
        if not rule.is_about(call.name):
            continue
        if rule.is_whole or _means_path(rule, call) or _means_agent(rule, call):
            return rule, True
        if rule.domain is not None:
            certain, may = _find_address(rule.domain, call)
        elif rule.command is not None and call.line is not None:
            parts = call.line.parts or ()
            certain = any(map(rule.command.is_meant, parts))
            may = any(map(rule.command.may_mean, parts)) or _may_hide(rule.command, call)
        else:
            continue
        if certain:
            return rule, True
        if may:
            unsure = unsure or rule
    return None if unsure is None else (unsure, False)


def _may_hide(command: CommandPattern, call: Call) -> bool:
    """Whether a command of a line that does not name it by itself may run."""
    line = call.line
    if line is None:
        return False
    if hides_program(line):
        return True
    if line.parts is not None and not any(map(runs_others, line.parts)):
        return False
    return command.program is None or line.names_program(command.program)


def _find_address(domain: Domain, call: Call) -> tuple[bool, bool]:
    """Whether a call reaches a host of a domain, and whether it may."""
    if call.line is not None:
        return False, domain.is_named_in(call.line.text)
    url = call.arguments.get("url")
    return domain.has_url(url), domain.may_have_url(url)


def _means_path(rule: Rule, call: Call) -> bool:
    # Where file names differ by case alone, more is meant than was said, never less.
    return rule.glob is not None and any(
        rule.glob.is_match(spelling, ignores_case=True)
        for path in call.paths
        for spelling in path.spellings
    )


def _means_agent(rule: Rule, call: Call) -> bool:
    """Whether a call begins a task of a sub-agent that is meant; what goes on has begun as one."""
    if rule.agent is None or call.arguments.get("action", "start") != "start":
        return False
    agent = call.arguments.get("agent")
    return isinstance(agent, str) and fnmatchcase(agent, rule.agent)
