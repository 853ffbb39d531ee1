"""Tool calls and their results in one line each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from amplifier_app.printable import printable_line
from amplifier_providers.running.count_noun import count_noun

MAX_PREVIEW_CHARS = 200
"""Characters of a tool call's arguments, or of a result, that are shown."""


def arguments_preview(arguments: object) -> str:
    """The arguments of a call as `name=value` pairs, cut at `MAX_PREVIEW_CHARS` characters."""
    if isinstance(arguments, Mapping):
        pairs = cast("Mapping[object, object]", arguments).items()
        text = ", ".join(f"{_cut(str(name))}={_write_value(value)}" for name, value in pairs)
    else:
        text = "" if arguments is None else _write_value(arguments)
    return printable_line(text, MAX_PREVIEW_CHARS)


def result_summary(result: object) -> tuple[bool, str]:
    """Whether a tool result is a success, and its summary."""
    if not isinstance(result, Mapping):
        return True, _summarize_output(result)
    fields = cast("Mapping[str, object]", result)
    success = bool(fields.get("success", True))
    if success:
        return True, _summarize_output(fields["output"] if "output" in fields else dict(fields))
    return False, failure_summary(fields.get("error") or fields.get("output"))


def failure_summary(error: object) -> str:
    """The summary of a tool's error."""
    if isinstance(error, Mapping):
        fields = cast("Mapping[str, object]", error)
        for key in ("message", "msg", "error"):
            if fields.get(key):
                return printable_line(str(fields[key]), MAX_PREVIEW_CHARS)
    return (
        printable_line(_write_text(cast("object", error)), MAX_PREVIEW_CHARS)
        or "failed without a message"
    )


def progress_summary(report: Mapping[str, Any]) -> str:
    """The progress of a tool: `40% reading`."""
    fraction, message = report.get("fraction"), report.get("message")
    done = f"{fraction:.0%} " if isinstance(fraction, int | float) else ""
    text = printable_line(message, MAX_PREVIEW_CHARS) if isinstance(message, str) else ""
    return f"{done}{text}".rstrip()


def _summarize_output(output: object) -> str:
    if isinstance(output, Mapping):
        return printable_line(_fields_summary(cast("Mapping[str, Any]", output)), MAX_PREVIEW_CHARS)
    if isinstance(output, str):
        return _text_summary(output)
    if isinstance(output, Sequence):
        return count_noun(len(cast("Sequence[object]", output)), "item")
    return "" if output is None else printable_line(_write_text(output), MAX_PREVIEW_CHARS)


def _text_summary(text: str) -> str:
    first, _, rest = text.strip("\n").partition("\n")
    line = printable_line(first.removesuffix("\r"), MAX_PREVIEW_CHARS - 20)
    return f"{line} (+{count_noun(rest.count(chr(10)) + 1, 'line')})" if rest else line


def _fields_summary(fields: Mapping[str, Any]) -> str:
    """The counts of a structured result, or its first fields if it has none."""

    def read_number(key: str) -> int | None:
        value = fields.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    total = read_number("total")
    if (matches := read_number("total_matches")) is not None:
        files = read_number("total_files")
        where = "" if files is None else f" in {count_noun(files, 'file')}"
        return count_noun(matches, "match", "matches") + where
    if total is not None and "entries" in fields:
        return count_noun(total, "entry", "entries")
    if total is not None and (size := read_number("total_bytes")) is not None:
        return f"{count_noun(total, 'file')}, {count_noun(size, 'byte')}"
    if (characters := read_number("total_chars")) is not None:
        title = f"{_write_value(fields['title'])}, " if fields.get("title") else ""
        return title + count_noun(characters, "character")
    if (lines := read_number("total_lines")) is not None:
        shown = read_number("shown_lines")
        part = "" if shown in (None, lines) else f"{shown:,} of "
        return part + count_noun(lines, "line")
    return ", ".join(
        f"{_cut(key)}={count_noun(len(value), 'item') if _is_long(value) else _write_value(value)}"
        for key, value in list(fields.items())[:8]
    )


def _is_long(value: object) -> bool:
    return isinstance(value, list | tuple | dict) and len(cast("Sequence[object]", value)) > 0


def _write_value(value: object) -> str:
    if isinstance(value, str):
        return json.dumps(_cut(value), ensure_ascii=False)
    return _cut(_write_text(value))


def _write_text(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__


def _cut(text: str) -> str:
    """The beginning of a text: a call may hold a whole file."""
    return text if len(text) <= 2 * MAX_PREVIEW_CHARS else text[: 2 * MAX_PREVIEW_CHARS]
