"""Files of repositories that decide what git runs."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Sequence

from amplifier_modules.changes.change import ChangedPath

from .folded_name import fold_name, fold_names
from .git_config import GitConfigError
from .git_keys import find_changed_keys, show_key
from .held_file import is_held
from .plain_file import read_plain_file
from .repositories import ClosedFileError, Repositories, is_head, read_settings

_MAX_KEYS = 5
_GIT_NAMES = frozenset({".git", "git~1"})
_DATA = frozenset({"refs", "logs", "objects"})
"""Folders of a repository whose names are those of branches and objects."""
_INNER = frozenset({"modules", "worktrees"})
"""Folders of a repository in which others are."""
_SETTINGS = ("config", "config.worktree")
_HEADS = (["refs", "remotes"], ["logs", "refs"])
_EXECUTES = re.compile(rb"^[ \t]*(x|exec)[ \t]", re.MULTILINE)
_OTHERS = stat.S_IWGRP | stat.S_IWOTH

RUNS_HOOK = "git runs it by itself"
RUNS_LATER = "git runs commands that it names when a rebase goes on"
REDIRECTS = "it leads git to another repository, or to other settings"
IS_REPOSITORY = "it makes its folder a repository, and git runs what the settings there say"
IS_UNREADABLE = "it cannot be read as settings of git, so that nobody knows what git would run"
IS_CLOSED = "its mode keeps everybody from reading what git would run if it were another"
IS_OPENED = "others of this machine could write it, and so say what git runs"
IS_LED_TO = "settings of git name it, or a folder that it is in"
IS_HELD = "a program that still runs has it open, and could change it afterwards"
LOSES_REPOSITORY = "the repository would be deleted, with its history"


def judge_git_file(change: ChangedPath, repositories: Repositories) -> str | None:
    """Return why a person must agree to a change of a repository; None if nobody must."""
    names = fold_names(change.path)
    places = [place for place, name in enumerate(names) if name in _GIT_NAMES]
    if not places:
        return _judge_elsewhere(change, repositories)
    if names[1:] == ["head"] and places == [0] and change.kind == "deleted":
        return LOSES_REPOSITORY
    # In a repository can be another one, to which a link may lead.
    reasons = (_judge_inside(change, names[place + 1 :], repositories) for place in places)
    return next(filter(None, reasons), None)


def is_in_git_folder(names: Sequence[str]) -> bool:
    """Whether folded names are those of a repository, or of what is in it."""
    return not _GIT_NAMES.isdisjoint(names)


def judge_settings(change: ChangedPath, repositories: Repositories) -> str | None:
    """Return why a person must agree to a change of git's settings; None if nobody must."""
    try:
        before, after = read_settings(change.before), read_settings(change.after)
    except ClosedFileError:
        return IS_CLOSED
    except GitConfigError:
        return IS_UNREADABLE
    if _is_opened(change):
        return IS_OPENED
    folder = posixpath.dirname(change.path)
    keys = find_changed_keys(
        before, after, folder, lambda address: repositories.leads_out(address, change.path)
    )
    if not keys:
        return None
    shown = ", ".join(f"`{show_key(key)}`" for key in keys[:_MAX_KEYS])
    rest = f" and {len(keys) - _MAX_KEYS} more" if len(keys) > _MAX_KEYS else ""
    return f"{shown}{rest} would change: this decides what git runs, or where it connects to"


def _judge_elsewhere(change: ChangedPath, repositories: Repositories) -> str | None:
    """Judge what may be of a repository without a folder `.git`."""
    if repositories.is_led_to(change.path):
        return IS_LED_TO
    if change.type == "link" and change.before and repositories.is_at(change.path):
        return REDIRECTS
    inside = repositories.find_inside(change.path)
    if inside is not None:
        folded = [fold_name(each) for each in inside]
        return None if folded == ["head"] else _judge_inside(change, folded, repositories)
    name = fold_name(posixpath.basename(change.path))
    if name == "head" and change.after is not None:
        return IS_REPOSITORY if is_head(change.after) else None
    return _judge_readable(change, repositories) if name == "config" else None


