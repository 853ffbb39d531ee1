"""What a session can go back to: one of its changes, turns or events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .recorded_change import RecordedChange

if TYPE_CHECKING:
    from amplifier_modules.stores.stored_turns import StoredTurns

_NAME = re.compile(r"(change|turn|event)-([0-9]{1,15})")
_NUMBER = re.compile(r"[0-9]{1,15}")


class RewindPointError(ValueError):
    """Something that a session cannot go back to."""


@dataclass(frozen=True)
class RewindPoint:
    """The moment right after a change, a turn or an event."""

    event: int | None
    """The last event that stays; None where the session is not stored."""
    changes: tuple[RecordedChange, ...]
    """Those that were made after it and not taken back."""


@dataclass(frozen=True)
class NamedChange:
    """A change that was not taken back, with what it is named by."""

    id: str
    """Such as `change-3`."""
    turn: str | None
    """The turn that it was made in, such as `turn-2`; None where the session is not stored."""
    event: int | None
    """The number of the event with its result; None where the session is not stored."""
    tool: str
    """The tool that made it."""
    paths: tuple[str, ...]
    """What it changed, from the project; nothing where it is not kept any more."""


def find_point(
    to: int | str, changes: Sequence[RecordedChange], turns: StoredTurns | None, session_id: str
) -> RewindPoint:
    """Return what a person, or a program, means.

    Args:
        to: The id of a change or a turn, such as `change-3` and `turn-2`, or an event by its number.
        changes: All changes of the session.
        turns: Its turns; None if it is not stored.
        session_id: Its id.

    Raises:
        RewindPointError: There is none of this name, or it is taken back.
    """
    kind, number = _read_name(to)
    if kind == "change":
        return _find_change(number, changes, turns, session_id)
    if turns is None:
        names = _name_range("change", [each.number for each in changes])
        raise RewindPointError(
            f"session `{session_id}` is not stored: {_quote(to)} is not known (must be {names})"
        )
    if kind == "turn":
        _check_number(kind, number, range(1, len(turns.ends) + 1))
        event = turns.ends[number - 1]
    else:
        _check_number(kind, number, range(1, turns.head + 1))
        event = number
    later = (
        each
        for each in changes
        if not each.is_undone and each.event is not None and each.event >= event
    )
    return RewindPoint(event, tuple(later))


def find_event(recorded: RecordedChange, turns: StoredTurns | None, session_id: str) -> int | None:
    """Return the event with the result of a change, or the last one before it if there is none.

    A sub-agent's call is one of its own events: of those of the session it was the one before.
    """
    if turns is None or recorded.event is None:
        return None
    if recorded.session_id != session_id or recorded.call_id is None:
        return recorded.event
    return turns.find_result(recorded.call_id, recorded.event) or recorded.event


def name_change(
    recorded: RecordedChange, paths: Sequence[str], turns: StoredTurns | None, session_id: str
) -> NamedChange:
    """Return what a change is named by."""
    turn = None
    if turns is not None and recorded.event is not None:
        turn = turns.find_turn(recorded.event)
    return NamedChange(
        f"change-{recorded.number}",
        None if turn is None else f"turn-{turn}",
        find_event(recorded, turns, session_id),
        recorded.tool,
        tuple(paths),
    )


def _read_name(to: int | str) -> tuple[str, int]:
    if isinstance(to, int):
        return "event", to
    text = to.strip().lower()
    if _NUMBER.fullmatch(text):
        return "event", int(text)
    if found := _NAME.fullmatch(text):
        return found[1], int(found[2])
    raise RewindPointError(
        f"{_quote(to)} names nothing to go back to (must be a change such as `change-3`, a turn such"
        " as `turn-2`, or the number of an event)"
    )


def _find_change(
    number: int, changes: Sequence[RecordedChange], turns: StoredTurns | None, session_id: str
) -> RewindPoint:
    _check_number("change", number, [each.number for each in changes])
    recorded = next(each for each in changes if each.number == number)
    if recorded.is_undone:
        raise RewindPointError(f"`change-{number}` is taken back (`redo` makes it again)")
    later = (each for each in changes if each.number > number and not each.is_undone)
    return RewindPoint(find_event(recorded, turns, session_id), tuple(later))


def _check_number(kind: str, number: int, known: Sequence[int]) -> None:
    if number not in known:
        names = _name_range(kind, known)
        raise RewindPointError(f"there is no `{kind}-{number}` (must be {names})")


def _name_range(kind: str, known: Sequence[int]) -> str:
    if not known:
        return f"a {kind}, and there is none yet"
    first, last = f"`{kind}-{known[0]}`", f"`{kind}-{known[-1]}`"
    return first if first == last else f"{first} to {last}"


def _quote(to: object) -> str:
    return f"`{str(to)[:80]}`"
