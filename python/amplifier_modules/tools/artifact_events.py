"""The events of files that tools read and write: `artifact:read` and `artifact:write`."""

from __future__ import annotations

from typing import Any

from amplifier_modules.tool.context import ToolContext


async def emit_artifact(event: str, data: dict[str, Any]) -> None:
    """Emit an event of the call that runs now; outside of our loops nobody hears of it."""
    try:
        coordinator = ToolContext.current().coordinator
    except LookupError:
        return
    hooks = getattr(coordinator, "hooks", None)
    if hooks is not None:
        await hooks.emit(event, data)
