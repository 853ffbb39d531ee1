"""Levels of cancellation, and the cancellation token in plain Python."""

from __future__ import annotations

import logging
from abc import ABCMeta
from collections.abc import Callable
from enum import Enum
from typing import Any, Self

from ._kernel.argument import text
from ._kernel.awaitable import is_awaitable
from ._kernel.engine_choice import extension
from ._kernel.own_failure import is_own_failure

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
        call = text(tool_call_id, "tool_call_id")
        self._tools[call] = text(tool_name, "tool_name")

    def register_tool_complete(self, tool_call_id: str) -> None:
        """Note that a tool call is over; an unknown one is ignored."""
        self._tools.pop(text(tool_call_id, "tool_call_id"), None)

    def register_child(self, child: Any) -> None:
        """Pass every request on to this token too, including what was requested before.

        Raises:
            TypeError: It is not a token.
        """
        _check_child(child)
        self._children.append(child)
        _pass_on(child, self._level)

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
        if level <= self._level:
            return False
        # Before the children hear of it, so that a cycle of tokens ends.
        self._level = level
        for child in tuple(self._children):
            _pass_on(child, level)
        return True


def _check_child(child: Any) -> None:
    """Refuse what could not be asked for a level later, when others have to be asked too."""
    for request in ("request_graceful", "request_immediate"):
        if not callable(getattr(child, request, None)):
            found = type(child).__name__
            raise TypeError(f"`child` must be a cancellation token, not `{found}`")


def _pass_on(child: Any, level: int) -> None:
    """Ask a child token, of either engine, for a level."""
    if level == 1:
        child.request_graceful()
    elif level == 2:
        child.request_immediate()


if extension is not None:
    CancellationToken.register(extension.RustCancellationToken)
