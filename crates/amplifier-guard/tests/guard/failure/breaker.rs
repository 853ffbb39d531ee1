//! The breaker does what a plain model of it does, whatever its calls and its clock do.

use std::time::Duration;

use amplifier_guard::{BreakerState, CircuitBreaker, CircuitOpen, Permit};
use proptest::prelude::*;

const RECOVERY: Duration = Duration::from_nanos(60);

fn at(nanoseconds: u64) -> Duration {
    Duration::from_nanos(nanoseconds)
}

fn opened() -> CircuitBreaker {
    let mut breaker = CircuitBreaker::new(2, RECOVERY).unwrap();
    for _ in 0..2 {
        let permit = breaker.admit(at(100)).unwrap();
        breaker.failed(permit, at(100));
    }
    breaker
}

#[test]
fn failures_in_a_row_open_it_and_a_success_between_them_does_not() {
    let mut breaker = CircuitBreaker::new(2, RECOVERY).unwrap();
    let permit = breaker.admit(at(0)).unwrap();
    breaker.failed(permit, at(0));
    breaker.succeeded(permit);
    breaker.failed(permit, at(0));
    assert_eq!(breaker.state(at(0)), BreakerState::Closed);

    breaker.failed(permit, at(0));
    assert_eq!(breaker.state(at(0)), BreakerState::Open);
    assert_eq!(breaker.admit(at(1)), Err(CircuitOpen { wait: at(59) }));
}

#[test]
fn one_trial_is_let_through_and_its_success_closes_it() {
    let mut breaker = opened();
    assert_eq!(breaker.state(at(160)), BreakerState::HalfOpen);
    let trial = breaker.admit(at(160)).unwrap();
    assert_eq!(breaker.admit(at(170)), Err(CircuitOpen { wait: at(50) }));

    breaker.succeeded(trial);
    assert_eq!(breaker.state(at(170)), BreakerState::Closed);
    assert!(breaker.admit(at(170)).is_ok());
}

#[test]
fn a_trial_that_fails_opens_it_for_as_long_again() {
    let mut breaker = opened();
    let trial = breaker.admit(at(200)).unwrap();
    breaker.failed(trial, at(210));

    assert_eq!(breaker.admit(at(269)), Err(CircuitOpen { wait: at(1) }));
    assert!(breaker.admit(at(270)).is_ok());
}

#[test]
fn a_trial_that_is_abandoned_makes_way_for_another() {
    let mut breaker = opened();
    let trial = breaker.admit(at(200)).unwrap();
    breaker.abandoned(trial);

    let other = breaker.admit(at(200)).unwrap();
    breaker.succeeded(trial);
    assert_eq!(breaker.state(at(200)), BreakerState::HalfOpen);
    breaker.succeeded(other);
    assert_eq!(breaker.state(at(200)), BreakerState::Closed);
}

#[test]
fn a_trial_that_is_never_heard_of_again_does_not_block_it_for_ever() {
    let mut breaker = opened();
    breaker.admit(at(200)).unwrap();

    assert_eq!(breaker.admit(at(259)), Err(CircuitOpen { wait: at(1) }));
    assert!(breaker.admit(at(260)).is_ok());
}

#[test]
fn a_call_from_before_it_opened_says_nothing_of_the_trial() {
    let mut breaker = CircuitBreaker::new(1, RECOVERY).unwrap();
    let late = breaker.admit(at(0)).unwrap();
    let permit = breaker.admit(at(0)).unwrap();
    breaker.failed(permit, at(0));
    breaker.succeeded(late);
    assert_eq!(breaker.state(at(0)), BreakerState::Open);

    breaker.admit(at(60)).unwrap();
    breaker.failed(late, at(60));
    breaker.succeeded(late);
    breaker.abandoned(late);
    assert_eq!(breaker.admit(at(61)), Err(CircuitOpen { wait: at(59) }));
}

#[test]
fn states_have_the_words_and_permits_the_numbers_by_which_others_know_them() {
    let mut breaker = opened();
    let mut words = vec![
        breaker.state(at(100)).as_str(),
        breaker.state(at(160)).as_str(),
    ];
    let trial = breaker.admit(at(160)).unwrap();
    // Out and back in by its number alone, it still is the permit of the trial.
    breaker.succeeded(Permit::from_number(trial.number()));
    words.push(breaker.state(at(160)).as_str());

    assert_eq!(words, ["open", "half_open", "closed"]);
    let next = breaker.admit(at(160)).unwrap();
    assert_ne!(next.number(), trial.number());
}