def _judge_inside(
    change: ChangedPath, inside: Sequence[str], repositories: Repositories
) -> str | None:
    """Judge by the folded names from the folder of a repository."""
    if change.type == "link":
        return REDIRECTS
    if change.is_plain_folder:
        return None
    if inside and inside[0] in _DATA:
        return _judge_data(change, inside, repositories)
    if change.type == "file" and change.after is not None and is_held(change.after):
        return IS_HELD
    if not inside:
        return _judge_leading_file(change)
    if _is_hook(inside):
        return None if inside[-1].endswith(".sample") else RUNS_HOOK
    is_usual = len(inside) == 1 or inside[0] in _INNER
    name = inside[-1]
    if name in _SETTINGS:
        judge = judge_settings if is_usual else _judge_readable
        return judge(change, repositories)
    if name == "head" and not is_usual:
        return IS_REPOSITORY
    if name == "commondir":
        return None if inside[0] in _INNER and _is_new_worktree(change) else REDIRECTS
    if name == "gitdir" and is_usual and change.kind == "modified":
        return REDIRECTS
    if inside[-2:] == ["info", "attributes"]:
        return "it decides which filters and programs git uses for a file"
    if name.startswith("git-rebase-todo"):
        return RUNS_LATER if _EXECUTES.search(_read(change.after)) else None
    return None


def _judge_data(
    change: ChangedPath, inside: Sequence[str], repositories: Repositories
) -> str | None:
    """Judge a file among branches and objects: only one that git itself never puts there."""
    name = inside[-1]
    if change.after is None:
        return None
    if name == "head" and inside != ["logs", "head"] and list(inside[:2]) not in _HEADS:
        return IS_REPOSITORY
    if name == "commondir" and not is_head(change.after):
        return REDIRECTS
    if name in _SETTINGS:
        return _judge_readable(change, repositories)
    return RUNS_HOOK if _read_mode(change.after) & stat.S_IXUSR else None


def _judge_readable(change: ChangedPath, repositories: Repositories) -> str | None:
    """Judge a file that may be settings, or something else of that name."""
    reason = judge_settings(change, repositories) if change.type == "file" else None
    return None if reason == IS_UNREADABLE else reason


def _is_hook(inside: Sequence[str]) -> bool:
    # The first name in `worktrees` is that of a branch, most often.
    return "hooks" in (inside[2:] if inside[0] == "worktrees" else inside)


def _is_opened(change: ChangedPath) -> bool:
    """Whether others may write a file who could not before."""
    if change.before is None or change.after is None:
        return False
    return bool(_read_mode(change.after) & ~_read_mode(change.before) & _OTHERS)


def _judge_leading_file(change: ChangedPath) -> str | None:
    """Judge a file `.git`, which leads to the repository of a submodule or a worktree."""
    if change.kind != "created":
        return REDIRECTS
    content = _read(change.after)
    target = os.fsdecode(content.removeprefix(b"gitdir:").strip())
    inner = posixpath.normpath(posixpath.join(posixpath.dirname(change.path), target))
    is_ours = content.startswith(b"gitdir:") and not os.path.isabs(target)
    return None if is_ours and inner.startswith((".git/modules/", ".git/worktrees/")) else REDIRECTS


def _is_new_worktree(change: ChangedPath) -> bool:
    """Whether a file `commondir` leads where git has it lead."""
    return change.kind == "created" and _read(change.after).strip() == b"../.."


def _read(path: str | None) -> bytes:
    """Return what a file holds; of one that is closed what asks."""
    try:
        return read_plain_file(path) or b""
    except PermissionError:
        return b"exec closed"


def _read_mode(path: str) -> int:
    """Return the mode of a file; of one in a closed folder all of them."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO
