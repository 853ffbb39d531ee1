"""Path containment: reading and writing only beneath one directory."""

from amplifier_core._engine import (
    LineWindow,
    PathPolicy,
    SearchReport,
    Walk,
    log_path,
    secret_places,
)
from amplifier_guard.guard_error import GuardError

__all__ = [
    "AttributeNotKept",
    "LineWindow",
    "NotText",
    "PathChanged",
    "PathDenied",
    "PathPolicy",
    "PathProtected",
    "SearchReport",
    "Walk",
    "log_path",
    "secret_places",
]


class PathDenied(GuardError, PermissionError):
    """A path that leads outside the root, or to something that is never opened, such as a pipe."""


class PathProtected(PathDenied):
    """A file that decides what runs or holds secrets: it is written only with approval."""


class PathChanged(GuardError, OSError):
    """A file that is not the one that the caller expects to change."""


class AttributeNotKept(PathDenied):
    """A file whose owner, mode or attributes the one that replaces it cannot have."""


class NotText(ValueError):
    """A file that was requested as text and contains a NUL byte."""
