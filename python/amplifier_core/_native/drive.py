"""The one native coroutine that awaits what the engine decides."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from types import FunctionType
from typing import Any, Protocol, cast

from ..turns import Turns


class Step(Protocol):
    """One operation of the engine in progress: it names the next awaitable, or None at its end."""

    result: Any
    """The operation's result, once a call has returned None."""

    def __call__(self, value: Any, /) -> Awaitable[Any] | None:
        """Go on with what the last awaitable returned (None to begin)."""
        ...

    def raised(self, error: BaseException, /) -> Awaitable[Any] | None:
        """Go on after the last awaitable raised; raises what is not the operation's to handle."""
        ...


async def drive(step: Step) -> Any:
    """Await whatever the step names until it is done, and return its result."""
    awaitable = step(None)
    while awaitable is not None:
        try:
            value = await awaitable
        except BaseException as error:  # noqa: BLE001 (the step raises what is not its own)
            awaitable = step.raised(error)
        else:
            awaitable = step(value)
    return step.result


async def drive_turn(step: Step, turns: Turns) -> Any:
    """Drive a step when it is its turn."""
    turn = turns.begin()
    if turn.waiting is not None:
        await turn.wait()
    try:
        # As in `drive`, whose coroutine would cost as much as all of this.
        awaitable = step(None)
        while awaitable is not None:
            try:
                value = await awaitable
            except BaseException as error:  # noqa: BLE001 (the step raises what is not its own)
                awaitable = step.raised(error)
            else:
                awaitable = step(value)
        return step.result
    finally:
        turn.end()


async def complete(result: Any) -> Any:
    """Return the result of an operation that was over when it was called."""
    return result


def _rename_function(function: Callable[..., Any], qualname: str) -> Callable[..., Any]:
    """The same coroutine function under another name, which its coroutines have too."""
    plain = cast(FunctionType, function)
    copy = FunctionType(plain.__code__, plain.__globals__, qualname.rpartition(".")[2])
    copy.__qualname__ = qualname
    return copy


def driver(qualname: str) -> Callable[[Step], Coroutine[Any, Any, Any]]:
    """The function that drives steps in coroutines with this `__qualname__`."""
    return _rename_function(drive, qualname)


def turn_driver(qualname: str) -> Callable[[Step, Turns], Coroutine[Any, Any, Any]]:
    """The function that drives steps, in their turn, in coroutines with this `__qualname__`."""
    return _rename_function(drive_turn, qualname)


def wrap_result(qualname: str) -> Callable[[Any], Coroutine[Any, Any, Any]]:
    """The function that wraps a result in a coroutine with this `__qualname__`."""
    return _rename_function(complete, qualname)
