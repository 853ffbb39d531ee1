"""`@hook`: a function that observes or judges events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from amplifier_core.handlers import check_handler
from amplifier_modules.tool.function_tool import check_seconds

if TYPE_CHECKING:
    from amplifier_core import HookResult

HookFunction: TypeAlias = Callable[
    [str, dict[str, Any]], Union["HookResult", Awaitable[Union["HookResult", None]], None]
]
"""Takes an event's name and data; returns what it decides, or None."""

EVERY_EVENT = "*"


@dataclass(frozen=True)
class Hook:
    """A function and the events that it is called for; made by `hook`."""

    function: HookFunction
    events: tuple[str, ...]
    priority: int = 0
    fail_closed: bool = True
    timeout: float | None = None

    @property
    def name(self) -> str:
        """The name that messages call it by."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def __call__(self, event: str, data: dict[str, Any]) -> Any:
        """Call the function itself."""
        return self.function(event, data)


def hook(
    *events: str, priority: int = 0, fail_closed: bool = True, timeout: float | None = None
) -> Callable[[HookFunction], Hook]:
    """Make a hook of a function `(event, data) -> HookResult | None`, sync or async.

    Args:
        *events: The events to be called for; `"*"` is every event, after it was judged, and such a
            hook only observes.
        priority: Lower ones are called first.
        fail_closed: Whether the event is denied if the function raises or is too late.
        timeout: Seconds that an async function may take; None for no limit.

    Raises:
        TypeError: No event is named, an argument is of the wrong type, or what is decorated is no
            function of an event and its data.
        ValueError: `"*"` stands beside other events or has other arguments, or the timeout is not
            above 0.
    """
    if not events or not all(isinstance(event, str) for event in events):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        raise TypeError('`hook` needs the names of events: `@hook("tool:pre")`')
    if EVERY_EVENT in events and len(events) > 1:
        raise ValueError('`"*"` is every event; name it alone')

    if isinstance(priority, bool) or not isinstance(priority, int):  # pyright: ignore[reportUnnecessaryIsInstance] -- callers may not be typed
        raise TypeError(f"`priority` of a hook is a `{type(priority).__name__}` (must be an int)")
    if not isinstance(fail_closed, bool):  # pyright: ignore[reportUnnecessaryIsInstance] -- the same
        found = type(fail_closed).__name__
        raise TypeError(f"`fail_closed` of a hook is a `{found}` (must be true or false)")
    check_seconds(timeout, "a hook")
    if EVERY_EVENT in events and (priority or timeout is not None or not fail_closed):
        raise ValueError(
            '`"*"` only observes, so `priority`, `fail_closed` and `timeout` have no effect'
        )

    def decorate(function: HookFunction) -> Hook:
        if not callable(function):
            raise TypeError(f"a hook is made of a function, not of a `{type(function).__name__}`")
        check_handler(function, ", ".join(f"`{event}`" for event in events))
        return Hook(function, events, priority, fail_closed, timeout)

    return decorate
