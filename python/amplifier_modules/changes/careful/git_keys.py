"""Settings of git that run a program, or redirect where git reads, writes or connects."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable

from .git_config import Setting

_FREE = frozenset({"user", "branch"})
_SECTIONS = frozenset(
    [
        "alias",
        "browser",
        "bundle",
        "credential",
        "diff",
        "difftool",
        "filter",
        "gpg",
        "guitool",
        "hook",
        "http",
        "imap",
        "include",
        "includeif",
        "instaweb",
        "lfs",
        "man",
        "merge",
        "mergetool",
        "pager",
        "protocol",
        "sendemail",
        "tar",
        "url",
    ]
)
"""All settings of these count."""
_KEYS = frozenset(
    [
        "core.alternaterefscommand",
        "core.askpass",
        "core.attributesfile",
        "core.editor",
        "core.fsmonitor",
        "core.gitproxy",
        "core.hookspath",
        "core.pager",
        "core.sshcommand",
        "core.worktree",
        "fetch.bundleuri",
        "gc.recentobjectshook",
        "help.browser",
        "init.templatedir",
        "interactive.difffilter",
        "remote.proxy",
        "remote.receivepack",
        "remote.uploadpack",
        "remote.vcs",
        "sequence.editor",
        "submodule.update",
        "trailer.cmd",
        "trailer.command",
        "transfer.bundleuri",
        "uploadpack.packobjectshook",
        "web.browser",
    ]
)
"""Section and name, without what is between them."""
_NAMES = re.compile(
    "(askpass|browser|cmd|command|driver|editor|helper|hook|hookspath|pager|program|proxy|textconv)$"
)
"""Other programs have settings there too."""
_ADDRESSES = frozenset({"remote.pushurl", "remote.url"})
_MAY_HOLD_PASSWORDS = frozenset({"credential", "http", "url"})


def has_effect(key: str) -> bool:
    """Whether a setting runs or redirects something."""
    section, _, name = split_key(key)
    if section in _FREE:
        return False
    if section in _SECTIONS or f"{section}.{name}" in _KEYS:
        return True
    return _NAMES.search(name) is not None


def find_changed_keys(
    before: Iterable[Setting],
    after: Iterable[Setting],
    folder: str,
    leads_out: Callable[[str], bool] = lambda _: False,
) -> list[str]:
    """Return the keys that count and whose values differ, sorted.

    Args:
        before: The settings from before.
        after: The settings of the change.
        folder: Where the file is, from the project.
        leads_out: Whether the address of a remote is a folder in which hooks could be planted.
    """
    old, new = (_collect(each, folder, leads_out) for each in (before, after))
    return sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))


def show_key(key: str) -> str:
    """Return a key as a person reads it, without what may be a password."""
    section, middle, name = split_key(key)
    if not middle:
        return f"{section}.{name}"
    return f"{section}.{'*' if section in _MAY_HOLD_PASSWORDS else middle}.{name}"


def split_key(key: str) -> tuple[str, str, str]:
    """Return the section, what is between, and the name; the first and last in lower case."""
    section, _, rest = key.partition(".")
    middle, _, name = rest.rpartition(".")
    return section.lower(), middle, name.lower()


def _collect(
    settings: Iterable[Setting], folder: str, leads_out: Callable[[str], bool]
) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for key, value in settings:
        section, _, name = split_key(key)
        is_planted = f"{section}.{name}" in _ADDRESSES and value is not None and leads_out(value)
        if is_planted or (has_effect(key) and not _is_checkout(key, value, folder)):
            found.setdefault(key, []).append(value)
    return found


def _is_checkout(key: str, value: str | None, folder: str) -> bool:
    """Whether a submodule is checked out in its project, as git itself sets it."""
    if key != "core.worktree" or not value or "/modules/" not in f"/{folder}/":
        return False
    target = posixpath.normpath(posixpath.join(folder, value)).split("/")
    return not value.startswith("/") and not {".", "..", ".git"} & set(target)
