"""Tasks of the event loop that outlive the function that starts them."""

from __future__ import annotations

import sys
from typing import Any


def start_task(function: Any) -> None:
    """Run an async function in a task of its own with the context variables of the caller.

    The function must not raise.
    """
    import sniffio

    if sniffio.current_async_library() == "trio":
        import contextvars

        trio = sys.modules["trio"]
        trio.lowlevel.spawn_system_task(function, context=contextvars.copy_context())
        return
    import asyncio

    task = asyncio.get_running_loop().create_task(function())
    # The loop itself holds tasks weakly.
    _TASKS.add(task)
    task.add_done_callback(_TASKS.discard)


_TASKS: set[Any] = set()
