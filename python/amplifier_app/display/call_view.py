"""What a person sees of a tool call: files by their paths, commands as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from amplifier_app.display.excerpt import (
    Line,
    describe_rest,
    show_line,
    split_lines,
    take_beginning,
)
from amplifier_app.display.preview import MAX_PREVIEW_CHARS, arguments_preview
from amplifier_app.printable import printable_line
from amplifier_providers.running.count_noun import count_noun

_CONTENTS = {"write_file": "content", "edit_file": "edits"}
"""The arguments that the result of a tool shows."""
_MAX_COMMAND_LINES = 8
_MAX_ITEM_LINES = 12
_ITEM_MARKS: Mapping[str, str] = {"in_progress": "[>]", "completed": "[x]"}
_ITEM_STYLES: Mapping[str, str] = {"completed": "note", "in_progress": "tool"}


@dataclass(frozen=True)
class CallView:
    """What follows the name of a tool on its line, and the lines below; all safe to draw."""

    head: Line
    lines: tuple[Line, ...] = ()


def view_call(name: str, arguments: object) -> CallView:
    """Return what is drawn of a call."""
    if not isinstance(arguments, Mapping):
        return _view_pairs(arguments_preview(arguments))
    fields = cast("Mapping[str, Any]", arguments)
    if name == "bash" and isinstance(fields.get("command"), str):
        return _view_command(fields)
    if name == "apply_patch" and isinstance(fields.get("patch"), str):
        return _view_pairs(_list_paths(fields["patch"]))
    if name == "todo" and (items := _read_items(fields.get("todos"))):
        return _view_items(items)
    return _view_pairs(arguments_preview(_drop_fields(fields, _CONTENTS.get(name))))


def _view_pairs(pairs: str) -> CallView:
    return CallView((f"({pairs})", "tool.arguments"))


def _read_items(todos: object) -> list[Mapping[str, Any]]:
    """Return the items of a to-do list; none of what cannot be one."""
    listed = cast("list[object]", todos) if isinstance(todos, list) else []
    items = [cast("Mapping[str, Any]", each) for each in listed if isinstance(each, Mapping)]
    return items if len(items) == len(listed) else []


def _view_items(items: Sequence[Mapping[str, Any]]) -> CallView:
    """Return a to-do list with a line for each item, the first and the last open ones at least."""
    done = sum(each.get("status") == "completed" for each in items)
    first = next((at for at, each in enumerate(items) if each.get("status") != "completed"), 0)
    start = max(0, min(first - 1, len(items) - _MAX_ITEM_LINES))
    shown = items[start : start + _MAX_ITEM_LINES]
    lines = [
        (show_line(_write_item(each)), _ITEM_STYLES.get(str(each.get("status")), ""))
        for each in shown
    ]
    if len(shown) < len(items):
        lines.append(describe_rest(len(items) - len(shown)))
    return CallView((f" ({done} of {len(items)} done)", "tool.arguments"), tuple(lines))


def _write_item(item: Mapping[str, Any]) -> str:
    status = str(item.get("status"))
    text = item.get("active_form") if status == "in_progress" else None
    return f"{_ITEM_MARKS.get(status, '[ ]')} {text or item.get('content')}"


def _drop_fields(fields: Mapping[str, Any], *names: str | None) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def _list_paths(patch: str) -> str:
    """Return the files that a patch names; its size if it cannot be read."""
    # Imported here: what draws is there before the tools are.
    from amplifier_modules.tools.filesystem.patching import read_patch

    try:
        paths = dict.fromkeys(path for change in read_patch(patch) for path in change.paths)
    except ValueError:
        return f"a patch of {count_noun(patch.count(chr(10)) + 1, 'line')}"
    return printable_line(", ".join(f'"{path}"' for path in paths), MAX_PREVIEW_CHARS)


def _view_command(fields: Mapping[str, Any]) -> CallView:
    lines = split_lines(fields["command"])
    about = list(_describe_conduct(fields))
    if len(lines) == 1:
        return CallView((f" $ {show_line(lines[0])}", ""), tuple(about))
    return CallView((" $", ""), (*take_beginning(lines, _MAX_COMMAND_LINES), *about))


def _describe_conduct(fields: Mapping[str, Any]) -> Iterator[Line]:
    """Yield how a command is to be run, where that is not as usual."""
    others = _drop_fields(fields, "command", "run_in_background", "timeout", "sandbox", "reason")
    sandbox, reason = fields.get("sandbox", "default"), fields.get("reason")
    if sandbox == "none":
        why = f": {printable_line(str(reason), MAX_PREVIEW_CHARS)}" if reason else ""
        yield f"outside of the sandbox{why}", "warning"
    elif sandbox != "default":
        others["sandbox"] = sandbox
    parts: list[str] = []
    if fields.get("run_in_background"):
        parts.append("in the background")
    if isinstance(seconds := fields.get("timeout"), int | float):
        parts.append(f"at most {seconds:g} s")
    if others:
        parts.append(arguments_preview(others))
    if parts:
        yield ", ".join(parts), "note"
