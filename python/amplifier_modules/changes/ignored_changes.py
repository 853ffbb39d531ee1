"""Changes of files that git ignores, which are kept for the last few commands alone."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from .change import ChangeError
from .change_opener import ChangeOpener
from .recorded_change import RecordedChange
from .session_notes import SessionNotes

MAX_COMMANDS = 5
"""Commands whose changes are kept, whatever they changed."""
MIN_BYTES = 2**20
"""What takes less is kept: to ask git about it costs more than that is worth."""


def remove_ignored(notes: SessionNotes, opener: ChangeOpener) -> None:
    """Remove older changes that changed nothing but what git ignores.

    Args:
        notes: Those of the session, which has its lock.
        opener: Opens them.
    """
    commands = [each for each in notes.load() if each.is_done and each.is_command]
    for each in commands[:-MAX_COMMANDS]:
        if each.removed is not None or each.has_unignored or each.size < MIN_BYTES:
            continue
        if _is_ignored(each, opener):
            notes.remove_versions(each, "ignored")
        else:
            notes.replace(replace(each, has_unignored=True))


def _is_ignored(recorded: RecordedChange, opener: ChangeOpener) -> bool:
    """Whether git ignores all that a change did; not if that cannot be found."""
    try:
        tops = _find_tops(each.path for each in opener.open(recorded).list_paths())
        return bool(tops) and tops <= {*opener.find_ignored(recorded.project, [*tops])}
    except ChangeError:
        return False


def _find_tops(paths: Iterable[str]) -> set[str]:
    """Return the paths whose folder is not among them: what lies in an ignored one is ignored."""
    known = set(paths)
    return {each for each in known if os.path.dirname(each) not in known}
