//! Arguments as the validator reads them: borrowed, with a limit on the number of reads.

use std::borrow::Cow;
use std::cell::Cell;
use std::slice;

use amplifier_core::{Json, Object};
use jsonschema::JsonType;
use jsonschema::json::{self, JsonNumber, Node, NodeIdentity};
use serde_json::{Number, Value};

use super::equality;

/// The validator's representation of [`Json`].
pub(super) struct Arguments;

/// A value of the arguments.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) value: &'a Json,
    /// How many more reads are allowed; at 0, every value reads as `null`.
    pub(super) looks: &'a Cell<u64>,
}

static NULL: Json = Json::Null;

impl<'a> Seen<'a> {
    fn inside(self, value: &'a Json) -> Self {
        Self { value, ..self }
    }

    fn within<V>(self, values: V) -> Within<'a, V> {
        Within {
            values,
            owner: self,
        }
    }

    fn look(&self) -> &'a Json {
        match self.looks.get().checked_sub(1) {
            Some(looks) => {
                self.looks.set(looks);
                self.value
            }
            None => &NULL,
        }
    }
}

impl json::Json for Arguments {
    type Node<'a> = Seen<'a>;
    type PreparedKey = String;
    type StringBuffer = Json;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Json, string: &str, read: impl FnOnce(Seen<'_>) -> T) -> T {
        *buffer = Json::from(string);
        let looks = &Cell::new(u64::MAX);
        let value = buffer;
        read(Seen { value, looks })
    }
}

impl<'a> Node<'a, Arguments> for Seen<'a> {
    type Object = Within<'a, &'a Object>;
    type Array = Within<'a, &'a [Json]>;
    type Number = Numeric<'a>;

    fn as_object(&self) -> Option<Self::Object> {
        Some(self.within(self.look().as_object()?))
    }

    fn as_array(&self) -> Option<Self::Array> {
        Some(self.within(self.look().as_array()?))
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.look().as_str().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<Numeric<'a>> {
        match self.look() {
            Json::Int(value) => Some(Numeric::Int(*value)),
            Json::BigInt(digits) => Some(Numeric::Big(digits.as_str())),
            Json::Float(value) => Some(Numeric::Float(*value)),
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        self.look().as_bool()
    }

    fn is_null(&self) -> bool {
        self.look().is_null()
    }

    fn json_type(&self) -> JsonType {
        match self.look() {
            Json::Null => JsonType::Null,
            Json::Bool(_) => JsonType::Boolean,
            Json::Int(_) | Json::BigInt(_) | Json::Float(_) => JsonType::Number,
            Json::Str(_) => JsonType::String,
            Json::Array(_) => JsonType::Array,
            Json::Object(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        equality::is(self.look(), expected)
    }

    /// Errors show what was found by its place, so that no value is copied for them.
    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(Value::Null)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref(self.value) as usize))
    }
}

/// The values of an object or a list, or a walk through them, and where they were seen.
pub(super) struct Within<'a, V> {
    values: V,
    owner: Seen<'a>,
}

impl<'a> Iterator for Within<'a, indexmap::map::Iter<'a, String, Json>> {
    type Item = (&'a str, Seen<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.values.next()?;
        Some((key, self.owner.inside(value)))
    }
}

impl<'a> json::Object<'a, Arguments> for Within<'a, &'a Object> {
    type Node = Seen<'a>;
    type MemberName = &'a str;
    type MembersIter = Within<'a, indexmap::map::Iter<'a, String, Json>>;

    fn len(&self) -> usize {
        self.values.len()
    }

    fn get(&self, key: &String) -> Option<Seen<'a>> {
        Some(self.owner.inside(self.values.get(key)?))
    }

    fn members(&self) -> Self::MembersIter {
        self.owner.within(self.values.iter())
    }
}

impl<'a> Iterator for Within<'a, slice::Iter<'a, Json>> {
    type Item = Seen<'a>;

    fn next(&mut self) -> Option<Seen<'a>> {
        Some(self.owner.inside(self.values.next()?))
    }
}

impl<'a> json::Array<'a, Arguments> for Within<'a, &'a [Json]> {
    type Node = Seen<'a>;
    type ElementsIter = Within<'a, slice::Iter<'a, Json>>;

    fn len(&self) -> usize {
        self.values.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        self.owner.within(self.values.iter())
    }

    fn is_unique(&self) -> bool {
        equality::is_unique(self.values)
    }
}

/// A number of the arguments.
pub(super) enum Numeric<'a> {
    Int(i64),
    Float(f64),
    /// Beyond 64 bits with a sign; as a float where it is compared with a bound.
    Big(&'a str),
}

/// The least integer of 64 bits.
const LEAST: f64 = -9_223_372_036_854_775_808.0;

impl JsonNumber for Numeric<'_> {
    fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            Self::Float(_) => None,
            Self::Big(digits) => digits.parse().ok(),
        }
    }

    fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Float(_) | Self::Big(_) => None,
        }
    }

    fn as_f64(&self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "a float is what is asked for")]
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Big(digits) => {
                let value: f64 = digits.parse().ok()?;
                // Beyond 64 bits; it must not be mistaken for the least 64-bit integer.
                let beyond = if value == LEAST {
                    value.next_down()
                } else {
                    value
                };
                Some(beyond).filter(|value| value.is_finite())
            }
        }
    }

    fn as_str(&self) -> Cow<'_, str> {
        match self {
            Self::Int(value) => value.to_string().into(),
            Self::Float(value) => value.to_string().into(),
            Self::Big(digits) => Cow::Borrowed(digits),
        }
    }

    fn to_number(&self) -> Cow<'_, Number> {
        // Beyond any float: the largest one is on the same side of each bound.
        let largest = || {
            let is_negative = self.as_str().starts_with('-');
            if is_negative { f64::MIN } else { f64::MAX }
        };
        let float = || Number::from_f64(self.as_f64().unwrap_or_else(largest));
        let whole = self.as_i64().map(Number::from);
        let whole = whole.or_else(|| self.as_u64().map(Number::from));
        Cow::Owned(whole.or_else(float).unwrap_or_else(|| 0.into()))
    }

    fn is_integer(&self) -> bool {
        match self {
            Self::Int(_) | Self::Big(_) => true,
            Self::Float(value) => value.fract() == 0.0,
        }
    }

    fn is_written_as_integer(&self) -> bool {
        !matches!(self, Self::Float(_))
    }
}
