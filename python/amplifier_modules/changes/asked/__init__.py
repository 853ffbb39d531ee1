"""What a person reads of changes before they get into a project."""

from .change_question import ChangeQuestion, clip_line
from .file_hunks import (
    FileHunks,
    add_hunk_names,
    describe_hunks,
    find_file_hunks,
    limit_hunks,
)
from .part_hunks import HunkError, find_part_hunks, is_shown, merge_hunks
from .parts import Part, list_parts

__all__ = [
    "ChangeQuestion",
    "FileHunks",
    "HunkError",
    "Part",
    "add_hunk_names",
    "clip_line",
    "describe_hunks",
    "find_file_hunks",
    "find_part_hunks",
    "is_shown",
    "limit_hunks",
    "list_parts",
    "merge_hunks",
]
