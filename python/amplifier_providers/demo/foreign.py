"""Values of others: read by their type, and shown in Markdown as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from ..answers.block_text import fence_for

_MAX_OUTPUT_CHARS = 8_000


def read_mapping(value: object) -> dict[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def read_items(value: object) -> list[Any]:
    """Return `value` if it is a list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def read_text(value: object) -> str:
    """Return `value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def read_whole(value: object) -> int | None:
    """Return `value` if it is a whole number, else None; true and false do not count."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def write_code(written: str) -> str:
    """Return `written` as code on one line, whatever backticks it holds."""
    line = written.replace("\n", "\\n").strip() or " "
    fence = fence_for(line, 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def write_fence(written: str, language: str = "") -> str:
    """Return `written` as a block of code, whatever backticks it holds."""
    fence = fence_for(written)
    return f"{fence}{language}\n{written}\n{fence}"


def write_output(written: str, language: str = "") -> str:
    """Return what a tool said as a block of code; of a long one, the beginning."""
    more = len(written) - _MAX_OUTPUT_CHARS
    cut = f"{written[:_MAX_OUTPUT_CHARS]}\n… ({more:,} more characters)" if more > 0 else written
    return write_fence(cut, language)


def quote(written: str) -> str:
    """Return `written` as a quotation."""
    return "\n".join(f"> {line}" for line in written.split("\n"))


def write_number(count: int) -> str:
    """Return `count` with its thousands set apart."""
    return f"{count:,}"


def write_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; its last column holds figures."""
    lines = [header, ["---"] * (len(header) - 1) + ["---:"]]
    lines += [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def list_names(names: Sequence[str], most: int) -> str:
    """Return up to `most` names as code, with an ellipsis where there are more."""
    more = ", …" if len(names) > most else ""
    return ", ".join(write_code(name) for name in names[:most]) + more
