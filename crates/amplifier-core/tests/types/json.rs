//! Opaque JSON comes back as it went out, and is refused where Pydantic refuses it.

use amplifier_core::{Json, MAX_DEPTH, MAX_DIGITS, Object};
use proptest::prelude::*;

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in crate::strategies::json()) {
        let text = value.to_string();
        let read = Json::parse(text.as_bytes()).expect("canonical text");
        prop_assert_eq!(&read, &value);
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>()) {
        drop(Json::parse(&bytes));
    }

    #[test]
    fn serde_carries_values_of_up_to_64_bits(value in crate::strategies::json()) {
        prop_assume!(!has_big_integer(&value));
        let through: serde_json::Value = serde_json::from_str(&value.to_string()).expect("JSON");
        prop_assert_eq!(&Json::from(through.clone()), &value);
        prop_assert_eq!(serde_json::from_value::<Json>(through).expect("any value"), value);
    }
}

fn has_big_integer(value: &Json) -> bool {
    match value {
        Json::BigInt(_) => true,
        Json::Array(items) => items.iter().any(has_big_integer),
        Json::Object(entries) => entries.values().any(has_big_integer),
        Json::Null | Json::Bool(_) | Json::Int(_) | Json::Float(_) | Json::Str(_) => false,
    }
}

fn written(text: &str) -> String {
    Json::parse(text.as_bytes())
        .expect("valid JSON")
        .to_string()
}

#[test]
fn the_forms_are_those_of_pydantic() {
    assert_eq!(
        written(r#" { "z" : [1e16, 1.0, -0.0, 1e-7, 0.1] , "é" : "\u00e9\u2028\u0001\n\/" } "#),
        "{\"z\":[1e+16,1.0,-0.0,1e-7,0.1],\"é\":\"é\u{2028}\\u0001\\n/\"}",
    );
    assert_eq!(
        Json::Array(vec![f64::NAN.into(), f64::INFINITY.into()]).to_string(),
        "[null,null]"
    );
}

#[test]
fn the_last_of_two_values_stands_in_the_first_place() {
    assert_eq!(written(r#"{"a":1,"b":2,"a":3}"#), r#"{"a":3,"b":2}"#);
}

#[test]
fn what_readers_take_for_different_things_can_be_refused() {
    let refused = |text: &str| {
        Json::parse_strict(text.as_bytes(), 3)
            .expect_err(text)
            .message
    };
    assert_eq!(refused(r#"{"a":{"b":1,"b":2}}"#), "duplicate key `b`");
    let escape = r#"{"\u001b":1,"\u001b":2}"#;
    assert_eq!(refused(escape), r"duplicate key `\u{1b}`");
    assert_eq!(refused("[1e999]"), "number out of range");
    assert_eq!(refused("[[[[1]]]]"), "nested deeper than 3 levels");

    let text = r#"{"a":[{"b":1.5e3}],"c":123456789012345678901234567890}"#;
    assert_eq!(
        Json::parse_strict(text.as_bytes(), 3),
        Json::parse(text.as_bytes())
    );
    assert_eq!(Json::parse_strict(b"[[[]]]", 3), Json::parse(b"[[[]]]"));
}

#[test]
fn integers_keep_every_digit() {
    let digits = "9".repeat(MAX_DIGITS);
    assert_eq!(written(&digits), digits);
    assert_eq!(written("9223372036854775808"), "9223372036854775808");
    assert_eq!(
        Json::parse(b"-9223372036854775808"),
        Ok(Json::Int(i64::MIN))
    );
    assert_eq!(written("-0"), "0");
    assert!(Json::parse("9".repeat(MAX_DIGITS + 1).as_bytes()).is_err());
    for text in ["", "-", "01", "+1", "1.0", "١"] {
        assert_eq!(Json::integer(text), None, "{text}");
    }
}

#[test]
fn nesting_has_one_limit() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize, inner: &str| open.repeat(depth) + inner + &close.repeat(depth);
        for inner in ["1", "[]", "{}"] {
            assert_eq!(written(&nested(MAX_DEPTH, inner)), nested(MAX_DEPTH, inner));
            let error = Json::parse(nested(MAX_DEPTH + 1, inner).as_bytes()).expect_err("too deep");
            assert_eq!(error.message, "nested deeper than 200 levels");
        }
    }
    assert!(Json::parse("{\"a\":".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    for text in [
        "NaN",
        "Infinity",
        "-Infinity",
        "nan",
        r#""\ud800""#,
        "01",
        "1.",
        "[1,]",
        "",
        "{",
        "1 2",
    ] {
        assert!(Json::parse(text.as_bytes()).is_err(), "{text}");
    }
    let error = Json::parse(b"{\"a\": 1,\n \"b\": nul}").expect_err("no JSON");
    assert_eq!(
        error.to_string(),
        "invalid JSON: expected ident at line 2 column 10"
    );
}

#[test]
fn accessors_answer_only_for_their_kind() {
    let value: Json = [("n", Json::Int(1)), ("t", "x".into())]
        .into_iter()
        .collect();
    assert_eq!(value.get("n").and_then(Json::as_i64), Some(1));
    assert_eq!(value.get("n").and_then(Json::as_f64), Some(1.0));
    assert_eq!(value.get("t").and_then(Json::as_str), Some("x"));
    assert_eq!(value.get("x"), None);
    assert_eq!(value.as_object().map(Object::len), Some(2));
    assert_eq!(
        (value.as_array(), value.as_bool(), value.is_null()),
        (None, None, false)
    );
}
