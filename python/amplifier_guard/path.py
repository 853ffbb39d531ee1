"""Path containment: reading beneath one directory and nowhere else."""

from amplifier_core._engine import LineWindow, PathPolicy, SearchReport, Walk

__all__ = ["LineWindow", "NotText", "PathDenied", "PathPolicy", "SearchReport", "Walk"]


class PathDenied(PermissionError):
    """A path that leads outside the root, or to something that is never read, such as a pipe."""


class NotText(ValueError):
    """A file that was asked for as text and holds a NUL byte."""
