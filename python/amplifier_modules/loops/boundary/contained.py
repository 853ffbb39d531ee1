"""A tool that runs: whatever it raises or cancels ends its own call, and nothing else."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from amplifier_core._kernel.interruption import asyncio_task, is_ending
from amplifier_core._kernel.left_behind import Steps

from ...tool.exit import ToolExitError, may_be_ctrl_c

logger = logging.getLogger(__name__)


class Contained:
    """The steps of a tool; what would end more than its call is raised as a `ToolExitError`.

    Ctrl+C and the cancellation of the turn go through.
    """

    __slots__ = ("_is_stopping", "_steps")

    def __init__(self, steps: Steps, is_stopping: Callable[[], bool]) -> None:
        """Go through these steps.

        Args:
            steps: The coroutine of the tool.
            is_stopping: Whether the calls of the round are cancelled.
        """
        self._steps = steps
        self._is_stopping = is_stopping

    def send(self, value: Any) -> Any:
        """Go on with a value."""
        try:
            return self._steps.send(value)
        except Exception:
            raise
        except BaseException as error:  # noqa: BLE001 -- another one is raised
            raised = contain_error(error, self._is_stopping)
        raise raised

    def throw(self, error: BaseException) -> Any:
        """Go on with an error."""
        try:
            return self._steps.throw(error)
        except Exception:
            raise
        except BaseException as escaped:  # noqa: BLE001 -- another one is raised
            raised = contain_error(escaped, self._is_stopping)
        raise raised

    def close(self) -> None:
        """Close the coroutine."""
        self._steps.close()


def contain_error(error: BaseException, is_stopping: Callable[[], bool]) -> BaseException:
    """Return what an error of a tool is raised as."""
    if may_be_ctrl_c(error):
        return error
    if isinstance(error, anyio.get_cancelled_exc_class()) and is_cancelled(is_stopping):
        return error
    return ToolExitError(f"raised `{type(error).__name__}`")


def is_cancelled(is_stopping: Callable[[], bool]) -> bool:
    """Whether the turn, or the time limit of the tool, cancels what runs here."""
    if asyncio_task() is None:
        return anyio.current_effective_deadline() == -math.inf
    return is_stopping() or is_ending()


async def in_own_nursery(run: Callable[[], Awaitable[Any]]) -> Any:
    """Run a tool where it can cancel nothing but itself, under trio.

    There a task can reach the nursery that it runs in. (In asyncio it can reach its task, which is
    that of its call.)

    Raises:
        Exception: What the tool raised.
    """
    outcome: list[tuple[Any, BaseException | None]] = []

    async def tool() -> None:
        try:
            outcome.append((await run(), None))
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 -- raised outside the group, which wraps it
            outcome.append((None, error))
        finally:
            group.cancel_scope.cancel()  # whatever else the tool started in it

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(tool)
    except BaseExceptionGroup as errors:
        if not outcome:
            raise errors.exceptions[0] from None
        logger.warning("a task that a tool left behind failed: %r", errors.exceptions[0])
    if not outcome:
        raise ToolExitError("cancelled its own task")
    result, error = outcome[0]
    if error is not None:
        raise error
    return result
