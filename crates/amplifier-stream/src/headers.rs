//! The headers of a response, and what they say about another try.

use std::time::{Duration, SystemTime};

/// A server that asks for more than a day does not mean this request.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Header fields; names are compared without regard to case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        let fields = fields.into_iter();
        Self(
            fields
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

impl Headers {
    /// The first field of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self
            .0
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))?;
        Some(value.trim())
    }

    /// How long to wait before another try: `retry-after-ms`, else `retry-after` in seconds or as
    /// an HTTP date, counted from the response's own `date` where it has one, else from `now`.
    ///
    /// A value that is not a number or a date, in the past, or longer than a day is ignored.
    #[must_use]
    pub fn retry_after(&self, now: SystemTime) -> Option<Duration> {
        let number = |text: &str| text.parse::<f64>().ok();
        let milliseconds = self.get("retry-after-ms").and_then(number);
        if let Some(wait) = milliseconds.and_then(|value| seconds(value / 1000.0)) {
            return Some(wait);
        }
        let text = self.get("retry-after")?;
        if let Some(value) = number(text) {
            return seconds(value);
        }
        let date = |text| httpdate::parse_http_date(text).ok();
        let start = self.get("date").and_then(date).unwrap_or(now);
        let wait = date(text)?.duration_since(start).ok()?;
        (wait <= LONGEST_WAIT).then_some(wait)
    }

    /// Whether the server asks for another try, or against it.
    #[must_use]
    pub fn should_retry(&self) -> Option<bool> {
        match self.get("x-should-retry")? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }
}

fn seconds(value: f64) -> Option<Duration> {
    let wait = Duration::try_from_secs_f64(value).ok()?;
    (wait <= LONGEST_WAIT).then_some(wait)
}
