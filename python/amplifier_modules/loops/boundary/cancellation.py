"""The cancellation of a turn, and of the tools in it."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from types import TracebackType
from typing import Any, Final, TypeAlias

import anyio

from amplifier_core.event_loop import find_asyncio_task
from amplifier_core.interruption import Interruption, innermost, is_ending, was_ended
from amplifier_core.left_behind import Leaving, Steps, as_coroutine
from amplifier_providers.running.run_sync import caller_into_loop

from ...tool.endings import ToolExitError, may_be_ctrl_c
from .call_limit import CALL_LIMIT, CallLimit

LastSteps: TypeAlias = Iterator[Awaitable[None]]
"""What is left to do, one after the other; what was interrupted is not repeated."""

logger = logging.getLogger(__name__)


class Expired(Enum):
    """The type of `EXPIRED`."""

    EXPIRED = "expired"


EXPIRED: Final = Expired.EXPIRED
"""The result of a tool that has not ended in its time."""


class ContainedSteps:
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
    if find_asyncio_task() is None:
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

    async def run_tool() -> None:
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
            group.start_soon(run_tool)
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


GRACE_SECONDS = 30.0
"""How long the closing events of a cancelled turn may take, all together."""
LEAVE_SECONDS = 2.0
"""How long a cancelled tool, model call or hook may take to end before it is left behind."""


class TurnCancellation:
    """The cancellation token of the session; absent without a coordinator."""

    def __init__(self, coordinator: Any) -> None:
        """Use the token of the coordinator, which may be None."""
        self._token = getattr(coordinator, "cancellation", None)

    @property
    def is_cancelled(self) -> bool:
        """Whether the turn must end, at once or after the running tools."""
        return getattr(self._token, "is_cancelled", False) is True

    @property
    def is_immediate(self) -> bool:
        """Whether the turn must end at once."""
        return getattr(self._token, "is_immediate", False) is True

    def tool_started(self, call_id: str, name: str) -> None:
        """Register the tool as running."""
        if self._token is not None:
            self._token.register_tool_start(call_id, name)

    def tool_finished(self, call_id: str) -> None:
        """Register the tool as finished."""
        if self._token is not None:
            self._token.register_tool_complete(call_id)

    async def run_callbacks(self) -> None:
        """Run the cancellation callbacks of the session."""
        if self._token is not None:
            await self._token.trigger_callbacks()

    @contextmanager
    def notifying(self, listen: Callable[[], object]) -> Generator[None]:
        """Call a function, in whatever thread asks, when the turn is to be cancelled."""
        token: Any = self._token
        if not hasattr(token, "register_child"):
            yield
            return
        listener = _Listener(listen)
        token.register_child(listener)
        try:
            yield
        finally:
            token.unregister_child(listener)

    async def sleep(self, seconds: float) -> None:
        """Sleep; a request to cancel the turn ends that."""
        if self.is_cancelled:
            return
        call_soon, asked = caller_into_loop(), anyio.Event()
        with (
            self.notifying(lambda: call_soon(lambda: asked.set())),
            anyio.move_on_after(seconds),
        ):
            await asked.wait()

    def make_interruption(self) -> Interruption:
        """Return a part of the turn that a request to stop immediately ends."""
        return Interruption(self._token)


class _Listener:
    """Hears of every request to cancel, as a token does that is a child of another."""

    def __init__(self, listen: Callable[[], object]) -> None:
        self._listen = listen

    def request_graceful(self) -> bool:
        self._listen()
        return False

    def request_immediate(self) -> bool:
        self._listen()
        return False


class Shield:
    """Work that must finish during cancellation: `with Shield(): ...`.

    It shields from the session's own token and from the scopes of anyio and trio, but not from
    `asyncio.Task.cancel`, which interrupts whatever the task awaits.
    """

    def __enter__(self) -> None:
        """Begin the work."""
        self._scope = anyio.CancelScope(shield=True)
        self._scope.__enter__()
        self._block = innermost()
        if self._block is not None:
            self._block.defer()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the work; what was put off follows."""
        if self._block is not None:
            self._block.stop_deferring()
        self._scope.__exit__(kind, error, trace)


