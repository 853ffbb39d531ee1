"""The end of a turn whose loop let its cancellation through."""

from __future__ import annotations

import anyio

from amplifier_core.event_loop import asyncio_task
from amplifier_core.llm_errors import AbortError


def is_of_token(error: BaseException) -> bool:
    """Whether a loop that is not ours let its cancellation through, and nobody else cancelled."""
    task = asyncio_task()
    if task is None or isinstance(error, AbortError):
        return isinstance(error, AbortError)
    return isinstance(error, anyio.get_cancelled_exc_class()) and not task.cancelling()
