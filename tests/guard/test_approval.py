"""A yes is for the exact bytes that run, for one run, and for a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_guard import Approval, ApprovalDenied, ApprovalTicket

CALL = Approval.of(["ls", "-l"], "/srv", {"PATH": "/bin"})


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def approved(clock: Clock, lifetime: float = 60) -> ApprovalTicket:
    ticket = ApprovalTicket(CALL, lifetime=lifetime, clock=clock)
    ticket.answer(approved=True)
    return ticket


def test_what_was_approved_runs_once() -> None:
    ticket = approved(Clock())
    ticket.redeem(Approval.of(["ls", "-l"], "/srv", {"PATH": "/bin"}))
    with pytest.raises(ApprovalDenied, match="the request is used, not approved"):
        ticket.redeem(CALL)


# Holds: sink-19
@pytest.mark.parametrize(
    "other",
    [
        Approval.of(["ls", "-la"], "/srv", {"PATH": "/bin"}),
        Approval.of(["ls -l"], "/srv", {"PATH": "/bin"}),
        Approval.of(["ls", "-l"], "/srv/", {"PATH": "/bin"}),
        Approval.of(["ls", "-l"], "/srv", {"PATH": "/tmp"}),
        Approval.of(["ls", "-l"], "/srv", {"PATH": "/bin", "LD_PRELOAD": "x"}),
    ],
)
def test_anything_else_is_denied_and_ends_the_approval(other: Approval) -> None:
    ticket = approved(Clock())
    with pytest.raises(ApprovalDenied, match="not what was approved"):
        ticket.redeem(other)
    with pytest.raises(ApprovalDenied):
        ticket.redeem(CALL)


def test_without_an_answer_nothing_runs() -> None:
    ticket = ApprovalTicket(CALL, clock=Clock())
    with pytest.raises(ApprovalDenied, match="the request is unanswered, not approved"):
        ticket.redeem(CALL)


@pytest.mark.parametrize("answer", [False, None, 1, "yes"])
def test_only_true_is_a_yes(answer: object) -> None:
    ticket = ApprovalTicket(CALL, clock=Clock())
    ticket.answer(answer)  # type: ignore[arg-type]
    with pytest.raises(ApprovalDenied, match="the request is denied, not approved"):
        ticket.redeem(CALL)
    with pytest.raises(ApprovalDenied, match="the request is already denied"):
        ticket.answer(approved=True)


# Holds: sink-20
@pytest.mark.parametrize(("passed", "runs"), [(59.9, True), (60.0, False), (1e9, False)])
def test_an_approval_lapses_to_no(passed: float, runs: bool) -> None:
    clock = Clock()
    early, late = approved(clock), ApprovalTicket(CALL, lifetime=60, clock=clock)
    clock.now += passed
    if runs:
        early.redeem(CALL)
        late.answer(approved=True)
        late.redeem(CALL)
        return
    with pytest.raises(ApprovalDenied, match="expired"):
        early.redeem(CALL)
    with pytest.raises(ApprovalDenied, match="too late"):
        late.answer(approved=True)
    clock.now -= passed
    with pytest.raises(ApprovalDenied, match="denied"):
        late.redeem(CALL)


@pytest.mark.parametrize("lifetime", [0, -1, float("inf"), float("nan")])
def test_a_lifetime_is_a_positive_number_of_seconds(lifetime: float) -> None:
    with pytest.raises(ValueError, match="`lifetime` must be a positive number of seconds"):
        ApprovalTicket(CALL, lifetime=lifetime)


@given(st.dictionaries(st.text(), st.text()), st.dictionaries(st.text(), st.text()))
def test_the_digest_tells_environments_apart(one: dict[str, str], other: dict[str, str]) -> None:
    digests = [Approval.of([], "", environ).environment for environ in (one, other)]
    assert (digests[0] == digests[1]) == (one == other)


def test_no_secret_of_the_environment_is_kept() -> None:
    assert "hunter2" not in repr(Approval.of(["ls"], "/srv", {"KEY": "hunter2"}))


def test_a_refusal_that_another_question_would_mend_says_so() -> None:
    clock = Clock()
    ticket = approved(clock)
    clock.now += 1e6
    with pytest.raises(ApprovalDenied) as expired:
        ticket.redeem(CALL)
    with pytest.raises(ApprovalDenied) as used:
        ticket.redeem(CALL)

    assert (str(expired.value), expired.value.hint) == (
        "the approval has expired; ask again",
        "ask again",
    )
    assert used.value.hint is None
