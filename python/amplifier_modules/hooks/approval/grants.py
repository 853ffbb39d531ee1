"""What a person has allowed beyond one call: a tool in this session, or a rule."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from amplifier_core.approval import Offer

from .calls import Call, Effect
from .command_line import only_reads, runs_others
from .modes import PRESENT_PLAN

_SUBCOMMAND = re.compile(r"[a-z][a-z-]*")
_INTERPRETERS = re.compile(r"(awk|lua|node|perl|php|python|ruby)[\d.]*")
_PLAIN = re.compile(r"[\w./@+,=:-]+")


class Grants:
    """The tools that are granted in a session and its sub-agents, for as long as the session goes on."""

    def __init__(self) -> None:
        """Begin with none."""
        self._tools: set[tuple[str, str]] = set()

    def add(self, session_id: str, tool: str) -> None:
        """Grant a tool in a session."""
        self._tools.add((session_id, tool))

    def describe(self) -> list[list[str]]:
        """Return them as JSON."""
        return sorted(map(list, self._tools))

    def has_tool(self, tool: str, *session_ids: str) -> bool:
        """Whether a tool is granted in one of these sessions."""
        return any((each, tool) in self._tools for each in session_ids)


def name_grant(call: Call) -> str:
    """Return what is granted for a session with a call: its tool, or of `web_fetch` its host."""
    return call.name if call.host is None else f"{call.name} {call.host}"


def make_offer(call: Call) -> Offer:
    """Return what a person may grant who is asked about a call, beyond this once."""
    if call.name == PRESENT_PLAN or call.effect is Effect.LEAVES:
        return Offer()
    if call.line is not None and getattr(call.tool, "is_confined", None) is False:
        return Offer(rule=suggest_rule(call))
    if (host := call.host) is not None:
        return Offer(for_session=True, rule=suggest_rule(call), name=host)
    if call.asks_itself:
        # About just these arguments: a file with secrets, a port, a file that decides what runs.
        return Offer()
    may_last = call.line is None or not call.is_unconfined
    return Offer(for_session=may_last, rule=suggest_rule(call))


def suggest_rule(call: Call) -> str | None:
    """Return a rule that allows a call and what is like it; None where none can be said."""
    if call.line is not None:
        return _suggest_command_rule(call)
    if (host := call.host) is not None:
        return f"WebFetch(domain:{host})"
    if call.effect is not Effect.WRITES:
        return call.name
    if len(call.paths) != 1:
        return None
    path = call.arguments.get("path")
    if not isinstance(path, str) or not _PLAIN.fullmatch(path):
        return None
    if ".." in path or path.startswith("/"):
        return None
    folder = str(PurePosixPath(path).parent)
    return f"Edit(/{path})" if folder == "." else f"Edit(/{folder}/**)"


def _suggest_command_rule(call: Call) -> str | None:
    """Return a rule for the first part that is not known to change nothing."""
    if call.line is None or call.line.parts is None:
        return None
    for words in call.line.parts:
        if not all(map(_PLAIN.fullmatch, words)):
            return None
        command = " ".join(words)
        if only_reads(command, call.directory):
            continue
        if runs_others(words) or _INTERPRETERS.fullmatch(words[0]):
            return f"Bash({command})"
        has_subcommand = len(words) > 1 and _SUBCOMMAND.fullmatch(words[1])
        return f"Bash({' '.join(words[: 2 if has_subcommand else 1])}:*)"
    return None
