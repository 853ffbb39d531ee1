"""Tasks of the event loop that outlive the function that starts them."""

from __future__ import annotations

import sys
from typing import Any

from amplifier_core.event_loop import find_asyncio_task
from amplifier_core.interruption import is_ending


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


def is_cancelled_from_outside() -> bool:
    """Whether the running task was cancelled by another than the session, as where its loop ends."""
    task = find_asyncio_task()
    if task is not None:
        return task.cancelling() > 0 and not is_ending()
    nursery = sys.modules["trio"].lowlevel.current_task().parent_nursery
    return nursery is not None and nursery.cancel_scope.cancel_called


_TASKS: set[Any] = set()
