"""Rules such as `Bash(git push:*)` and `Edit(src/**)`: what they say, and which calls they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from amplifier_guard import ShellDenied, read_command

from .calls import Call
from .command_line import only_reads, program_of, runs_others
from .globs import PathGlob

_READING = frozenset({"glob", "grep", "list_directory", "read_file"})
_WRITING = frozenset({"apply_patch", "edit_file", "write_file"})
TOOLS = {
    "Agent": frozenset({"task"}),
    "Bash": frozenset({"bash"}),
    "Edit": _WRITING,
    "Glob": frozenset({"glob"}),
    "Grep": frozenset({"grep"}),
    "LS": frozenset({"list_directory"}),
    "MultiEdit": _WRITING,
    "NotebookEdit": _WRITING,
    "Read": _READING,
    "Task": frozenset({"task"}),
    "WebFetch": frozenset({"web_fetch"}),
    "WebSearch": frozenset({"web_search"}),
    "Write": _WRITING,
}
"""Our tools by the names that rules have for them."""
_OF_PATHS = _READING | _WRITING
_FORM = re.compile(r"([A-Za-z_][\w.*-]*)(?:\((.*)\))?", re.DOTALL)
_ANY = frozenset({"", "*", "**", ":*"})


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
    words: tuple[str, ...] | None = None
    """The words of a command; None for a rule about anything else, or about every command."""
    is_exact: bool = False
    """Whether the command has no more words."""
    glob: PathGlob | None = None
    """The paths; None for a rule about anything else, or about every path."""

    @property
    def is_whole(self) -> bool:
        """Whether it means every call of its tools."""
        return self.words is None and self.glob is None

    def is_about(self, tool: str) -> bool:
        """Whether it is about a tool."""
        return tool in self.tools or (self.prefix is not None and tool.startswith(self.prefix))

    def means_command(self, words: Sequence[str]) -> bool:
        """Whether it means a command of these words."""
        if self.words is None:
            return True
        given = tuple(words) if self.is_exact else tuple(words[: len(self.words)])
        return given == self.words


def read_rule(text: str, project: Path) -> Rule:
    """Read a rule.

    Args:
        text: The rule.
        project: What paths are counted from.

    Raises:
        RuleError: It is not understood.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise RuleError(f"`{text}` has not the form `Tool` or `Tool(what)`")
    name, what = found[1], found[2]
    if name.startswith("mcp__"):
        return _read_server_rule(text, name, what)
    if "*" in name:
        raise RuleError(f"`{text}` names no tool")
    tools = TOOLS.get(name, frozenset({name}))
    if what is None or what.strip() in _ANY:
        return Rule(text, tools)
    if name in ("Bash", "bash"):
        return _read_command_rule(text, what)
    if not tools <= _OF_PATHS:
        raise RuleError(f"`{text}`: rules for `{name}` have nothing in brackets")
    try:
        return Rule(text, tools, glob=PathGlob.read(what.strip(), project))
    except (RuntimeError, ValueError) as error:
        raise RuleError(f"`{text}`: {error}") from error


def _read_server_rule(text: str, name: str, what: str | None) -> Rule:
    if what is not None and what.strip() not in _ANY:
        raise RuleError(f"`{text}`: rules for tools of servers have nothing in brackets")
    server, _, tool = name.removeprefix("mcp__").partition("__")
    if not server or "*" in server or ("*" in tool and tool != "*"):
        raise RuleError(f"`{text}` names no server")
    if tool in ("", "*"):
        return Rule(text, frozenset(), prefix=f"mcp__{server}__")
    return Rule(text, frozenset({name}))


def _read_command_rule(text: str, what: str) -> Rule:
    command = re.sub(r"(:\*|\s\*)$", "", what.strip())
    try:
        words = tuple(read_command(command))
    except ShellDenied as error:
        raise RuleError(f"`{text}`: {error}") from error
    return Rule(text, TOOLS["Bash"], words=words, is_exact=command == what.strip())


def tool_of_rule(text: str) -> frozenset[str] | None:
    """Return the tools that a rule is about which is not understood; None for any."""
    found = re.match(r"\s*([A-Za-z_][\w.-]*)", text)
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
        return _allow_parts([each for each in about if each.words is not None], call)
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
        rule = next((each for each in rules if each.means_command(words)), None)
        if rule is not None:
            used.append(rule)
        elif not only_reads(_write_words(words), call.directory):
            return None
    return tuple(dict.fromkeys(used)) or None


def _write_words(words: Sequence[str]) -> str:
    quoted = (each.replace("'", "'\\''") for each in words)
    return " ".join(f"'{each}'" for each in quoted)


def find_meaning(rules: Iterable[Rule], call: Call) -> tuple[Rule, bool] | None:
    """Return the first rule that means a part of a call, and whether that is certain.

    It is not certain where a command cannot be read in parts, or runs another one, and the program
    of the rule is named in it.
    """
    unsure: Rule | None = None
    for rule in rules:
        if not rule.is_about(call.name):
            continue
        if rule.is_whole or _means_path(rule, call):
            return rule, True
        if rule.words is None or call.line is None:
            continue
        parts = call.line.parts
        if parts is not None and any(_means_part(rule, words) for words in parts):
            return rule, True
        hides = parts is None or any(map(runs_others, parts))
        if hides and call.line.names_program(program_of(rule.words)):
            unsure = unsure or rule
    return None if unsure is None else (unsure, False)


def _means_path(rule: Rule, call: Call) -> bool:
    # Where file names differ by case alone, more is meant than was said, never less.
    return rule.glob is not None and any(
        rule.glob.is_match(spelling, ignores_case=True)
        for path in call.paths
        for spelling in path.spellings
    )


def _means_part(rule: Rule, words: Sequence[str]) -> bool:
    return rule.means_command(words) or rule.means_command([program_of(words), *words[1:]])
