//! Lengths of time are exact to the nanosecond, or refused by name.

use std::time::Duration;

use amplifier_guard::duration;

#[test]
fn seconds_become_a_duration() {
    for (seconds, expected) in [
        (0.0, 0),
        (1.5, 1_500_000_000),
        (1e-9, 1),
        (18_446_744_073.0, 18_446_744_073_000_000_000),
    ] {
        assert_eq!(
            duration("period", seconds),
            Ok(Duration::from_nanos(expected)),
            "{seconds}"
        );
    }
}

#[test]
fn what_is_no_length_of_time_is_refused_by_name() {
    for (seconds, found) in [
        (-1.0, "-1"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "inf"),
        (18_446_744_074.0, "18446744074"),
        (1e300, &format!("1{}", "0".repeat(300))),
    ] {
        assert_eq!(
            duration("period", seconds).unwrap_err().to_string(),
            format!("`period` must be seconds from 0 to 18446744073, found `{found}`")
        );
    }
}
