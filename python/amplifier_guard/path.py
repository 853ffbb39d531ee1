"""Path containment: reading and writing beneath one directory and nowhere else."""

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
    """A path that leads outside the root, or to something never read or written, such as a pipe."""


class PathProtected(PathDenied):
    """A file that decides what runs or keeps secrets: written only when a person agreed."""


class NotText(ValueError):
    """A file that was asked for as text and holds a NUL byte."""
