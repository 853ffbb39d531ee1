"""What a person reads of changes before they get into a project."""

from .change_question import ChangeQuestion
from .parts import Part, list_parts

__all__ = ["ChangeQuestion", "Part", "list_parts"]
