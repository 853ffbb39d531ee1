"""Text for content blocks that an API does not support, the same for all providers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

_CLAUDE = "claude/"
"""Prefix of block types that would otherwise clash with those of the kernel."""
_BACKTICKS = re.compile("`+")
_BAR = re.compile(r"(\\*)\|")
_LANGUAGE = re.compile(r"[\w.+#-]{1,40}", re.ASCII)
_MAX_TABLE_CELLS = 1_000_000
"""Padding a table of one long and many short rows would take quadratic memory."""
_LINE_END = re.compile(r"\r\n|[\r\n\v\f\x85\u2028\u2029]")


def block_text(block: Mapping[str, Any]) -> str | None:
    """Return the text that replaces a block, None if it has no text form.

    Code is text within a fence, a table is a Markdown table, and a chart its kind and data as JSON
    within a fence.

    Args:
        block: A block of the Claude dialect, by the names of `amplifier_guard.claude`.
    """
    kind = block.get("type")
    match kind.removeprefix(_CLAUDE) if isinstance(kind, str) else None:
        case "text" if kind != "text" and isinstance(block.get("text"), str):
            return block["text"]
        case "code" if isinstance(block.get("text"), str):
            return _write_fence(block["text"], block.get("language"))
        case "table":
            return _write_table(block.get("columns"), block.get("rows"))
        case "chart" if "data" in block:
            written = _write_json({"kind": block.get("kind"), "data": block["data"]})
            return None if written is None else _write_fence(written, "json")
        case _:
            return None


def fence_for(text: str, least: int = 3) -> str:
    """Return at least so many backticks, and more than any run of them in the text."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    return "`" * max(least, longest + 1)


def _write_fence(text: str, language: Any) -> str:
    """Return a code block that nothing in the text ends."""
    fence = fence_for(text)
    named = language if isinstance(language, str) and _LANGUAGE.fullmatch(language) else ""
    return f"{fence}{named}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}"


def _write_table(columns: Any, rows: Any) -> str | None:
    if not isinstance(columns, list) or not isinstance(rows, list):
        return None
    lines = cast("list[Any]", [columns, *rows])
    if not all(isinstance(line, list) for line in lines):
        return None
    table = [[_write_cell(value) for value in cast("list[Any]", line)] for line in lines]
    width = max(map(len, table))
    if width == 0 or width * len(table) > _MAX_TABLE_CELLS or any(None in line for line in table):
        return None
    full = [[*(cell or "" for cell in line), *[""] * (width - len(line))] for line in table]
    head, *body = (f"| {' | '.join(line)} |" for line in full)
    return "\n".join([head, f"|{' --- |' * width}", *body])


def _write_cell(value: Any) -> str | None:
    text = value if isinstance(value, str) else _write_json(value)
    if text is None:
        return None
    # Backslashes before a bar are doubled, or the last one would escape the bar.
    escaped = _BAR.sub(lambda found: 2 * found[1] + r"\|", text)
    return _LINE_END.sub("<br>", escaped)


def _write_json(value: Any) -> str | None:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        return None
