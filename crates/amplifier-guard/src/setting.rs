//! Settings that cannot be used, and durations.

use std::time::Duration;

/// A setting with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` must be {expected}, found `{found}`")]
pub struct SettingError {
    name: &'static str,
    expected: &'static str,
    found: String,
}

impl SettingError {
    pub(crate) fn new(
        name: &'static str,
        expected: &'static str,
        found: impl std::fmt::Display,
    ) -> Self {
        Self {
            name,
            expected,
            found: found.to_string(),
        }
    }

    /// Refuse a number unless it is finite and not negative.
    pub(crate) fn unless_finite(name: &'static str, value: f64) -> Result<(), Self> {
        if value.is_finite() && value >= 0.0 {
            return Ok(());
        }
        Err(Self::new(name, "a finite number from 0 on", value))
    }

    /// Refuse zero.
    pub(crate) fn unless_positive(name: &'static str, value: u64) -> Result<(), Self> {
        if value > 0 {
            return Ok(());
        }
        Err(Self::new(name, "at least 1", value))
    }
}

/// The longest duration of a setting: about 584 years.
const MAX_DURATION: Duration = Duration::from_nanos(u64::MAX);

/// The duration of a setting that is given in seconds, at most about 584 years.
pub fn duration(name: &'static str, seconds: f64) -> Result<Duration, SettingError> {
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration <= MAX_DURATION => Ok(duration),
        _ => Err(SettingError::new(
            name,
            "seconds from 0 to 18446744073",
            seconds,
        )),
    }
}

/// A duration as a message shows it: in seconds, rounded up to the next millisecond.
pub(crate) fn in_seconds(duration: Duration) -> String {
    let milliseconds = duration.as_nanos().div_ceil(1_000_000);
    let text = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}
