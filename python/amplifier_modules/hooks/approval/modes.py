"""The modes of a session: what happens to a call that no rule is about."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from .calls import Call, Effect

Mode: TypeAlias = Literal["auto", "ask", "review", "read-only", "plan"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""The names of the modes."""

_BY_WIDTH: tuple[Mode, ...] = ("plan", "read-only", "ask", "review", "auto")
"""Each lets happen unasked what the one before it does, and more."""

PRESENT_PLAN = "present_plan"
"""The tool that ends the mode `plan`, once a person agrees to the plan."""
_FREE = frozenset({Effect.READS, Effect.SESSION})


def choose_narrower(mode: Mode, other: Mode) -> Mode:
    """Return the mode of two that lets less happen unasked."""
    return mode if _BY_WIDTH.index(mode) < _BY_WIDTH.index(other) else other


def find_refusal(mode: Mode, call: Call) -> str | None:
    """Return why a mode lets nobody agree to a call; None where it does not."""
    if call.effect in _FREE:
        return None
    if mode == "read-only":
        return f"the mode is `read-only`, and `{call.name}` may change something"
    if mode == "plan":
        return (
            f"the mode is `plan`, and `{call.name}` may change something: read what you need, then"
            f" call `{PRESENT_PLAN}` with the plan; a person decides about it"
        )
    return None


def asks_about(mode: Mode, call: Call) -> bool:
    """Whether a mode has a person asked about a call that no rule and no grant is about.

    In the mode `review` a tool that shows what it changes asks about that, when it knows it.
    """
    if call.effect in _FREE:
        return False
    return mode == "ask" or (mode == "review" and not call.shows_changes)
