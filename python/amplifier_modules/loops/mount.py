"""What a loop offers the session that it is mounted in."""

from __future__ import annotations

from functools import partial
from typing import Any

from amplifier_core._kernel.capability_names import (
    MODEL_OF_ROLE,
    SESSION_PAUSE,
    SESSION_RESUME,
    SESSION_STEER,
)

from ..contexts.history_events import HISTORY_EVENTS
from ..spawn.spawn import offer_spawn
from ..spawn.task import TASK_END, TASK_START
from ..spending.budget import BUDGET_WARNING
from .answers import agent_events
from .boundary.call_approval import APPROVAL_TIMEOUT
from .boundary.call_context import TOOL_START, offer_progress
from .boundary.call_progress import TOOL_PROGRESS
from .boundary.hook_points import HookPoints
from .goal.pursuit import GOAL_PROGRESS
from .loop import Loop
from .pace import RATE_LIMIT_DELAY
from .pause import PAUSED, RESUMED
from .recovery.recovery import RECOVERABLE_ERROR
from .steering import ENDED, STEERING_DISCARDED, STEERING_INJECTED, STEERING_SUBMITTED

EVENTS = (
    *HISTORY_EVENTS,
    BUDGET_WARNING,
    APPROVAL_TIMEOUT,
    TOOL_START,
    TOOL_PROGRESS,
    RECOVERABLE_ERROR,
    RATE_LIMIT_DELAY,
    STEERING_SUBMITTED,
    STEERING_INJECTED,
    STEERING_DISCARDED,
    GOAL_PROGRESS,
    PAUSED,
    RESUMED,
    TASK_START,
    TASK_END,
)
"""The events of our loops in addition to those of the kernel."""


async def mount_loop(coordinator: Any, loop: Loop) -> None:
    """Mount a loop as the session's orchestrator, with its capabilities and the names of its events.

    Messages that no turn has read are discarded when the session ends.
    """
    coordinator.register_capability(SESSION_STEER, loop.steer)
    coordinator.register_capability(SESSION_PAUSE, loop.pause)
    coordinator.register_capability(SESSION_RESUME, loop.resume)
    coordinator.register_capability(MODEL_OF_ROLE, partial(loop.model_of_role, coordinator))
    offer_progress(coordinator)
    offer_spawn(coordinator, loop.settings.task_limits)
    agent_events.contribute(coordinator, loop.name, EVENTS)
    points = HookPoints(getattr(coordinator, "hooks", None), None)

    async def discard() -> None:
        await loop.steering.discard(points, ENDED)

    coordinator.register_cleanup(discard)
    await coordinator.mount("orchestrator", loop)
