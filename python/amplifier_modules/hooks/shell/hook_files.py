"""Hooks as they are written: `{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", …}]}]}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .settings import MAX_SECONDS

CALL_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure"})
"""Those whose matchers mean tools."""
JUDGING = frozenset({"PreToolUse", "UserPromptSubmit"})
"""Those whose hooks decide whether something happens."""
EVENTS = CALL_EVENTS | {
    "Notification",
    "SessionEnd",
    "SessionStart",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "UserPromptSubmit",
}
"""The events of Claude Code that we have."""
_WITHOUT_MATCHER = frozenset({"Stop", "UserPromptSubmit"})
_ANY = ("", "*")
_NAMES = re.compile(r"[\w, |-]+")
_KEYS = frozenset({"type", "command", "timeout", "statusMessage"})


class HookFormatError(ValueError):
    """Hooks that are not in the format of Claude Code."""


@dataclass(frozen=True)
class ShellHook:
    """A command that is run at an event."""

    event: str
    matcher: str
    """As it is written."""
    command: str
    timeout: float | None = None
    of_project: bool = False
    """Whether a project brings it along."""

    @property
    def judges(self) -> bool:
        """Whether it decides if something happens."""
        return self.event in JUDGING

    def is_about(self, names: Iterable[str]) -> bool:
        """Whether its matcher means something that has one of these names.

        One that cannot be read means everything: whoever wrote it wanted to see more than nothing.
        """
        if self.event in _WITHOUT_MATCHER or self.matcher in _ANY:
            return True
        if _NAMES.fullmatch(self.matcher):
            listed = {each.strip() for each in re.split(r"[|,]", self.matcher)}
            return not listed.isdisjoint(names)
        try:
            expression = re.compile(self.matcher)
        except (re.error, RecursionError, OverflowError):
            return True
        return any(expression.search(each) for each in names)


@dataclass
class WrittenHooks:
    """The hooks of one place, and what is said of those that cannot be run."""

    hooks: list[ShellHook] = field(default_factory=list[ShellHook])
    problems: list[str] = field(default_factory=list[str])


def read_hooks(written: Any, place: str, *, of_project: bool = False) -> WrittenHooks:
    """Read hooks.

    Args:
        written: What is under the key `hooks`.
        place: Where it is, for messages.
        of_project: Whether a project brings it along.

    Raises:
        HookFormatError: It is in another format.
    """
    found = WrittenHooks()
    for event, groups in _check(written, dict, f"`hooks` of {place}").items():
        if event not in EVENTS:
            found.problems.append(f"`{event}` of {place} is no event here: its hooks never run")
            continue
        where = f"`{event}` of {place}"
        for group in _check(groups, list, where):
            matcher = _check(group, dict, f"an entry of {where}").get("matcher", "")
            _check(matcher, str, f"a `matcher` of {where}")
            if problem := _find_problem(event, matcher):
                found.problems.append(f"the matcher `{matcher}` of {where} {problem}")
            for entry in _check(group.get("hooks"), list, f"`hooks` of an entry of {where}"):
                _read_hook(entry, event, matcher, where, found, of_project=of_project)
    found.hooks = list(dict.fromkeys(found.hooks))
    return found


def _read_hook(
    entry: Any, event: str, matcher: str, where: str, found: WrittenHooks, *, of_project: bool
) -> None:
    hook: Mapping[str, Any] = _check(entry, dict, f"a hook of {where}")
    if hook.get("type", "command") != "command" or "args" in hook:
        kind = hook.get("type") if "args" not in hook else "command with `args`"
        found.problems.append(f"a hook of {where} never runs: its type `{kind}` is not known here")
        return
    command = _check(hook.get("command"), str, f"`command` of a hook of {where}")
    if not command.strip() or "\0" in command:
        raise HookFormatError(f"`command` of a hook of {where} is no command")
    timeout = hook.get("timeout")
    if timeout is not None and (
        isinstance(timeout, bool)
        or not isinstance(timeout, int | float)
        or not 0 < timeout <= MAX_SECONDS
    ):
        raise HookFormatError(
            f"`timeout` of a hook of {where} must be more than 0 and at most {MAX_SECONDS:.0f} seconds"
        )
    if others := sorted(hook.keys() - _KEYS):
        listed = ", ".join(f"`{each}`" for each in others)
        found.problems.append(f"a hook of {where} has {listed}, which does nothing here")
    seconds = None if timeout is None else float(timeout)
    found.hooks.append(ShellHook(event, matcher, command, seconds, of_project))


def _find_problem(event: str, matcher: str) -> str | None:
    if matcher in _ANY:
        return None
    if event in _WITHOUT_MATCHER:
        return "does nothing: the event has none"
    if event in ("SubagentStart", "SubagentStop"):
        return "means no sub-agent here: they have no types"
    try:
        re.compile(matcher)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is no regular expression, and means everything: {error}"
    return None


def _check(value: Any, kind: type, what: str) -> Any:
    """Return a value of this type.

    Raises:
        HookFormatError: It has another one.
    """
    if not isinstance(value, kind):
        names = {dict: "an object", list: "a list", str: "a text"}
        raise HookFormatError(f"{what} is no {names[kind].split()[1]} (must be {names[kind]})")
    return value
