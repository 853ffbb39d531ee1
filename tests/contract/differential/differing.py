"""Where the results of two sides differ, leaf by leaf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MISSING = "<missing>"


@dataclass(frozen=True)
class Difference:
    """One place where the sides differ."""

    program: dict[str, Any]
    """The program."""
    index: int
    """Which of its steps."""
    path: tuple[str | int, ...]
    """Where in the step's outcome."""
    reference: Any
    ours: Any
    outcome: dict[str, Any] = field(default_factory=dict[str, Any])
    """What came of our step as a whole."""

    @property
    def step(self) -> dict[str, Any]:
        return self.program["steps"][self.index] if self.index >= 0 else {"do": "nothing"}

    def __str__(self) -> str:
        where = "/".join(map(str, self.path))
        return (
            f"{self.program['id']}: step {self.index} {self.step}\n"
            f"  at {where}\n  2.0.2 {self.reference!r}\n  ours  {self.ours!r}"
        )


def leaves(reference: Any, ours: Any, path: tuple[str | int, ...] = ()) -> Iterator[Any]:
    """The paths at which two plain values differ, with what each has there."""
    if isinstance(reference, dict) and isinstance(ours, dict):
        for key in {**reference, **ours}:
            yield from leaves(reference.get(key, MISSING), ours.get(key, MISSING), (*path, key))
    elif isinstance(reference, list) and isinstance(ours, list) and len(reference) == len(ours):
        for position, (one, other) in enumerate(zip(reference, ours, strict=True)):
            yield from leaves(one, other, (*path, position))
    elif reference != ours or type(reference) is not type(ours):
        yield path, reference, ours


def differences(program: dict[str, Any], reference: Any, ours: Any) -> Iterator[Difference]:
    """Where the results of a program differ, step by step."""
    if "steps" not in reference or "steps" not in ours:
        if reference != ours:
            yield Difference(program, -1, ("program",), reference, ours)
        return
    for index, (one, other) in enumerate(zip(reference["steps"], ours["steps"], strict=False)):
        if ("raises" in one) != ("raises" in other):
            yield Difference(program, index, ("outcome",), one, other, other)
            continue
        for path, theirs, mine in leaves(one, other):
            yield Difference(program, index, path, theirs, mine, other)
    if len(reference["steps"]) != len(ours["steps"]):
        yield Difference(program, -1, ("steps",), len(reference["steps"]), len(ours["steps"]))
