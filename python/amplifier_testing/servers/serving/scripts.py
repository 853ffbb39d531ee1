"""Scripts of a server, checked before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from .answer import Answer, Recorded, Script
from .fault import Fault

_ANSWER = "a text, an `Answer` or a `Recorded`"


def checked_answers(answers: Any) -> list[Script]:
    """Return a list of answers.

    Raises:
        TypeError: It is no list, or one of them is of another type.
    """
    listed = _read_list(answers, "answers", f"a list of answers, each {_ANSWER}")
    for place, answer in enumerate(listed):
        checked_answer(answer, f"answer {place} of the script")
    return listed


def checked_answer(answer: Any, where: str) -> Answer | Recorded:
    """Return an answer; a text becomes one.

    Raises:
        TypeError: It is of another type.
    """
    if isinstance(answer, str):
        return Answer(answer)
    if not isinstance(answer, Answer | Recorded):
        raise TypeError(f"{where} is a `{type(answer).__name__}` (must be {_ANSWER})")
    return answer


def checked_faults(faults: Any) -> list[Fault | None]:
    """Return a list of faults.

    Raises:
        TypeError: It is no list, or one of them is of another type.
    """
    listed = _read_list(faults, "faults", "a list of faults, each a `Fault`, or None for none")
    for place, fault in enumerate(listed):
        if fault is not None and not isinstance(fault, Fault):
            raise TypeError(
                f"fault {place} of the script is a `{type(fault).__name__}` (must be a `Fault`, or"
                " None for none)"
            )
    return listed


def _read_list(given: Any, name: str, right: str) -> list[Any]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"`{name}` is a `{type(cast('object', given)).__name__}` (must be {right})")
    return list(cast("Iterable[Any]", given))
