"""What is raised where a session breaks a promise."""

from __future__ import annotations


class BrokenPromiseError(Exception):
    """Something that must hold in every session does not."""