#[test]
fn no_failure_at_all_is_no_setting() {
    assert_eq!(
        CircuitBreaker::new(0, RECOVERY).unwrap_err().to_string(),
        "`failures` must be at least 1, found `0`"
    );
}

#[derive(Clone, Copy, Debug)]
enum Deed {
    Admit,
    Succeed(usize),
    Fail(usize),
    Abandon(usize),
}

fn deeds() -> impl Strategy<Value = Vec<(Duration, Deed)>> {
    let deed = prop_oneof![
        3 => Just(Deed::Admit),
        1 => (0_usize..4).prop_map(Deed::Succeed),
        3 => (0_usize..4).prop_map(Deed::Fail),
        1 => (0_usize..4).prop_map(Deed::Abandon),
    ];
    let time = prop_oneof![
        8 => (0_u64..400).prop_map(at),
        1 => Just(Duration::MAX),
        1 => Just(Duration::MAX.saturating_sub(at(70))),
    ];
    proptest::collection::vec((time, deed), 0..60)
}

/// All that happened, from which each question is answered anew.
#[derive(Default)]
struct Model {
    /// Times at which it opened, a trial began, or it closed; of an abandoned trial when it ended.
    turns: Vec<(Duration, Turn)>,
    /// Failures since it closed or a call succeeded.
    streak: u64,
    clock: Duration,
}

#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Opened,
    Tried,
    Abandoned,
    Closed,
}

impl Model {
    fn state(&self) -> BreakerState {
        let rested = |at: Duration| self.clock >= at.saturating_add(RECOVERY);
        match self.turns.last() {
            None | Some((_, Turn::Closed)) => BreakerState::Closed,
            Some((at, Turn::Opened)) if !rested(*at) => BreakerState::Open,
            Some(_) => BreakerState::HalfOpen,
        }
    }

    /// The number of turns so far, or how long to wait.
    fn admit(&mut self, now: Duration) -> Result<usize, Duration> {
        match self.turns.last().copied() {
            None | Some((_, Turn::Closed)) => {}
            Some((at, Turn::Opened | Turn::Tried)) if self.clock < at.saturating_add(RECOVERY) => {
                return Err(at.saturating_add(RECOVERY).saturating_sub(now));
            }
            Some(_) => self.turns.push((self.clock, Turn::Tried)),
        }
        Ok(self.turns.len())
    }

    fn end(&mut self, permit: usize, how: Deed) {
        if permit != self.turns.len() {
            return;
        }
        let is_trial = matches!(self.turns.last(), Some((_, Turn::Tried)));
        let is_closed = self.state() == BreakerState::Closed;
        match how {
            Deed::Succeed(_) if is_trial => self.turns.push((self.clock, Turn::Closed)),
            Deed::Abandon(_) if is_trial => self.turns.push((self.clock, Turn::Abandoned)),
            Deed::Fail(_) if is_closed => self.streak += 1,
            _ => {}
        }
        if matches!(how, Deed::Succeed(_)) {
            self.streak = 0;
        }
        if matches!(how, Deed::Fail(_)) && (is_trial || self.streak == 3) {
            self.streak = 0;
            self.turns.push((self.clock, Turn::Opened));
        }
    }
}

proptest! {
    #[test]
    fn it_does_what_its_model_does(deeds in deeds()) {
        let mut breaker = CircuitBreaker::new(3, RECOVERY).unwrap();
        let mut model = Model::default();
        let mut permits: Vec<(Permit, usize)> = Vec::new();
        for (now, deed) in deeds {
            model.clock = model.clock.max(now);
            let given = |index: usize| permits.get(permits.len().checked_sub(index + 1)?).copied();
            match deed {
                Deed::Admit => match (breaker.admit(now), model.admit(now)) {
                    (Ok(permit), Ok(number)) => permits.push((permit, number)),
                    (ours, theirs) => {
                        prop_assert_eq!(ours.map_err(|open| open.wait).err(), theirs.err());
                    }
                },
                Deed::Succeed(index) => if let Some((permit, number)) = given(index) {
                    breaker.succeeded(permit);
                    model.end(number, deed);
                },
                Deed::Fail(index) => if let Some((permit, number)) = given(index) {
                    breaker.failed(permit, now);
                    model.end(number, deed);
                },
                Deed::Abandon(index) => if let Some((permit, number)) = given(index) {
                    breaker.abandoned(permit);
                    model.end(number, deed);
                },
            }
            prop_assert_eq!(breaker.state(now), model.state());
        }
    }
}
