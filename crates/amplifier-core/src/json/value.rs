//! [`Json`]: a value, and what it is made of.

use std::fmt;

use indexmap::IndexMap;

/// The entries of a JSON object, in their order.
pub type Object = IndexMap<String, Json>;

/// The most arrays and objects that a value may be nested in; the limit of pydantic-core's parser.
pub const MAX_DEPTH: usize = 200;

/// The most digits of an integer; the limit of pydantic-core's parser.
pub const MAX_DIGITS: usize = 4300;

/// Any JSON value.
///
/// It is written as Pydantic's `model_dump_json()` writes it: no blanks, non-ASCII text raw, NaN
/// and infinity as `null`.
///
/// # Examples
///
/// ```
/// use amplifier_core::{Json, Object};
///
/// let read = Json::parse(br#"{"path": "notes.md", "lines": [1, 40]}"#)?;
/// assert_eq!(read.get("path").and_then(Json::as_str), Some("notes.md"));
/// assert_eq!(read.to_string(), r#"{"path":"notes.md","lines":[1,40]}"#);
///
/// // Of pairs, of plain values, and of what `serde_json::json!` makes:
/// let pairs = Json::from_iter([("a", 2), ("b", 3)]);
/// assert_eq!(pairs, Json::from(serde_json::json!({"a": 2, "b": 3})));
///
/// // An object alone is `Object`, a map that keeps its order.
/// let object = Object::from_iter([("a".to_owned(), Json::from(2))]);
/// assert_eq!(object["a"].as_i64(), Some(2));
/// # Ok::<(), amplifier_core::JsonError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Json {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// An integer beyond 64 bits.
    BigInt(BigInt),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// Text.
    Str(String),
    /// A list.
    Array(Vec<Json>),
    /// Named values.
    Object(Object),
}

/// An integer beyond 64 bits, as its decimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BigInt(Box<str>);

impl BigInt {
    /// The digits, with a leading `-` if the number is negative.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Json {
    /// The integer with these decimal digits; `None` if they are not an integer as JSON writes it.
    #[must_use]
    pub fn integer(digits: &str) -> Option<Self> {
        let unsigned = digits.strip_prefix('-').unwrap_or(digits);
        let is_canonical = !unsigned.is_empty()
            && unsigned.bytes().all(|digit| digit.is_ascii_digit())
            && (unsigned == "0" || !unsigned.starts_with('0'));
        is_canonical.then(|| match digits.parse() {
            Ok(small) => Self::Int(small),
            Err(_) => Self::BigInt(BigInt(digits.into())),
        })
    }

    /// The text, if it is text.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    /// The integer, if it is one of 64 bits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Self::Int(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    /// The number as a float, if it is a number; a large integer is rounded.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            #[expect(clippy::cast_precision_loss, reason = "a float is what was asked for")]
            Self::Int(value) => Some(*value as f64),
            Self::BigInt(digits) => digits.0.parse().ok(),
            Self::Null | Self::Bool(_) | Self::Str(_) | Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// The items, if it is a list.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Json]> {
        if let Self::Array(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// The entries, if it is an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(entries) = self {
            Some(entries)
        } else {
            None
        }
    }

    /// The value of a key, if it is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether the value counts as true: not null, false, zero or empty.
    pub(crate) fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(value) => *value,
            Self::Int(number) => *number != 0,
            Self::BigInt(_) => true,
            Self::Float(number) => *number != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::Array(items) => !items.is_empty(),
            Self::Object(entries) => !entries.is_empty(),
        }
    }

    /// The kind of the value, for error messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::BigInt(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Str(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<i32> for Json {
    fn from(value: i32) -> Self {
        Self::Int(value.into())
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(small) => Self::Int(small),
            Err(_) => Self::BigInt(BigInt(value.to_string().into())),
        }
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::Str(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Str(text)
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Self {
        Self::Array(items)
    }
}

impl<V: Into<Json>> From<Option<V>> for Json {
    /// `None` is `null`.
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
                (Some(small), _, _) => Self::Int(small),
                (None, Some(large), _) => large.into(),
                (None, None, float) => float.into(),
            },
            Value::String(text) => Self::Str(text),
            Value::Array(items) => items.into_iter().map(Self::from).collect::<Vec<_>>().into(),
            Value::Object(entries) => entries.into_iter().collect(),
        }
    }
}

impl From<Object> for Json {
    fn from(entries: Object) -> Self {
        Self::Object(entries)
    }
}

impl<K: Into<String>, V: Into<Json>> FromIterator<(K, V)> for Json {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        Self::Object(
            entries
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }
}
