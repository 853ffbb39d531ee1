//! Points in time, as text.

use std::fmt;
use std::time::SystemTime;

use jiff::civil::{DateTime, Time};
use jiff::fmt::temporal::DateTimePrinter;
use jiff::tz::Offset;

use crate::from_json::{FromJson, ModelError};
use crate::json::Json;
use crate::record::deserialize_through_json;
use crate::schema::{Form, Schema, keywords};

const MICROSECONDS: DateTimePrinter = DateTimePrinter::new().precision(Some(6));

/// A date and a time of day, in the form in which Pydantic writes a `datetime`.
///
/// `2026-01-02T03:04:05`, then six digits of a fraction or none, then `Z` for UTC, another offset
/// such as `+02:00`, or nothing where no zone is known.
///
/// # Examples
///
/// ```
/// use amplifier_core::Timestamp;
///
/// assert!(Timestamp::from_text("2026-01-02T03:04:05Z").is_some());
/// assert!(Timestamp::from_text("2 January 2026").is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timestamp(String);

impl Timestamp {
    /// The point in time; `None` if the text is not one in this form.
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

/// Whether a text has the one form, which is whether it is written as it was read.
fn is_canonical(text: &str) -> bool {
    let end = text.get(19..).and_then(|rest| rest.find(['Z', '+', '-']));
    let (civil, zone) = text.split_at(end.map_or(text.len(), |end| end + 19));
    is_date_time(civil) && (matches!(zone, "" | "Z") || is_offset(zone))
}

fn is_date_time(text: &str) -> bool {
    text.parse::<DateTime>().is_ok_and(|moment| {
        let precision = (moment.subsec_nanosecond() != 0).then_some(6);
        // The contract knows no year 0, nor any before it.
        let is_dated = moment.year() >= 1;
        is_dated
            && MICROSECONDS
                .precision(precision)
                .datetime_to_string(&moment)
                == text
    })
}

/// An offset is a sign and a time of day. It is not read as an offset, as `-00:00` is one: that is
/// how an offset of less than a minute is written.
fn is_offset(text: &str) -> bool {
    let time = text.strip_prefix(['+', '-']).unwrap_or_default();
    time.parse::<Time>()
        .is_ok_and(|parsed| parsed.to_string().strip_suffix(":00") == Some(time))
}

/// The time stamp of an event of this moment: RFC 3339 in UTC with six digits of a fraction and
/// `+00:00`, so that the order of texts is the order of time.
#[must_use]
pub fn event_timestamp(moment: SystemTime) -> String {
    // A clock that is set beyond the year 9999 shows the beginning of time rather than end a turn.
    let moment = jiff::Timestamp::try_from(moment).unwrap_or_default();
    MICROSECONDS.timestamp_with_offset_to_string(&moment, Offset::UTC)
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
