"""`loop-streaming`: a loop that emits text as it arrives and accepts steering messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core._kernel.capability_names import SESSION_STEER

from .answers import agent_events
from .call_context import TOOL_PROGRESS, TOOL_START
from .loop import Loop
from .model_call import RATE_LIMIT_DELAY
from .recovery.recovery import RECOVERABLE_ERROR
from .settings import LoopSettings
from .steering import (
    STEERING_DISCARDED,
    STEERING_INJECTED,
    STEERING_SUBMITTED,
    SteeringQueue,
)

__amplifier_module_type__ = "orchestrator"
__amplifier_settings__ = LoopSettings

EVENTS = [
    TOOL_START,
    TOOL_PROGRESS,
    RECOVERABLE_ERROR,
    RATE_LIMIT_DELAY,
    STEERING_SUBMITTED,
    STEERING_INJECTED,
    STEERING_DISCARDED,
]
"""The events of this module in addition to those of the kernel."""


class StreamingLoop(Loop):
    """A loop that emits the content of blocks as deltas, unless the provider does so.

    The text of a provider with a `stream` method, or with the `chunks` of a `BaseProvider` that
    does not define `complete`, is emitted as it arrives, and so is its thinking. All others are
    asked by `complete`: those that stream inside it emit their block events themselves, the answer
    of the others is emitted when it is complete.
    """

    name = "loop-streaming"
    is_streaming = True

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        """Read the configuration.

        Raises:
            SettingError: A value cannot be used.
        """
        super().__init__(config)
        self.steering = SteeringQueue()
        self.steer = self.steering.steer


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the loop as the session's orchestrator, and the capability `session.steer`."""
    await mount_loop(coordinator, StreamingLoop(config))


async def mount_loop(coordinator: Any, loop: StreamingLoop) -> None:
    """Mount a loop, its capability, and the names of its events."""
    coordinator.register_capability(SESSION_STEER, loop.steer)
    agent_events.contribute(coordinator, loop.name, EVENTS)
    await coordinator.mount("orchestrator", loop)