@contextmanager
def grace() -> Generator[Interruption]:
    """Run the closing events of a cancelled turn, for a limited time: until the block is ended."""
    with anyio.CancelScope(shield=True), Interruption(seconds=GRACE_SECONDS) as time:
        yield time


async def finish_steps(steps: LastSteps) -> None:
    """Do all steps, for a limited time; a cancellation meanwhile ends one of them, and is raised.

    Raises:
        BaseException: The cancellation.
    """
    cancellation: BaseException | None = None
    with grace() as time:
        for step in steps:
            try:
                await step
            except anyio.get_cancelled_exc_class() as error:
                if time.was_ended:
                    raise
                cancellation = cancellation or error
    if cancellation is not None:
        raise cancellation


def await_interruptibly(awaitable: Awaitable[Any], what: str) -> Coroutine[Any, Any, Any]:
    """Await something that ends when the part of the turn around it is interrupted.

    Under asyncio, what does not end within `LEAVE_SECONDS` is left behind.
    """
    return _await_steps(as_coroutine(awaitable), what)


async def _await_steps(steps: Steps, what: str) -> Any:
    # Time limits within, such as that of a sub-agent, begin no grace.
    around = innermost()
    # Most hooks wait for nothing: then this step is all.
    try:
        awaited = steps.send(None)
    except StopIteration as stop:
        return stop.value
    is_meant = partial(was_ended, around)
    return await Leaving(steps, LEAVE_SECONDS, what, logger, is_meant).await_rest(awaited)


def begin_contained(
    begin: Callable[[], Steps],
    is_stopping: Callable[[], bool],
    what: str,
    seconds: float | None = None,
    more: Callable[[], float] | None = None,
) -> tuple[Awaitable[Any] | None, Any]:
    """Run a tool until the part of the turn around it is interrupted; what it raises is contained.

    Args:
        begin: Calls the tool, and returns its coroutine.
        is_stopping: Whether the calls of the round are cancelled.
        what: What it is, for warnings.
        seconds: How long it may take; `EXPIRED` is the result after that. None for no limit.
        more: Returns how many seconds longer than others it may take to end once it must; None for
            no longer than they.

    Returns:
        What must be awaited for the result; or None, and the result of a tool that waits for nothing.
    """
    if seconds is not None:
        return await_contained(begin, is_stopping, what, seconds, more), None
    # Time limits within, such as that of a sub-agent, begin no grace.
    around = innermost()
    steps, found = _do_first_step(begin, is_stopping)
    if steps is None:
        return None, found
    return _await_rest(steps, found, is_stopping, what, partial(was_ended, around), more), None


async def await_contained(
    begin: Callable[[], Steps],
    is_stopping: Callable[[], bool],
    what: str,
    seconds: float,
    more: Callable[[], float] | None = None,
) -> Any:
    """Run a tool as `begin_contained` does, with a limit."""
    with Interruption() as block:
        limit = CallLimit(block, seconds)
        token = CALL_LIMIT.set(limit)
        try:
            steps, found = _do_first_step(begin, is_stopping)
            # A tool that waits for nothing needs no timer.
            if steps is None:
                return found
            limit.arm_timer()
            ended = partial(was_ended, block)
            return await _await_rest(steps, found, is_stopping, what, ended, more)
        finally:
            CALL_LIMIT.reset(token)
    return EXPIRED


def _do_first_step(
    begin: Callable[[], Steps], is_stopping: Callable[[], bool]
) -> tuple[Steps | None, Any]:
    """Return the coroutine of a tool and what it awaits; None and its result if it has ended."""
    try:
        steps = begin()
        try:
            return steps, steps.send(None)
        except StopIteration as stop:
            return None, stop.value
    except Exception:
        raise
    except BaseException as error:  # noqa: BLE001 -- another one is raised
        raised = contain_error(error, is_stopping)
    raise raised


def _await_rest(
    steps: Steps,
    awaited: Any,
    is_stopping: Callable[[], bool],
    what: str,
    is_meant: Callable[[], bool],
    more: Callable[[], float] | None,
) -> Awaitable[Any]:
    limited: Any = ContainedSteps(steps, is_stopping)
    leaving = Leaving(limited, LEAVE_SECONDS, what, logger, is_meant, more)
    return leaving.await_rest(awaited)
