"""Levels of cancellation, and the cancellation token in plain Python."""

from __future__ import annotations

import logging
from abc import ABCMeta
from collections.abc import Callable
from enum import Enum
from types import BuiltinMethodType
from typing import Any, Self

from ._kernel.argument import take_text
from ._kernel.own_failure import is_own_failure
from ._native.choice import extension
from .event_loop import is_awaitable

__all__ = ["CancellationState", "CancellationToken"]

logger = logging.getLogger(__name__)

_LEVELS = ("none", "graceful", "immediate")


class CancellationState(Enum):
    """What was requested; a token's `state` is the value of one of these."""

    NONE = "none"
    GRACEFUL = "graceful"
    IMMEDIATE = "immediate"


class CancellationToken(metaclass=ABCMeta):
    """Asks a session and its children to stop, gracefully or immediately."""

    _level: int
    _tools: dict[str, str]
    _children: list[Any]
    _callbacks: list[Callable[[], Any]]

    def __new__(cls) -> Self:
        """Create a token without a request."""
        token = super().__new__(cls)
        token._level = 0
        token._tools = {}
        token._children = []
        token._callbacks = []
        return token

    @property
    def state(self) -> str:
        """The level: "none", "graceful" or "immediate"."""
        return _LEVELS[self._level]

    @property
    def is_cancelled(self) -> bool:
        """Whether cancellation was requested, graceful or immediate."""
        return self._level > 0

    @property
    def is_graceful(self) -> bool:
        """Whether the level is exactly graceful."""
        return self._level == 1

    @property
    def is_immediate(self) -> bool:
        """Whether everything has to stop immediately."""
        return self._level == 2

    @property
    def running_tools(self) -> set[str]:
        """The ids of the tool calls that run now."""
        return set(self._tools)

    @property
    def running_tool_names(self) -> list[str]:
        """The names of the tools that run now."""
        return list(self._tools.values())

    def request_graceful(self) -> bool:
        """Ask to stop after what runs now; true if nothing was requested before."""
        return self._request(1)

    def request_immediate(self) -> bool:
        """Ask to stop immediately; true if that was not requested before."""
        return self._request(2)

    def request_cancellation(self) -> None:
        """Ask to stop after what runs now."""
        self._request(1)

    def reset(self) -> None:
        """Back to not cancelled, with no running tools; children and callbacks stay."""
        self._level = 0
        self._tools.clear()

    def register_tool_start(self, tool_call_id: str, tool_name: str) -> None:
        """Note that a tool call runs."""
        call = take_text(tool_call_id, "tool_call_id")
        self._tools[call] = take_text(tool_name, "tool_name")

    def register_tool_complete(self, tool_call_id: str) -> None:
        """Note that a tool call is over; an unknown one is ignored."""
        self._tools.pop(take_text(tool_call_id, "tool_call_id"), None)

    def register_child(self, child: Any) -> None:
        """Pass every request on to this token too, including what was requested before.

        Raises:
            TypeError: It is not a token.
        """
        _check_child(child)
        self._children.append(child)
        _pass_on([child], self._level)

    def unregister_child(self, child: Any) -> None:
        """Pass nothing on to this token any more; an unknown one is ignored."""
        self._children[:] = [known for known in self._children if known is not child]

    def on_cancel(self, callback: Callable[[], Any]) -> None:
        """Run a function, plain or async, whenever `trigger_callbacks` is called."""
        self._callbacks.append(callback)

    async def trigger_callbacks(self) -> None:
        """Run every callback in the order of registration; what they raise is logged.

        Raises:
            KeyboardInterrupt: A callback raised it, the first of its kind; the others have run.
            SystemExit: The same.
        """
        held: BaseException | None = None
        for callback in tuple(self._callbacks):
            try:
                called = callback()
                if is_awaitable(called):
                    await called
            except (KeyboardInterrupt, SystemExit) as error:
                held = held or error
            except BaseException as error:
                # The task itself is cancelled, or its coroutine closed.
                if not is_own_failure(error):
                    raise
                logger.error("cancellation callback failed; continuing", exc_info=error)
        if held is not None:
            raise held

    def __repr__(self) -> str:
        """Show the level."""
        return f"<{type(self).__name__}: {self.state}>"

    def _request(self, level: int) -> bool:
        """Raise the level here, then at every child; true if it rose here."""
        rises = level > self._level
        _pass_on(self._rise(level), level)
        return rises

    def _rise(self, level: int) -> list[Any]:
        """Raise the level here alone; return the children that have to follow."""
        if level <= self._level:
            return []
        # Before the children hear of it, so that a cycle of tokens ends.
        self._level = level
        return self._children.copy()


_REQUESTS = ("", "request_graceful", "request_immediate")
"""The method that asks for a level."""
_OWN_REQUESTS = {name: vars(CancellationToken)[name] for name in _REQUESTS[1:]}
"""The methods as the class here defines them."""


def _check_child(child: Any) -> None:
    """Refuse what could not be asked for a level later, when others have to be asked too."""
    for request in _REQUESTS[1:]:
        if not callable(getattr(child, request, None)):
            found = type(child).__name__
            raise TypeError(f"`child` must be a cancellation token, not `{found}`")


def _pass_on(tokens: list[Any], level: int) -> None:
    """Ask tokens and all that follow them, of either engine, for a level.

    A list instead of calls within calls: tokens may be nested deeper than a stack is. All are
    asked, whatever some of them raise; the first error is raised at the end.
    """
    if level == 0:
        return
    failure: BaseException | None = None
    waiting = tokens[::-1]
    while waiting:
        token = waiting.pop()
        try:
            request = getattr(token, _REQUESTS[level])
            if _is_own(request, token, _REQUESTS[level]):
                waiting.extend(reversed(token._rise(level)))
            else:
                request()
        except BaseException as error:  # noqa: BLE001 (raised below)
            failure = failure or error
    if failure is not None:
        raise failure


def _is_own(request: Any, token: Any, name: str) -> bool:
    """Whether a method is that of a token's class here, which need not be called.

    A method of a subclass or of the instance itself is called; it asks its children itself.
    """
    if getattr(request, "__self__", None) is not token:
        return False
    if isinstance(request, BuiltinMethodType):
        is_rust = extension is not None and isinstance(token, extension.RustCancellationToken)
        return is_rust and request.__name__ == name
    return getattr(request, "__func__", None) is _OWN_REQUESTS[name]


if extension is not None:
    CancellationToken.register(extension.RustCancellationToken)
