//! Money, exact.

use std::fmt;

use crate::from_json::{FromJson, ModelError};
use crate::json::Json;
use crate::record::deserialize_through_json;

/// US dollars as decimal text, in the form in which Python's `Decimal` prints it.
///
/// JSON holds it as a string; an integer is read too, a float is refused as it loses money.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cost(String);

impl Cost {
    /// The amount, or `None` where the text is no finite decimal number.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        is_decimal(text).then(|| Self(text.to_owned()))
    }

    /// The amount as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// `[+-] digits [. digits] [e [+-] digits]`, with a digit on at least one side of the point.
fn is_decimal(text: &str) -> bool {
    let signless = |text: &str| text.strip_prefix(['+', '-']).unwrap_or(text).to_owned();
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(signless(exponent))),
        None => (text, None),
    };
    let number = signless(number);
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let has_exponent = exponent.is_none_or(|digits| !digits.is_empty() && all_digits(&digits));
    has_exponent
        && !(whole.is_empty() && fraction.is_empty())
        && all_digits(whole)
        && all_digits(fraction)
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

impl serde::Serialize for Cost {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

deserialize_through_json!(Cost);
