"""Collecting the answers of the contributors of a channel."""

from __future__ import annotations

import logging
from inspect import isawaitable
from typing import Any

logger = logging.getLogger("amplifier_core.coordinator")


async def collect_contributions(
    channels: dict[str, list[dict[str, Any]]], channel: str
) -> list[Any]:
    """Ask each contributor of a channel, one after the other in the order of registration.

    What raises is logged and left out, and so is None. A contributor that raises
    `asyncio.CancelledError` ends the round; the answers before it are returned.

    Args:
        channels: Contributors of each channel, `{"name", "callback"}` each.
        channel: Channel to ask; an unknown one has no answers.
    """
    gathered: list[Any] = []
    for contributor in list(channels.get(channel, ())):
        name = contributor["name"]
        try:
            contribution = contributor["callback"]()
            if isawaitable(contribution):
                contribution = await contribution
        except Exception:
            logger.warning("contributor `%s` to `%s` failed", name, channel, exc_info=True)
            continue
        except BaseException as error:
            if not _is_own_cancellation(error):
                raise
            logger.warning("contributor `%s` to `%s` was cancelled", name, channel)
            break
        if contribution is not None:
            gathered.append(contribution)
    return gathered


def _is_own_cancellation(error: BaseException) -> bool:
    """Whether an error is a contributor's `CancelledError`, not one of the task that asks."""
    import asyncio

    if not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another event loop than asyncio's
        return True
    return task is None or not task.cancelling()
