"""The base class of everything that the guard refuses."""

from __future__ import annotations


class GuardError(Exception):
    """Something that the guard refuses; each kind is an error of the standard library, too.

    Args:
        *args: What was found, as for any exception.
        hint: What to do about it; None if there is no advice.
    """

    def __init__(self, *args: object, hint: str | None = None) -> None:
        super().__init__(*args)
        self.hint = hint
