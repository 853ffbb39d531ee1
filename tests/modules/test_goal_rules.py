"""Goal mode without a model: when it goes on, what reasons are alike, and what a judge said."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_modules.loops.goal.judgement import Judgement, read_judgement
from amplifier_modules.loops.goal.rules import GoalRules, GoalVerdict, Round, are_alike


def rules(**changes):
    usual = {"max_rounds": 10, "stall_rounds": 3, "busy_stall_rounds": 5, "overlap": 0.8}
    return GoalRules(**{**usual, "judge_failures": 2, **changes})


def pursued(limits, rounds):
    """Return how many rounds were judged, and the verdict; None if it would go on."""
    for each in rounds:
        if (end := limits.judge(each)) is not None:
            return limits.rounds, end.verdict
    return limits.rounds, None


@dataclass
class Plain:
    """A round in small: a reason is a letter, an action is a digit, so alike means equal."""

    reached: bool | None
    reason: str
    action: str


def expected(limits, rounds):
    """The rules once more, each looking at the whole past.

    Whether round `i` repeats one of the three before it; how long that has been so without a break;
    whether a tool ran within that.
    """

    def repeats(i):
        return any(
            (a.action and a.action == b.action)
            or (
                a.reached is not None
                and b.reached is not None
                and a.reason
                and a.reason == b.reason
            )
            for a in [rounds[i]]
            for b in rounds[max(0, i - 3) : i]
        )

    for i, each in enumerate(rounds):
        start = i
        while start and repeats(start):
            start -= 1
        alike, is_busy = i - start + 1, any(r.action for r in rounds[start + 1 : i + 1])
        failures = 0
        while failures <= i and rounds[i - failures].reached is None:
            failures += 1
        if each.reached:
            return i + 1, GoalVerdict.REACHED
        if failures >= limits.judge_failures:
            return i + 1, GoalVerdict.FAILED
        if not is_busy and alike >= limits.stall_rounds:
            return i + 1, GoalVerdict.STALLED
        if is_busy and alike >= limits.busy_stall_rounds:
            return i + 1, GoalVerdict.BUSY_STALLED
        if i + 1 == limits.max_rounds:
            return i + 1, GoalVerdict.CAPPED
    return len(rounds), None


PLAIN = st.builds(
    Plain,
    reached=st.sampled_from([False, False, False, False, None, True]),
    reason=st.sampled_from(["", "a", "b", "c", "d"]),
    action=st.sampled_from(["", "", "1", "2", "3"]),
)


@given(
    rounds=st.lists(PLAIN, max_size=14),
    most=st.none() | st.integers(1, 12),
    stall=st.integers(2, 5),
    busy=st.integers(2, 6),
    failures=st.integers(1, 3),
)
def test_the_rounds_and_the_verdict_follow_the_rules(rounds, most, stall, busy, failures):
    limits = {
        "max_rounds": most, "stall_rounds": stall, "busy_stall_rounds": busy,
        "judge_failures": failures,
    }  # fmt: skip
    given_rounds = [Round(each.reached, each.reason, frozenset(each.action)) for each in rounds]
    assert pursued(rules(**limits), given_rounds) == expected(rules(**limits), rounds)


def not_yet(reason, *actions):
    return Round(False, reason, frozenset(actions))


def test_going_to_and_fro_between_two_reasons_is_a_stall():
    rounds = [not_yet("the build is red"), not_yet("a test fails")] * 3

    assert pursued(rules(), rounds) == (4, GoalVerdict.STALLED)


def test_the_same_reason_while_tools_run_has_more_patience():
    rounds = [not_yet("no tests", str(number)) for number in range(9)]

    assert pursued(rules(), rounds) == (5, GoalVerdict.BUSY_STALLED)


def test_the_same_calls_with_the_same_results_are_a_busy_stall_whatever_the_reasons():
    reasons = ["one thing", "another matter", "something else", "yet more", "all different", "x"]

    assert pursued(rules(), [not_yet(each, "read") for each in reasons]) == (
        5,
        GoalVerdict.BUSY_STALLED,
    )


def test_reasons_with_other_numbers_are_progress():
    rounds = [not_yet(f"{left} of 9 functions have no test") for left in range(9, 0, -1)]

    assert pursued(rules(), rounds) == (9, None)


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("The tests fail.", "the tests fail", True),
        ("The file is still missing", "the file is missing still!", True),
        ("the parser has no tests yet", "the parser has no tests at all yet", False),
        ("3 tests fail", "2 tests fail", False),
        ("3 tests fail", "3 tests fail", True),
        ("", "", False),
        ("…", "…", False),
        ("test_a fails", "test_b fails", False),
        ("テストがまだありません", "テストがまだありません。", True),
        ("テストがまだありません", "ビルドが失敗しました", False),
    ],
)
def test_reasons_are_alike_by_their_words(first, second, alike):
    assert are_alike(first, second, 0.8) is alike
    assert are_alike(second, first, 0.8) is alike


def test_the_overlap_is_a_share_of_all_words():
    assert are_alike("a b c d", "a b c e", 0.6)
    assert not are_alike("a b c d", "a b c e", 0.61)


@given(st.text(max_size=80), st.text(max_size=80), st.floats(0.01, 1))
def test_likeness_is_symmetric(first, second, overlap):
    assert are_alike(first, second, overlap) == are_alike(second, first, overlap)
    assert are_alike(f"word {first}", f"word {first}", overlap)


@pytest.mark.parametrize(
    ("text", "reached", "reason"),
    [
        ('{"reached": false, "reason": "no tests"}', False, "no tests"),
        ('```json\n{"reached": true, "reason": "all pass"}\n```', True, "all pass"),
        ('I think {"reached": "no", "reason": "x"} is right.', False, "x"),
        ('{"a": 1} then {"Reached": true}', True, ""),
        ('{"reached": true} no, wait: {"reached": false, "why": "y"}', False, "y"),
        ('The form is {"reached": true or false}. {"reached": false}', False, ""),
        ("{'reached': False, 'reason': 'not all of it'}", False, "not all of it"),
        ("reached: no\nreason: the file is missing", False, "the file is missing"),
        ("**Reached:** yes", True, ""),
        ("Yes.", True, ""),
        ("No, the tests are missing.", False, "the tests are missing"),
        ("**No** - not all of them", False, "not all of them"),
        ("Not reached: the build is red", False, "the build is red"),
        ("not yet", False, ""),
        ("The build is red.\n\nno", False, "The build is red"),
        ("<think>yes? {\"reached\": true}</think>\nNo.", False, ""),
        ('{"goal_reached": true, "explanation": "done"}', True, "done"),
    ],
)  # fmt: skip
def test_a_verdict_is_found_in_whatever_form_it_comes(text, reached, reason):
    assert read_judgement(text) == Judgement(reached, reason)


@pytest.mark.parametrize(
    "text",
    ["", "   ", "Perhaps.", "I cannot say.", '{"reached": 3}', '{"reached": "maybe"}', "{" * 5000,
     '{"reached":' * 2000, "Nothing", "norm", '"', "[[[["],
)  # fmt: skip
def test_babble_has_no_verdict(text):
    assert read_judgement(text) is None


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text):
    found = read_judgement(text)
    assert found is None or isinstance(found, Judgement)


@given(st.booleans(), st.text(max_size=40), st.text("ab {}\n", max_size=30))
def test_json_in_prose_is_found(reached, reason, prose):
    found = read_judgement(f"{prose} {json.dumps({'reached': reached, 'reason': reason})} {prose}")
    assert found is not None
    assert found.reached is reached
