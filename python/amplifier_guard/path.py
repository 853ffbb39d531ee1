"""Path containment: reading and writing only beneath one directory."""

from amplifier_core._engine import LineWindow, PathPolicy, SearchReport, Walk, log_path
from amplifier_guard.guard_error import GuardError

__all__ = [
    "LineWindow",
    "NotText",
    "PathDenied",
    "PathPolicy",
    "PathProtected",
    "SearchReport",
    "Walk",
    "log_path",
]


class PathDenied(GuardError, PermissionError):
    """A path that leads outside the root, or to something that is never opened, such as a pipe."""


class PathProtected(PathDenied):
    """A file that decides what runs or holds secrets: it is written only with approval."""


class NotText(ValueError):
    """A file that was requested as text and contains a NUL byte."""
