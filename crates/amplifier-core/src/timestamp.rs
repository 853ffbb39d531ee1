//! Points in time, as text.

use std::fmt;
use std::ops::RangeInclusive;

use crate::from_json::{FromJson, ModelError};
use crate::json::Json;
use crate::record::deserialize_through_json;
use crate::schema::{Form, Schema, keywords};

/// A date and a time of day, in the form in which Pydantic writes a `datetime`.
///
/// `2026-01-02T03:04:05`, then six digits of a fraction or none, then `Z` for UTC, another offset
/// such as `+02:00`, or nothing where no zone is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp(String);

impl Timestamp {
    /// The point in time, or `None` where the text is none or has another form.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        is_canonical(text).then(|| Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_canonical(text: &str) -> bool {
    let Some((date_time, rest)) = text.split_at_checked(19) else {
        return false;
    };
    let zone = match rest.strip_prefix('.') {
        None => rest,
        Some(fraction) => match fraction.split_at_checked(6) {
            Some((digits, zone)) if is_fraction(digits) => zone,
            _ => return false,
        },
    };
    is_date_time(date_time) && is_zone(zone)
}

fn is_date_time(text: &str) -> bool {
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let bytes = text.as_bytes();
    separators.iter().all(|&(index, sign)| bytes[index] == sign)
        && number(text, 0..=3).is_some_and(|year| {
            year >= 1
                && number(text, 5..=6).is_some_and(|month| {
                    let days = 1..=days_of(month, year);
                    number(text, 8..=9).is_some_and(|day| days.contains(&day))
                })
        })
        && number(text, 11..=12).is_some_and(|hour| hour < 24)
        && number(text, 14..=15).is_some_and(|minute| minute < 60)
        && number(text, 17..=18).is_some_and(|second| second < 60)
}

/// How many days a month has; none where there is no such month.
fn days_of(month: u16, year: u16) -> u16 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 0,
    }
}

/// A fraction of zero is not written.
fn is_fraction(digits: &str) -> bool {
    digits.bytes().all(|digit| digit.is_ascii_digit()) && digits != "000000"
}

fn is_zone(text: &str) -> bool {
    match text {
        "" | "Z" => true,
        _ => {
            // Pydantic writes offsets of less than a minute as one of no minutes.
            text.len() == 6
                && text.starts_with(['+', '-'])
                && text.as_bytes()[3] == b':'
                && number(text, 1..=2).is_some_and(|hours| hours < 24)
                && number(text, 4..=5).is_some_and(|minutes| minutes < 60)
        }
    }
}

fn number(text: &str, digits: RangeInclusive<usize>) -> Option<u16> {
    let digits = text.get(digits)?;
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_digit());
    is_plain.then(|| digits.parse().ok()).flatten()
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromJson for Timestamp {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let timestamp = json.as_str().and_then(Self::from_text);
        timestamp.ok_or_else(|| {
            ModelError::unexpected("a date and time such as `2026-01-02T03:04:05Z`", &json)
        })
    }
}

impl Schema for Timestamp {
    fn schema(_form: Form) -> Json {
        keywords([("format", "date-time".into()), ("type", "string".into())])
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

deserialize_through_json!(Timestamp);
