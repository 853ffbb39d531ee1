"""The kinds of failures."""

from __future__ import annotations

from typing import Literal, TypeAlias

from amplifier_core._engine import error_kind

__all__ = ["ErrorKind", "error_kind"]

ErrorKind: TypeAlias = Literal[
    "validation",
    "authentication",
    "permission",
    "quota",
    "rate_limit",
    "timeout",
    "network",
    "server",
    "stream",
    "context_length",
    "content_filter",
    "not_found",
    "tool",
    "storage",
    "configuration",
    "cancelled",
    "internal",
]
"""The words of seed 001's error kinds.

`rate_limit`, `timeout`, `network`, `server` (HTTP 5xx including 529) and `stream` are temporary and can be
retried; the others are permanent.
"""
