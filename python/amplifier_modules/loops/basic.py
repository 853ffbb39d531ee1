"""`loop-basic`: a loop that emits whole blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .loop import Loop, mount_loop
from .settings import LoopSettings

__amplifier_module_type__ = "orchestrator"
__amplifier_settings__ = LoopSettings


class BasicLoop(Loop):
    """A loop that emits start and end of each block when the response is complete."""

    name = "loop-basic"


async def mount(coordinator: Any, config: Mapping[str, Any] | None = None) -> None:
    """Mount the loop as the session's orchestrator."""
    await mount_loop(coordinator, BasicLoop(config))
