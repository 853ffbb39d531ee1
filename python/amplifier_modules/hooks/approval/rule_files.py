"""The files that hold rules: the user's settings, and what a project brings along.

Both have `{"permissions": {"allow": […], "ask": […], "deny": […]}}`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from amplifier_modules.hooks.settings_file import (
    SettingsFileError,
    hold,
    read_object,
    write_object,
)
from amplifier_modules.running.user_folders import find_config_folder

PROJECT_FILES = (".claude/settings.json", ".claude/settings.local.json")
"""The files of a project, counted from its root."""
_TRUSTED = "project-rules.json"
_LISTS = ("allow", "ask", "deny")


class RuleFileError(SettingsFileError):
    """A file that holds something else than rules."""


@dataclass
class WrittenRules:
    """The rules of a file, not yet read."""

    allow: list[str] = field(default_factory=list[str])
    ask: list[str] = field(default_factory=list[str])
    deny: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])
    """What could not be used of the file."""


def read_rules(path: Path) -> WrittenRules:
    """Return the rules of a file; one that is not there has none."""
    try:
        content = read_object(path)
    except FileNotFoundError:
        return WrittenRules()
    except (OSError, ValueError, RecursionError) as error:
        return WrittenRules(problems=[f"`{path}` has no rules that can be read: {error}"])
    rules, permissions = WrittenRules(), content.get("permissions", {})
    if not isinstance(permissions, dict):
        return WrittenRules(problems=[f"`permissions` of `{path}` is no object"])
    for name in _LISTS:
        listed: Any = cast("dict[str, Any]", permissions).get(name, [])
        if not isinstance(listed, list) or not all(
            isinstance(each, str) for each in cast("list[Any]", listed)
        ):
            rules.problems.append(f"`permissions.{name}` of `{path}` is no list of texts")
            continue
        getattr(rules, name).extend(cast("list[str]", listed))
    return rules


def read_project_rules(project: Path) -> WrittenRules:
    """Return the rules of all files of a project together."""
    together = WrittenRules()
    for name in PROJECT_FILES:
        rules = read_rules(project / name)
        for each in (*_LISTS, "problems"):
            getattr(together, each).extend(getattr(rules, each))
    return together


def add_user_rule(path: Path, rule: str) -> None:
    """Add a rule to `allow` of the user's settings, and leave the rest as it is.

    Raises:
        OSError: The file cannot be read or written.
        RuleFileError: It holds something else than settings.
    """
    with hold(path):
        try:
            content = read_object(path)
        except FileNotFoundError:
            content = {}
        permissions = content.setdefault("permissions", {})
        if not isinstance(permissions, dict):
            raise RuleFileError(f"`permissions` of `{path}` is no object")
        allow: Any = cast("dict[str, Any]", permissions).setdefault("allow", [])
        if not isinstance(allow, list):
            raise RuleFileError(f"`permissions.allow` of `{path}` is no list")
        if rule not in allow:
            cast("list[Any]", allow).append(rule)
            write_object(path, content)


def is_trusted(project: Path, allow: list[str], state: Path) -> bool | None:
    """Whether the user agreed to what a project allows; None if nobody was asked about just this."""
    entry: Any = _read_answers(state).get(str(project))
    if not isinstance(entry, dict):
        return None
    answer = cast("dict[str, Any]", entry)
    if answer.get("hash") != hash_rules(allow):
        return None
    return answer.get("trusted") is True


def remember_trust(project: Path, allow: list[str], state: Path, *, trusted: bool) -> None:
    """Remember whether the user agrees to what a project allows.

    Raises:
        OSError: It cannot be written.
    """
    with hold(state / _TRUSTED):
        answers = _read_answers(state)
        answers[str(project)] = {"hash": hash_rules(allow), "trusted": trusted}
        write_object(state / _TRUSTED, answers)


def hash_rules(rules: list[str]) -> str:
    """Return the hash of a list of rules: that of another list is another one."""
    return hashlib.sha256(json.dumps(rules).encode()).hexdigest()


def find_user_settings(environment: Mapping[str, str]) -> Path | None:
    """Return the place of the user's settings; None if the user has no home."""
    folder = find_config_folder(environment)
    return None if folder is None else folder / "settings.json"


def _read_answers(state: Path) -> dict[str, Any]:
    try:
        return read_object(state / _TRUSTED)
    except (OSError, ValueError, RecursionError):
        return {}  # then the user is asked again
