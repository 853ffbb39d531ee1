"""`loop-streaming`: a loop that emits text as it arrives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .loop import Loop, mount_loop
from .settings import LoopSettings

__amplifier_module_type__ = "orchestrator"
__amplifier_settings__ = LoopSettings


class StreamingLoop(Loop):
    """A loop that emits the content of blocks as deltas, unless the provider does so.

    The text of a provider with a `stream` method, or with the `chunks` of a `BaseProvider` that
    does not define `complete`, is emitted as it arrives, and so is its thinking. All others are
    asked by `complete`: those that stream inside it emit their block events themselves, the answer
    of the others is emitted when it is complete.
    """

    name = "loop-streaming"
    is_streaming = True


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the loop as the session's orchestrator."""
    await mount_loop(coordinator, StreamingLoop(config))
