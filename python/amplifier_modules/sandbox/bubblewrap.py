"""The same file system and namespaces as arguments of bubblewrap, for machines that allow only it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from shutil import which
from typing import Any

_NAMESPACES = ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net")
_TEMPORARY = ("/tmp", "/var/tmp")
_KERNEL_PLACES = (
    *("/sys/firmware", "/sys/fs/bpf", "/sys/kernel/config", "/sys/kernel/debug"),
    *("/sys/kernel/security", "/sys/kernel/tracing"),
    *("/proc/kcore", "/proc/key-users", "/proc/keys"),
)


def find_bubblewrap() -> str | None:
    """Return the path of the system's bubblewrap; None if it has none.

    One of somebody else may not make namespaces either, where the system allows it by its path.
    """
    return which("bwrap", path="/usr/bin:/bin:/usr/local/bin")


def describe_mounts(plan: Mapping[str, Any]) -> list[str]:
    """Return the arguments that mount what the plan of a launch says."""
    arguments = ["--die-with-parent", *_NAMESPACES, "--ro-bind", "/", "/"]
    arguments += ["--dev", "/dev", "--proc", "/proc"]
    for path in _TEMPORARY:
        arguments += ["--bind", plan["temporary"], path]
    for path in plan["shown"]:
        arguments += ["--ro-bind", path, path]
    for path in (*plan["writable"], *plan["kept"]):
        arguments += ["--bind-try", path, path]
    for path in plan["read_only"]:
        arguments += ["--ro-bind-try", path, path]
    for path in (*_list_outermost(plan["hidden"]), *_KERNEL_PLACES):
        arguments += _hide(path)
    return arguments


def _list_outermost(paths: Collection[str]) -> list[str]:
    """Leave out what lies in another one: there is nothing in that to hide it in."""
    return [
        path
        for path in dict.fromkeys(paths)
        if not any(
            path.startswith(f"{each.rstrip('/')}/") and os.path.isdir(each) for each in paths
        )
    ]


def _hide(path: str) -> list[str]:
    if os.path.isdir(path):
        return ["--perms", "0000", "--tmpfs", path, "--remount-ro", path]
    # What is bound is no device there, and so cannot be opened.
    return ["--ro-bind", "/dev/null", path] if os.path.exists(path) else []
