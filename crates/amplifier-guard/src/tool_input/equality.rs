//! Equality of JSON, where `1` and `1.0` are one number.

use std::collections::HashSet;
use std::fmt::Write as _;

use amplifier_core::Json;
use serde_json::{Number, Value};

/// Whether a value is the one that a schema names; schemas hold no integer beyond 64 bits.
pub(super) fn is(value: &Json, expected: &Value) -> bool {
    match (value, expected) {
        (Json::Null, Value::Null) => true,
        (Json::Bool(value), Value::Bool(expected)) => value == expected,
        (Json::Str(value), Value::String(expected)) => value == expected,
        (Json::Int(_) | Json::BigInt(_) | Json::Float(_), Value::Number(expected)) => {
            number(value) == expected_number(expected)
        }
        (Json::Array(items), Value::Array(expected)) => {
            let mut pairs = items.iter().zip(expected);
            items.len() == expected.len() && pairs.all(|(item, expected)| is(item, expected))
        }
        (Json::Object(entries), Value::Object(expected)) => {
            entries.len() == expected.len()
                && entries.iter().all(|(key, value)| {
                    let expected = expected.get(key);
                    expected.is_some_and(|expected| is(value, expected))
                })
        }
        _ => false,
    }
}

/// Whether no two items are equal; in linear time, but for the keys of objects, which are sorted.
pub(super) fn is_unique(items: &[Json]) -> bool {
    let mut texts = HashSet::with_capacity(items.len());
    items.iter().all(|item| {
        let mut text = String::new();
        write(item, &mut text);
        texts.insert(text)
    })
}

/// Writes equal values as equal texts.
fn write(value: &Json, text: &mut String) {
    match value {
        Json::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        Json::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in entries {
                let _ = write!(text, "{key:?}:");
                write(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Json::Str(value) => {
            let _ = write!(text, "{value:?}");
        }
        Json::Int(_) | Json::BigInt(_) | Json::Float(_) => {
            let _ = write!(text, "{:?}", number(value));
        }
        Json::Null | Json::Bool(_) => {
            let _ = write!(text, "{value}");
        }
    }
}

/// A number in a form in which equal numbers are the same.
#[derive(Debug, PartialEq)]
enum Exact<'a> {
    Integer(i128),
    Digits(&'a str),
    Fraction(f64),
}

fn number(value: &Json) -> Exact<'_> {
    match value {
        Json::Int(value) => Exact::Integer((*value).into()),
        Json::BigInt(digits) => match digits.as_str().parse() {
            Ok(integer) => Exact::Integer(integer),
            Err(_) => Exact::Digits(digits.as_str()),
        },
        Json::Float(value) => float(*value),
        _ => Exact::Digits(""),
    }
}

fn expected_number(expected: &Number) -> Exact<'static> {
    match expected.as_i64() {
        Some(integer) => Exact::Integer(integer.into()),
        None => float(expected.as_f64().unwrap_or(f64::NAN)),
    }
}

fn float(value: f64) -> Exact<'static> {
    const LARGEST: f64 = 1e38;
    if value.fract() == 0.0 && value.abs() <= LARGEST {
        #[expect(clippy::cast_possible_truncation, reason = "whole, and below 2^127")]
        return Exact::Integer(value as i128);
    }
    Exact::Fraction(value)
}
