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

/// A duration in whole nanoseconds, at most about 584 years.
pub fn nanoseconds(name: &'static str, seconds: f64) -> Result<u64, SettingError> {
    let length = Duration::try_from_secs_f64(seconds).ok();
    length
        .and_then(|length| u64::try_from(length.as_nanos()).ok())
        .ok_or_else(|| SettingError::new(name, "seconds from 0 to 18446744073", seconds))
}

/// A duration as a message shows it: in seconds, rounded up to the next millisecond.
pub(crate) fn in_seconds(nanoseconds: u64) -> String {
    let milliseconds = nanoseconds.div_ceil(1_000_000);
    let text = format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000);
    format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
}
