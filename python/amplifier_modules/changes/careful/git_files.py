"""Files of repositories that decide what git runs."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Sequence

from amplifier_modules.changes.change import ChangedPath

from .folded_name import fold_name
from .git_config import GitConfigError, Setting, parse_git_config
from .git_keys import find_changed_keys, show_key

_MAX_BYTES = 2**20
_MAX_KEYS = 5
_GIT_NAMES = frozenset({".git", "git~1"})
_DATA = frozenset({"refs", "logs", "objects"})
"""Folders of a repository whose names are those of branches and objects."""
_HEAD = re.compile(rb"ref: |[0-9a-f]{40}")

RUNS_HOOK = "git runs it by itself"
REDIRECTS = "it leads git to another repository, or to other settings"
IS_REPOSITORY = "it makes its folder a repository, and git runs what the settings there say"
IS_UNREADABLE = "it cannot be read as settings of git, so that nobody knows what git would run"
LOSES_REPOSITORY = "the repository would be deleted, with its history"


def find_git_folder(names: Sequence[str]) -> int | None:
    """Return which of folded names is that of a repository; None if none is."""
    return next((place for place, name in enumerate(names) if name in _GIT_NAMES), None)


def judge_git_file(change: ChangedPath) -> str | None:
    """Return why a person must agree to a change at or in `.git`; None if nobody must."""
    names = [fold_name(each) for each in change.path.split("/")]
    place = find_git_folder(names)
    if place is None:
        return None
    inside = names[place + 1 :]
    if change.type == "link":
        return REDIRECTS
    if change.type == "folder":
        return None
    if not inside:
        return _judge_leading_file(change)
    if inside == ["head"] and place == 0 and change.kind == "deleted":
        return LOSES_REPOSITORY
    if inside[0] in _DATA:
        return None
    is_hook = inside[0] == "hooks" or (inside[0] == "modules" and "hooks" in inside)
    if is_hook:
        return None if inside[-1].endswith(".sample") else RUNS_HOOK
    has_settings = len(inside) == 1 or inside[0] in ("modules", "worktrees")
    if has_settings and inside[-1] in ("config", "config.worktree"):
        return judge_settings(change)
    if inside[-1] == "commondir" and has_settings:
        return None if len(inside) > 1 and _is_new_worktree(change) else REDIRECTS
    if inside[-1] == "gitdir" and has_settings and change.kind == "modified":
        return REDIRECTS
    if inside[-2:] == ["info", "attributes"]:
        return "it decides which filters and programs git uses for a file"
    return None


def judge_bare_repository(change: ChangedPath) -> str | None:
    """Return why a person must agree to a change of a repository without a folder `.git`."""
    name = fold_name(change.path.rpartition("/")[2])
    if name == "head" and change.after is not None:
        is_head = _HEAD.match(_read(change.after) or b"") is not None
        return IS_REPOSITORY if is_head and change.type == "file" else None
    if name == "config" and change.type == "file":
        reason = judge_settings(change)
        return None if reason == IS_UNREADABLE else reason
    return None


def judge_settings(change: ChangedPath) -> str | None:
    """Return why a person must agree to a change of git's settings; None if nobody must."""
    try:
        before, after = _parse(change.before), _parse(change.after)
    except GitConfigError:
        return IS_UNREADABLE
    keys = find_changed_keys(before, after, posixpath.dirname(change.path))
    if not keys:
        return None
    shown = ", ".join(f"`{show_key(key)}`" for key in keys[:_MAX_KEYS])
    rest = f" and {len(keys) - _MAX_KEYS} more" if len(keys) > _MAX_KEYS else ""
    return f"{shown}{rest} would change: this decides what git runs, or where it connects to"


def _judge_leading_file(change: ChangedPath) -> str | None:
    """Judge a file `.git`, which leads to the repository of a submodule or a worktree."""
    if change.kind != "created":
        return REDIRECTS
    content = _read(change.after) or b""
    target = os.fsdecode(content.removeprefix(b"gitdir:").strip())
    inner = posixpath.normpath(posixpath.join(posixpath.dirname(change.path), target))
    is_ours = content.startswith(b"gitdir:") and not os.path.isabs(target)
    return None if is_ours and inner.startswith((".git/modules/", ".git/worktrees/")) else REDIRECTS


def _is_new_worktree(change: ChangedPath) -> bool:
    """Whether a file `commondir` leads where git has it lead."""
    return change.kind == "created" and (_read(change.after) or b"").strip() == b"../.."


def _parse(path: str | None) -> list[Setting]:
    if path is None:
        return []
    content = _read(path)
    if content is None:
        raise GitConfigError("it cannot be read")
    return parse_git_config(content)


def _read(path: str | None) -> bytes | None:
    """Return what a regular file holds; None if it is none, or too large for settings."""
    if path is None:
        return None
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(file, "rb", closefd=True) as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        content = opened.read(_MAX_BYTES + 1)
    return content if len(content) <= _MAX_BYTES else None
