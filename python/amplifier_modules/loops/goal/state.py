"""The goal of a session, in the state that its modules share."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, cast

logger = logging.getLogger(__name__)

KEY = "goal"
"""Where the goal is in `coordinator.session_state`."""


def goal_of(coordinator: Any) -> str | None:
    """Return the goal of a session: a text, or a mapping with `text`; None without one."""
    given = _shared_state(coordinator).get(KEY)
    if given is None:
        return None
    text = cast("Mapping[str, Any]", given).get("text") if isinstance(given, Mapping) else given
    if isinstance(text, str):
        return text.strip() or None
    found = type(cast("object", given)).__name__
    logger.warning(
        "`%s` of the session state is a `%s` (must be text, or a mapping with `text`); it is ignored",
        KEY,
        found,
    )
    return None


def set_goal(coordinator: Any, goal: str | None) -> None:
    """Set the goal of a session; None for none."""
    shared = _shared_state(coordinator)
    if goal is None:
        shared.pop(KEY, None)
    else:
        shared[KEY] = goal


def _shared_state(coordinator: Any) -> dict[str, Any]:
    shared: dict[str, Any] | None = getattr(coordinator, "session_state", None)
    return shared if isinstance(shared, dict) else {}
