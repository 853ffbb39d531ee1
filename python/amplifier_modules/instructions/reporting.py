"""Says what of skills, agents and notes is left out: to who watches the session, and in the log."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from amplifier_core.events import USER_NOTIFICATION

logger = logging.getLogger(__name__)


async def report_problems(coordinator: Any, source: str, problems: Iterable[str]) -> None:
    """Report each problem in a line; a sub-agent has those of its parent, and says nothing.

    Args:
        coordinator: That of the session.
        source: The module that has them.
        problems: A line each.
    """
    if getattr(coordinator, "parent_id", None):
        return
    for problem in problems:
        logger.warning("%s: %s", source, problem)
        data = {"message": problem, "level": "warning", "source": source}
        await coordinator.hooks.emit(USER_NOTIFICATION, data)
