"""What a person must agree to before the changes of a command reach a project."""

from .careful_changes import CarefulChange, find_careful_changes

__all__ = ["CarefulChange", "find_careful_changes"]
