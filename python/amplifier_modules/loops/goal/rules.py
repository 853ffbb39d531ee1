"""The goal of a session, and its rules: when a turn goes on, and how the pursuit ends."""

from __future__ import annotations

import logging
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

from amplifier_providers.running.count_noun import count_noun

logger = logging.getLogger(__name__)

KEY = "goal"
"""Where the goal is in `coordinator.session_state`."""


def goal_of(coordinator: Any) -> str | None:
    """Return the goal of a session: a text, or a mapping with `text`; None without one."""
    shared: Any = getattr(coordinator, "session_state", None)
    given = cast("dict[str, Any]", shared).get(KEY) if isinstance(shared, dict) else None
    if given is None:
        return None
    text = cast("Mapping[str, Any]", given).get("text") if isinstance(given, Mapping) else given
    if isinstance(text, str):
        return text.strip() or None
    found = type(cast("object", given)).__name__
    logger.warning(
        "`%s` of the session state is a `%s` (must be text, or a mapping with `text`); it is ignored",
        KEY,
        found,
    )
    return None


def set_goal(coordinator: Any, goal: str | None) -> None:
    """Set the goal of a session; None for none."""
    shared = _shared_state(coordinator)
    if goal is None:
        shared.pop(KEY, None)
    else:
        shared[KEY] = goal


def _shared_state(coordinator: Any) -> dict[str, Any]:
    shared: dict[str, Any] | None = getattr(coordinator, "session_state", None)
    return shared if isinstance(shared, dict) else {}


LOOK_BACK = 3
"""Rounds with which a new one is compared, so that going to and fro is found too."""


class GoalVerdict(Enum):
    """How the pursuit of a goal ended."""

    REACHED = "reached"
    STALLED = "stalled"
    """The judge gave the same reason again and again."""
    BUSY_STALLED = "busy_stalled"
    """Tools ran, and nothing changed."""
    CAPPED = "capped"
    """A limit was reached: of rounds, or of the turn."""
    CANCELLED = "cancelled"
    """The turn was cancelled, or the goal withdrawn."""
    FAILED = "failed"
    """The judge, the model or a hook kept the turn from going on."""


@dataclass(frozen=True)
class GoalEnd:
    """The end of a pursuit."""

    verdict: GoalVerdict
    reason: str


@dataclass(frozen=True)
class Round:
    """An answer of the model, and the verdict of the judge."""

    reached: bool | None
    """None where the judge gave no verdict."""
    reason: str
    actions: frozenset[str] = frozenset()
    """What tools did for this answer: each call with its arguments and its result."""


@dataclass
class GoalRules:
    """Judges each round in the light of those before it.

    The first of these that holds ends the pursuit: the goal is reached; the judge gave no verdict
    `judge_failures` times in a row; `stall_rounds` rounds in a row are alike, and no tool ran since
    the first of them; `busy_stall_rounds` are, and a tool did; `max_rounds` answers were judged.

    A round is like one of the three before it if the reasons are alike, or the same calls of tools
    had the same results.
    """

    max_rounds: int | None
    stall_rounds: int
    busy_stall_rounds: int
    overlap: float
    """Share of their words that two reasons have in common if they are alike."""
    judge_failures: int

    def __post_init__(self) -> None:
        """Begin before the first round."""
        self.rounds = 0
        self._failures = 0
        self._before: deque[Round] = deque(maxlen=LOOK_BACK)
        self._alike = 0
        """Rounds in a row, each like one of those before it, and the first of them."""
        self._is_busy = False
        """Whether a tool ran in one of these, but for the first."""

    def judge(self, found: Round) -> GoalEnd | None:
        """Return how the pursuit ends after this round; None if the turn goes on."""
        self.rounds += 1
        self._failures = self._failures + 1 if found.reached is None else 0
        if any(self._is_like(found, other) for other in self._before):
            self._alike += 1
            self._is_busy = self._is_busy or bool(found.actions)
        else:
            self._alike, self._is_busy = 1, False
        self._before.append(found)
        if found.reached:
            return GoalEnd(GoalVerdict.REACHED, found.reason)
        if self._failures >= self.judge_failures:
            return GoalEnd(GoalVerdict.FAILED, f"no verdict on the goal: {found.reason}")
        times = f"{count_noun(self._alike, 'round')} in a row"
        if not self._is_busy and self._alike >= self.stall_rounds:
            return GoalEnd(GoalVerdict.STALLED, f"no progress in {times}: {found.reason}")
        if self._is_busy and self._alike >= self.busy_stall_rounds:
            reason = f"tools ran, and nothing changed in {times}: {found.reason}"
            return GoalEnd(GoalVerdict.BUSY_STALLED, reason)
        if self.rounds == self.max_rounds:
            reason = f"the limit of {count_noun(self.rounds, 'round')}, `goal_max_rounds`: {found.reason}"
            return GoalEnd(GoalVerdict.CAPPED, reason)
        return None

    def _is_like(self, found: Round, other: Round) -> bool:
        if found.actions and found.actions == other.actions:
            return True
        have_verdicts = found.reached is not None and other.reached is not None
        return have_verdicts and are_alike(found.reason, other.reason, self.overlap)


_WORD = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]|[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+"
)
"""A word; a single character of the scripts that put no spaces between words."""


def are_alike(first: str, second: str, overlap: float) -> bool:
    """Whether two reasons share so much of their words, and all of their numbers.

    Numbers count by themselves, as "2 of 5 tests fail" is progress after "3 of 5 tests fail".

    Args:
        first: A reason; an empty one says nothing, and is like no other.
        second: Another one.
        overlap: The share of all their words that both must have, from 0 to 1.
    """
    words, others = _find_words(first), _find_words(second)
    if not words or not others or _pick_numbers(words) != _pick_numbers(others):
        return False
    return len(words & others) >= overlap * len(words | others)


def _find_words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _pick_numbers(words: set[str]) -> set[str]:
    return {word for word in words if any(map(str.isdigit, word))}
