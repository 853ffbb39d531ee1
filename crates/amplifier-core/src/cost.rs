//! Money, exact.

use std::fmt;

use crate::from_json::{FromJson, ModelError};
use crate::json::Json;
use crate::record::deserialize_through_json;
use crate::schema::{Form, Schema, any_of, of_type};

/// US dollars as decimal text, in the scientific form of the General Decimal Arithmetic: `0.10`, `1E-7`.
///
/// In JSON it is a string. An integer is read too; a float is refused, as it is not exact.
///
/// # Examples
///
/// ```
/// use amplifier_core::{Cost, Usage};
///
/// let cost = Cost::from_text("0.0042").expect("a decimal number");
/// assert_eq!(cost.as_str(), "0.0042");
/// assert_eq!(Cost::from_text("a lot"), None);
/// # let _ = Usage::new(900, 100).with_cost(cost);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cost(String);

impl Cost {
    /// The amount; `None` if the text is not a finite decimal number.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        canonical(text).map(Self)
    }

    /// The amount as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The largest power of ten of a decimal number in the contract.
const MAX_POWER: i64 = 999_999_999_999_999_999;

/// Rewrite `[+-] digits [. digits] [e [+-] digits]`, with a digit on at least one side of the
/// point, in the form of the scientific strings of the General Decimal Arithmetic.
fn canonical(text: &str) -> Option<String> {
    let (sign, number) = match text.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (number, exponent) = match number.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i64>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let digits = match digits.trim_start_matches('0') {
        "" => "0",
        significant => significant,
    };

    let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let point = exponent.checked_add(i64::try_from(digits.len()).ok()?)?;
    if !(-MAX_POWER..=MAX_POWER).contains(&(point - 1)) {
        return None;
    }
    if exponent <= 0 && point > -6 {
        let zeros = usize::try_from(1 - point).unwrap_or(0);
        let digits = format!("{}{digits}", "0".repeat(zeros));
        let (whole, fraction) = digits.split_at(usize::try_from(point.max(1)).ok()?);
        let separator = if fraction.is_empty() { "" } else { "." };
        return Some(format!("{sign}{whole}{separator}{fraction}"));
    }
    let (whole, fraction) = digits.split_at(1);
    let separator = if fraction.is_empty() { "" } else { "." };
    Some(format!(
        "{sign}{whole}{separator}{fraction}E{:+}",
        point - 1
    ))
}

impl fmt::Display for Cost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromJson for Cost {
    fn from_json(json: Json) -> Result<Self, ModelError> {
        let cost = match &json {
            Json::Str(text) => Self::from_text(text),
            Json::Int(_) | Json::BigInt(_) => Self::from_text(&json.to_string()),
            Json::Null | Json::Bool(_) | Json::Float(_) | Json::Array(_) | Json::Object(_) => None,
        };
        cost.ok_or_else(|| ModelError::unexpected("a decimal number as a string", &json))
    }
}

impl Schema for Cost {
    fn schema(form: Form) -> Json {
        let text = of_type("string");
        match form {
            Form::Read => any_of(vec![of_type("integer"), text]),
            Form::Written => text,
        }
    }
}

impl serde::Serialize for Cost {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

deserialize_through_json!(Cost);
