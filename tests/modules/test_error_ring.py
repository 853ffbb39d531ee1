"""A circuit that the same error in each of the latest answers opens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_modules.loops.recoverable_errors import ErrorRing

ANSWERS = st.lists(st.none() | st.lists(st.sampled_from("abc"), min_size=1, max_size=3))
"""None is a success."""


def test_five_identical_errors_open_the_circuit_and_a_success_closes_it() -> None:
    ring = ErrorRing[str](5)
    opened: list[str | None] = []
    for _ in range(5):
        ring.add(["bad"])
        opened.append(ring.opened_by)
    assert opened == [None, None, None, None, "bad"]
    ring.clear()
    assert (ring.opened_by, ring.count("bad")) == (None, 0)


@pytest.mark.parametrize(
    ("answers", "opened"),
    [
        (["a", "b", "a", "b", "a", "b"], None),
        (["ab", "ba", "ab", "b", "b"], "b"),
        (["ab", "ab", "ab", "ab", "ba"], "b"),
        (["aaaaaa"], None),
    ],
)
def test_an_error_opens_the_circuit_only_if_each_of_five_answers_has_it(
    answers: list[str], opened: str | None
) -> None:
    ring = ErrorRing[str](5)
    for answer in answers:
        ring.add(answer)
    assert ring.opened_by == opened


# Holds: agent-26
@given(st.integers(2, 6) | st.none(), ANSWERS)
def test_the_circuit_opens_when_and_only_when_an_error_is_in_all_latest_answers(
    size: int | None, answers: list[list[str] | None]
) -> None:
    ring = ErrorRing[str](size)
    failed: list[list[str]] = []
    for answer in answers:
        if answer is None:
            ring.clear()
            failed = []
            continue
        ring.add(answer)
        failed.append(answer)
        latest = failed[-size:] if size and len(failed) >= size else []
        common = [each for each in answer if latest and all(each in one for one in latest)]
        assert ring.opened_by == (common[0] if common else None)
