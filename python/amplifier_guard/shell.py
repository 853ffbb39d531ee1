"""Shell containment: which commands run without approval, and with which environment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from amplifier_core._engine import ShellPolicy, read_command
from amplifier_guard.guard_error import GuardError

__all__ = ["CHILD_VARIABLES", "ShellDenied", "ShellPolicy", "child_environment", "read_command"]

CHILD_VARIABLES = (
    "COLORTERM",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_*",
)
"""The variables that a child process gets by default; a final `*` matches any ending."""


class ShellDenied(GuardError, PermissionError):
    """A command that does not run without approval."""


def child_environment(
    environ: Mapping[str, str], allow: Iterable[str] = CHILD_VARIABLES
) -> dict[str, str]:
    """Return the variables of `environ` that `allow` names, for a child process.

    A name that ends in `*` allows all names with this beginning; a lone `*` is refused, because it
    would pass on every secret.

    Raises:
        ValueError: `allow` holds an empty name, or a `*` anywhere but at the end of a name.
    """
    names = tuple(allow)
    for name in names:
        stem = name.removesuffix("*")
        if not stem or "*" in stem:
            raise ValueError(
                f"`{name}` must be the name of a variable, or the beginning of one and `*`"
            )
    exact = frozenset(names)
    stems = tuple(name[:-1] for name in names if name.endswith("*"))
    return {
        name: value
        for name, value in environ.items()
        if name in exact or (stems and name.startswith(stems))
    }
