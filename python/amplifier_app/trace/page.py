"""A page of HTML that needs nothing else: no network, no other file."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from .reading import RecordedSession, read_turns

_PLACE = re.compile(r"\{\{(\w+)\}\}")

_MARK = '<meta name="generator" content="amplifier-core trace">'
"""What a page has in its head."""


def is_page(beginning: bytes) -> bool:
    """Whether a file that begins like this is such a page."""
    return _MARK.encode() in beginning


def describe_sessions(sessions: Sequence[RecordedSession]) -> dict[str, Any]:
    """Return what a page shows as JSON: the first session, with its sub-agents."""
    first = sessions[0]
    return {
        "id": first.id,
        "title": first.title,
        "folder": first.folder,
        "turns": [each.describe() for each in read_turns(sessions)],
    }


def write_page(described: dict[str, Any]) -> str:
    """Return the page.

    Args:
        described: What `describe_sessions` returns, without secrets. Its texts are shown as text
            alone, and the page may load and run nothing but its own script.
    """
    style, script = _read_part("page.css"), _read_part("page.js")
    # Within a script element nothing but its end means anything, and no `<` can begin that.
    data = json.dumps(described, separators=(",", ":")).replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; style-src '{_hash_source(style)}';"
        f" script-src '{_hash_source(script)}'; base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": policy,
        "title": escape(described["title"] or described["id"]),
        "style": style,
        "script": script,
        "data": data,
    }
    return _PLACE.sub(lambda place: values[place[1]], _read_part("page.html"))


def _read_part(name: str) -> str:
    return files("amplifier_app.trace").joinpath(name).read_text(encoding="utf-8")


def _hash_source(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
