"""Where the session of a run is stored, and what is said about that."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_app.notice import show_notice
from amplifier_app.sessions.choice import SHORT_ID_CHARS
from amplifier_app.sessions.opening import USUAL


def find_store(named: Mapping[str, Any] | None, *, is_new: bool) -> Mapping[str, Any] | None:
    """Return the entry of the store for a mount plan; None where nothing can be kept.

    A folder of the user that cannot be written is one warning, and the session runs without it.

    Args:
        named: The store that the user names; None for the usual one.
        is_new: Whether the session begins.
    """
    if named is not None:
        return named
    if is_new and (problem := _find_problem()):
        show_notice(f"warning: the session is not kept: {problem}")
        return None
    from amplifier_core.known_modules import Own

    return {"module": USUAL, "source": Own.TABLE, "config": {}}


def show_way_back(session_id: str | None) -> None:
    """Say how a session goes on later, to a person who looks at a terminal."""
    if session_id is not None and sys.stderr is not None and sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison]
        show_notice(f"`amplifier-core --resume {session_id[:SHORT_ID_CHARS]}` goes on from here")


async def describe_queue(journal: Any) -> str:
    """Return how many prompts wait for a session, and what runs them; empty for none.

    Args:
        journal: What stores the session; None where nothing does.
    """
    if journal is None or not journal.is_stored:
        return ""
    from amplifier_modules.stores import StoreError

    with contextlib.suppress(StoreError):
        await journal.inbox.look()
    if not (count := journal.inbox.count_prompts()):
        return ""
    wait = "1 prompt waits" if count == 1 else f"{count} prompts wait"
    it = "it" if count == 1 else "them"
    command = f"amplifier-core --resume {journal.session_id[:SHORT_ID_CHARS]}"
    return f"{wait} in the queue: `{command} --bg` runs {it}, and so does `{command}` in a terminal"


def _find_problem() -> str | None:
    from amplifier_modules.stores.sqlite import SqliteStore

    folder = SqliteStore().folder
    try:
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        return f"`{folder}` cannot be made: {error.strerror}"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"`{folder}` cannot be written"
    return None
