"""The events that handlers wait for, and whether anything emits them."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

from .. import events
from ..handlers import collect_contributed_events, count_registrations
from ..known_modules import list_own_events
from ..session_capabilities import OBSERVABILITY_EVENTS
from ..suggest import suggest_name

PUBLIC_EVENTS = frozenset(
    {
        "delegate:agent_cancelled",
        "delegate:agent_completed",
        "delegate:agent_resumed",
        "delegate:agent_spawned",
        "delegate:error",
        "llm:stream:chunk",
        "llm:stream:thinking",
        "llm:stream_aborted",
        "llm:stream_block_delta",
        "llm:stream_block_end",
        "llm:stream_block_start",
        "skill:loaded",
        "skill:unloaded",
        "skills:discovered",
        "task:agent_completed",
        "task:agent_resumed",
        "task:agent_spawned",
    }
)
"""The events that public applications and modules of others emit, and may not contribute.

Sources:
    - the contract of the published modules: `provider-anthropic` and `provider-openai` emit
      `llm:stream_block_*` and `llm:stream_aborted`, `provider-ollama` emits `llm:stream:*`;
    - the names under which published tools say what became of a sub-agent (`delegate:*`, `task:*`)
      or of a skill.

A hook of a public bundle may wait for them, whether what emits them is mounted or not.
"""

_SESSION_CONFIG = "session:config"
_UNNAMED = "_auto_"


async def idle_handlers(
    coordinator: Any, earlier: frozenset[tuple[str, int]] | None = None
) -> tuple[list[str], list[str]]:
    """Describe the handlers whose event nothing emits: those of the application, then of modules.

    Args:
        coordinator: Whose modules contribute the names of further events.
        earlier: The handlers that no module has registered; None for all.
    """
    hooks = coordinator.hooks
    strange = _strange_events(hooks)
    if not strange:
        return [], []
    known = _known_events() | await collect_contributed_events(coordinator)
    own: list[str] = []
    foreign: list[str] = []
    for event in strange:
        if event in known:
            continue
        for serial, name, handler, *_ in _registrations_of(hooks, event):
            is_own = earlier is None or (event, serial) in earlier
            (own if is_own else foreign).append(
                f"{_name_handler(name, handler)} is registered for `{event}`, which nothing emits"
                f"{suggest_name(event, known) or _WAY_OUT}"
            )
    return own, foreign


def strange_handlers(hooks: Any) -> frozenset[tuple[str, int]]:
    """Return the handlers whose event is not one of the kernel's or of our modules'."""
    strange = _strange_events(hooks)
    if not strange:
        return _NONE
    return frozenset(
        (event, each[0]) for event in strange for each in _registrations_of(hooks, event)
    )


_NONE: frozenset[tuple[str, int]] = frozenset()
_WAY_OUT = f"; whatever emits it can contribute its name to `{OBSERVABILITY_EVENTS}`"


def _name_handler(name: str, handler: Any) -> str:
    """Name a handler: by its registration, else by its function."""
    if name.startswith(_UNNAMED):
        name = getattr(handler, "__qualname__", None) or type(handler).__name__
    return f"the handler `{name}`"


def _strange_events(hooks: Any) -> list[str]:
    kind = cast(Any, type(hooks))
    return kind._events_beside(hooks, _known_events()) if count_registrations(hooks) else []


def _registrations_of(hooks: Any, event: str) -> list[tuple[int, str, Any, bool, float | None]]:
    kind = cast(Any, type(hooks))
    return kind._registrations(hooks, event)


@cache
def _known_events() -> frozenset[str]:
    further = events._further.values()  # pyright: ignore[reportPrivateUsage] -- of the same package
    return frozenset(
        {*events.ALL_EVENTS, *further, _SESSION_CONFIG, *list_own_events(), *PUBLIC_EVENTS}
    )
