//! Waits grow to a limit, chance spreads them, and nothing undercuts what a server asks.

use amplifier_guard::{Backoff, asked_wait_of_text};
use proptest::prelude::*;

const DAY: f64 = 86_400.0;

fn backoff() -> Backoff {
    Backoff::new(1.0, 2.0, 60.0).unwrap()
}

#[test]
fn waits_double_until_the_limit() {
    let waits: Vec<f64> = (0..8)
        .map(|n| backoff().delay(n, None, 1.0, None))
        .collect();

    assert_eq!(waits, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]);
}

#[test]
fn the_error_and_chance_are_factors_past_the_limit() {
    let cases = [(3, 0.5, 1.0), (3, 10.0, 0.5), (9, 2.0, 1.5)];
    let waits: Vec<f64> = cases
        .iter()
        .map(|&(attempt, factor, jitter)| backoff().delay(attempt, Some(factor), jitter, None))
        .collect();

    assert_eq!(waits, [4.0, 40.0, 180.0]);
}

#[test]
fn the_last_attempt_of_all_waits_as_long_as_allowed() {
    assert!((backoff().delay(u32::MAX, None, 1.0, None) - 60.0).abs() < f64::EPSILON);
}

#[test]
fn a_wait_of_nothing_stays_nothing_however_it_grows() {
    let backoff = Backoff::new(0.0, 1e300, 60.0).unwrap();

    assert!(backoff.delay(u32::MAX, None, 1.5, None).abs() < f64::EPSILON);
}

#[test]
fn a_number_that_is_no_length_is_refused_by_name() {
    let error = |initial, factor, longest| {
        Backoff::new(initial, factor, longest)
            .unwrap_err()
            .to_string()
    };

    assert_eq!(
        [
            error(-1.0, 2.0, 60.0),
            error(1.0, f64::NAN, 60.0),
            error(1.0, 2.0, f64::INFINITY),
        ],
        [
            "`initial_delay` must be a finite number from 0 on, found `-1`",
            "`backoff_factor` must be a finite number from 0 on, found `NaN`",
            "`max_delay` must be a finite number from 0 on, found `inf`",
        ]
    );
}

#[test]
fn a_header_is_read_as_seconds_or_not_at_all() {
    let read = [
        "0", " 12 ", "1.5", "86400", "-1", "86401", "nan", "inf", "soon", "", "1e9",
    ]
    .map(asked_wait_of_text);

    let (none, some) = (None::<f64>, Some);
    assert_eq!(
        read,
        [
            some(0.0),
            some(12.0),
            some(1.5),
            some(DAY),
            none,
            none,
            none,
            none,
            none,
            none,
            none
        ]
    );
}

proptest! {
    #[test]
    fn a_wait_is_never_shorter_than_a_server_asks(
        attempt: u32,
        multiplier in proptest::option::of(any::<f64>()),
        jitter in 0.0..2.0,
        asked in 0.0..=DAY,
    ) {
        let delay = backoff().delay(attempt, multiplier, jitter, Some(asked));

        let own = backoff().delay(attempt, multiplier, jitter, None);
        prop_assert!(delay >= asked);
        prop_assert_eq!(delay.to_bits(), own.max(asked).to_bits());
    }

    #[test]
    fn what_makes_no_sense_leaves_the_wait_as_it_is(
        attempt: u32,
        jitter in 0.0..2.0,
        asked in prop_oneof![
            Just(f64::NAN), Just(f64::INFINITY), -1e300..-1e-300, (DAY * 1.000_001)..1e300,
        ],
        multiplier in prop_oneof![
            Just(f64::NAN), Just(f64::INFINITY), Just(0.0), -1e300..0.0,
        ],
    ) {
        let delay = backoff().delay(attempt, Some(multiplier), jitter, Some(asked));

        let plain = backoff().delay(attempt, None, jitter, None);
        prop_assert_eq!(delay.to_bits(), plain.to_bits());
    }

    #[test]
    fn a_wait_is_a_length_of_time(
        (initial, factor, longest) in (0.0..1e300, 0.0..1e300, 0.0..1e9),
        attempt: u32,
        jitter in 0.0..2.0,
    ) {
        let backoff = Backoff::new(initial, factor, longest).unwrap();

        let delay = backoff.delay(attempt, None, jitter, None);
        prop_assert!((0.0..=2.0 * longest).contains(&delay));
    }

    #[test]
    fn any_text_of_a_header_is_a_wait_of_at_most_a_day_or_none(text: String) {
        let wait = asked_wait_of_text(&text);

        prop_assert!(wait.is_none_or(|seconds| (0.0..=DAY).contains(&seconds)));
    }
}
