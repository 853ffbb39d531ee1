"""What the demo model has changed in a turn, as its calls and their results say, and the way back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from shlex import quote

from .edit_progress import EDIT, RUN, WRITE
from .foreign import read_items, read_mapping, read_text
from .seen_file import LOOK, File, read_file_result, unify_text
from .turn import Call, Result, Turn, new_call
from .undo_request import asks_to_undo

PATCH = "apply_patch"
_CHANGED_SINCE = "it is not as I left it"


@dataclass
class OwnChange:
    """What was done to one file."""

    path: str
    before: str | None = None
    """What it held; None if it was not there, or that is not known."""
    after: str | None = None
    """What it was left with; None if that is not known."""
    is_new: bool = False
    edits: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """The old and the new text of each edit, in their order."""
    is_edited: bool = True
    """Whether nothing but edits of one place each was made."""

    def add(self, result: Result) -> None:
        """Add a write that was made."""
        given = result.call.input
        if result.call.name == WRITE:
            self.is_new = self.is_new or result.data.get("kind") == "created"
            self.after, self.is_edited = unify_text(given.get("content")), False
            return
        for each in map(read_mapping, read_items(given.get("edits"))):
            old, new = read_text(each.get("old")), read_text(each.get("new"))
            self.edits.append((old, new))
            self.is_edited = self.is_edited and bool(new) and not each.keys() - {"old", "new"}
            is_one_place = self.after is not None and self.after.count(old) == 1
            self.after = self.after.replace(old, new) if self.after and is_one_place else None

    def find_way_back(self, file: File, tools: Collection[str]) -> Call | str:
        """Return the call that takes it back, or why there is none.

        Args:
            file: The file as it is now.
            tools: The tools that can be called.
        """
        if file.problem:
            return file.problem
        if file.text is None:
            return "it is not there any more"
        if self.is_new:
            return self._delete(tools) if file.text == self.after else _CHANGED_SINCE
        if self.is_edited and EDIT in tools:
            return self._edit_back(file.text)
        if self.before is None:
            return "I do not know what it held before"
        if file.text != self.after:
            return _CHANGED_SINCE
        return new_call(WRITE, {"path": self.path, "content": self.before})

    def _delete(self, tools: Collection[str]) -> Call | str:
        if PATCH in tools and "\n" not in self.path:
            patch = f"*** Begin Patch\n*** Delete File: {self.path}\n*** End Patch"
            return new_call(PATCH, {"patch": patch})
        if RUN in tools:
            return new_call(RUN, {"command": f"rm -- {quote(self.path)}"})
        return "there is no tool that deletes a file"

    def _edit_back(self, text: str) -> Call | str:
        edits: list[dict[str, str]] = []
        for old, new in reversed(self.edits):
            if text.count(new) != 1:
                return _CHANGED_SINCE
            text = text.replace(new, old)
            edits.append({"old": new, "new": old})
        return new_call(EDIT, {"path": self.path, "edits": edits})


def find_last_acting_turn(turn: Turn) -> Turn | None:
    """Return the last turn in which something was changed that was not taken back by request."""
    acting: list[Turn] = []
    for each in turn.past:
        if not any(_has_acted(result) for result in each.results):
            continue
        if not asks_to_undo(each.prompt):
            acting.append(each)
        elif acting:
            acting.pop()
    return acting[-1] if acting else None


def has_taken_effect(result: Result | None) -> bool:
    """Whether a call that takes something back was made, and has not failed."""
    if result is None or result.failed:
        return False
    return result.call.name != RUN or result.data.get("exit_code") == 0


def list_own_changes(turn: Turn) -> list[OwnChange]:
    """Return what was written in a turn, by file, in the order of the first writes."""
    seen: dict[str, File] = {}
    changes: dict[str, OwnChange] = {}
    for result in turn.results:
        path = read_text(result.call.input.get("path"))
        if result.call.name == LOOK:
            seen.setdefault(path, read_file_result(path, result))
        elif result.call.name in (WRITE, EDIT) and not result.failed:
            if result.data.get("kind") == "unchanged":
                continue
            if path not in changes:
                before = seen[path].text if path in seen else None
                changes[path] = OwnChange(path, before, before)
            changes[path].add(result)
    return list(changes.values())


def list_other_calls(turn: Turn) -> list[str]:
    """Return what else was done in a turn, as it is shown: commands and patches."""
    calls = [each.call for each in turn.results if _has_acted(each)]
    commands = [read_text(each.input.get("command")) for each in calls if each.name == RUN]
    patches = [PATCH for each in calls if each.name == PATCH]
    return list(dict.fromkeys([*commands, *patches]))


def remove_compiled(paths: list[str]) -> Call | None:
    """Return the call that deletes what Python has kept of files that are gone; None without such."""
    modules = [PurePosixPath(path) for path in paths if path.endswith(".py")]
    if not modules:
        return None
    folders = list(dict.fromkeys(quote(str(each.parent / "__pycache__")) for each in modules))
    compiled = [f"{quote(str(each.parent / '__pycache__' / each.stem))}.*.pyc" for each in modules]
    empty = f"{{ rmdir -- {' '.join(folders)} 2>/dev/null || true; }}"
    command = f"rm -f -- {' '.join(compiled)} && {empty}"
    return new_call(RUN, {"command": command})


def _has_acted(result: Result) -> bool:
    return result.call.name in (WRITE, EDIT, PATCH, RUN) and not result.failed
