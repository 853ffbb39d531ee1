"""Paths as people and models read them."""

from __future__ import annotations

_MAX_CHARACTERS = 300


def show_path(path: str) -> str:
    """Return a path that cannot be taken for other text: on one line, and of a bounded length."""
    shown = "".join(one if _is_plain(one) else _escape(one) for one in path[:_MAX_CHARACTERS])
    return shown if len(path) <= _MAX_CHARACTERS else f"{shown}…"


def _is_plain(one: str) -> bool:
    return one.isprintable() and one != "`"


def _escape(one: str) -> str:
    return "\\x60" if one == "`" else ascii(one)[1:-1]
