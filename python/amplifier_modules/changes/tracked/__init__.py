"""The state of a project as trees in a private git store: undo where no overlay can be mounted."""

from .private_git import find_git
from .tracked_tree import TrackedTree

__all__ = ["TrackedTree", "find_git"]
