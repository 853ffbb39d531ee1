"""What a person must agree to before the changes of a command reach a project."""

from .careful_changes import CarefulChange, find_careful_changes
from .chosen_paths import choose_paths

__all__ = ["CarefulChange", "choose_paths", "find_careful_changes"]
