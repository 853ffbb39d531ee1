"""Our tools by the names that Claude Code has for them, for rules and for hooks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

READING = frozenset({"glob", "grep", "list_directory", "read_file"})
WRITING = frozenset({"apply_patch", "edit_file", "write_file"})
NAMES: dict[str, tuple[str, ...]] = {
    "apply_patch": ("Edit", "Write", "MultiEdit"),
    "bash": ("Bash",),
    "edit_file": ("Edit", "MultiEdit"),
    "glob": ("Glob",),
    "grep": ("Grep",),
    "list_directory": ("LS",),
    "read_file": ("Read",),
    "task": ("Task", "Agent"),
    "todo": ("TodoWrite",),
    "web_fetch": ("WebFetch",),
    "web_search": ("WebSearch",),
    "write_file": ("Write",),
}
"""The names of each tool of ours; those of servers (`mcp__server__tool`) are the same."""
TOOLS: dict[str, frozenset[str]] = {
    **{
        name: frozenset(ours for ours, names in NAMES.items() if name in names)
        for name in sorted({name for names in NAMES.values() for name in names})
    },
    # A rule about one way to read or to write a path is one about all of them.
    "Read": READING,
    **dict.fromkeys(("Edit", "MultiEdit", "NotebookEdit", "Write"), WRITING),
}
"""The tools that a rule means by each name."""

_FILE_TOOLS = frozenset({"read_file", *WRITING})
_EDIT_KEYS = {"old": "old_string", "new": "new_string"}
_TODO_KEYS = {"active_form": "activeForm"}


class ClaudeCall(NamedTuple):
    """A call as Claude Code writes it."""

    tool: str
    arguments: dict[str, Any]


def list_names(tool: str) -> tuple[str, ...]:
    """Return all names of a tool, ours first."""
    return (tool, *NAMES.get(tool, ()))


def translate_call(
    tool: str, arguments: Mapping[str, Any], paths: Iterable[str], project: Path
) -> list[ClaudeCall]:
    """Return a call as Claude Code has it: one for each file of a patch.

    Args:
        tool: The name of our tool.
        arguments: Its arguments.
        paths: The files that a patch names.
        project: What paths are counted from.
    """
    names = NAMES.get(tool, (tool,))
    theirs = dict(arguments)
    if tool == "apply_patch":
        files = [os.path.join(project, each) for each in dict.fromkeys(paths)] or [""]
        return [ClaudeCall(names[0], {"file_path": each, **theirs}) for each in files]
    if tool == "todo" and "todos" in theirs:
        theirs["todos"] = _rename_keys(theirs["todos"], _TODO_KEYS)
    if tool not in _FILE_TOOLS:
        return [ClaudeCall(names[0], theirs)]
    path = theirs.pop("path", None)
    if path is not None:
        theirs = {"file_path": _complete_path(path, project), **theirs}
    if tool != "edit_file":
        return [ClaudeCall(names[0], theirs)]
    edits = _rename_keys(theirs.pop("edits", []), _EDIT_KEYS)
    match edits:
        case [{**only}]:
            return [ClaudeCall("Edit", {**theirs, **cast("dict[str, Any]", only)})]
        case _:
            pass
    return [ClaudeCall("MultiEdit", {**theirs, "edits": edits})]


def restore_arguments(
    tool: str, theirs: Mapping[str, Any], given: Mapping[str, Any], project: Path
) -> dict[str, Any]:
    """Return the arguments of our tool for a call that was changed as Claude Code writes it.

    Args:
        tool: The name of our tool.
        theirs: The arguments as changed.
        given: Those of our tool before that.
        project: What paths are counted from.
    """
    ours = dict(theirs)
    if tool == "apply_patch":
        ours.pop("file_path", None)
        return ours
    if tool == "todo" and "todos" in ours:
        ours["todos"] = _rename_keys(
            ours["todos"], {theirs: ours for ours, theirs in _TODO_KEYS.items()}
        )
    if tool not in _FILE_TOOLS or "file_path" not in ours:
        return ours
    path = ours.pop("file_path")
    before = given.get("path")
    ours = {"path": before if path == _complete_path(before, project) else path, **ours}
    if tool == "edit_file":
        back = {theirs: ours for ours, theirs in _EDIT_KEYS.items()}
        if "edits" in ours:
            ours["edits"] = _rename_keys(ours["edits"], back)
        else:
            names = [name for name in (*back, "replace_all") if name in ours]
            ours["edits"] = [{back.get(name, name): ours.pop(name) for name in names}]
    return ours


def _complete_path(path: Any, project: Path) -> Any:
    return os.path.join(project, path) if isinstance(path, str) else path


def _rename_keys(items: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(items, list):
        return items
    return [
        {names.get(name, name): value for name, value in cast("dict[str, Any]", each).items()}
        if isinstance(each, dict)
        else each
        for each in cast("list[Any]", items)
    ]
