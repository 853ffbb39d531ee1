//! Tool arguments: strict where a repair would change what runs.

use amplifier_core::Json;
use amplifier_stream::{MAX_ARGUMENT_DEPTH, parse_arguments};
use proptest::prelude::*;

fn problem(text: &str) -> String {
    parse_arguments(text).unwrap_err().to_string()
}

fn parsed(text: &str) -> String {
    Json::Object(parse_arguments(text).unwrap().0).to_string()
}

#[test]
fn what_is_no_plain_object_is_refused_with_its_reason() {
    let cases = [
        (r#"{"a":1,"a":2}"#, "duplicate key `a` at byte 11"),
        (r#"{"b":{"a":1,"a":2}}"#, "duplicate key `a` at byte 16"),
        (r#"{"a":NaN}"#, "expected a value, found `NaN` at byte 5"),
        (
            r#"{"a":-Infinity}"#,
            "expected a value, found `-Infinity` at byte 5",
        ),
        (r#"{"a":1e400}"#, "number `1e400` overflows at byte 5"),
        (r#"{"a":01}"#, "number with a leading zero at byte 5"),
        (
            r#"{"a":1.}"#,
            "number without digits after its decimal point at byte 5",
        ),
        (
            r#"{"a":1e}"#,
            "number without digits in its exponent at byte 5",
        ),
        ("[1]", "expected an object, found an array at byte 0"),
        ("null", "expected an object, found null at byte 0"),
        (r#""a""#, "expected an object, found a string at byte 0"),
        (
            r#"{"a":1,}"#,
            "expected a key in double quotes, found '}' at byte 7",
        ),
        (r#"{"a" 1}"#, "expected `:`, found `1` at byte 5"),
        (r#"{"a":1 2}"#, "expected `,` or `}`, found `2` at byte 7"),
        (r#"{"a":[1 2]}"#, "expected `,` or `]`, found `2` at byte 8"),
        (r#"{"a":tru}"#, "expected a value, found `tru` at byte 5"),
        (r#"{"a":"x"#, "unterminated string at byte 7"),
        (r#"{"a":"\x"}"#, r"unknown escape in a string at byte 6"),
        (r#"{"a":"\u12"}"#, "`\\u` without four digits at byte 6"),
        ("{\"a\":\"\n\"}", "control character in a string at byte 6"),
        (r#"{"a":1} x"#, "trailing characters at byte 8"),
        (
            "{",
            "expected a key in double quotes, found the end at byte 1",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(problem(text), expected, "for {text}");
    }
}

#[test]
fn no_text_is_no_arguments() {
    assert_eq!(parsed(""), "{}");
    assert_eq!(parsed(" \n"), "{}");
}

#[test]
fn numbers_keep_their_digits() {
    let text =
        r#"{"a":123456789012345678901234567890,"b":-9223372036854775808,"c":0.1,"d":1e-400}"#;
    assert_eq!(
        parsed(text),
        r#"{"a":123456789012345678901234567890,"b":-9223372036854775808,"c":0.1,"d":0.0}"#
    );
    let huge = format!(r#"{{"a":{}}}"#, "9".repeat(4301));
    assert_eq!(problem(&huge), "integer of more than 4300 digits at byte 5");
}

#[test]
fn depth_is_limited_and_never_overflows_the_stack() {
    let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    assert!(parse_arguments(&nested(MAX_ARGUMENT_DEPTH)).is_ok());
    assert!(problem(&nested(MAX_ARGUMENT_DEPTH + 1)).starts_with("nesting deeper than 128 levels"));
    assert!(problem(&"[".repeat(1_000_000)).starts_with("nesting deeper than 128 levels"));
}

#[test]
fn halves_of_surrogate_pairs_are_joined_or_replaced_and_counted() {
    let (arguments, unpaired) =
        parse_arguments(r#"{"a":"\ud83d\ude00","b":"\ud83d","c":"\ude00x\ud83dy\ude00"}"#).unwrap();
    let text = Json::Object(arguments).to_string();
    assert_eq!(
        text,
        "{\"a\":\"😀\",\"b\":\"\u{FFFD}\",\"c\":\"\u{FFFD}x\u{FFFD}y\u{FFFD}\"}"
    );
    assert_eq!(unpaired, 4);
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::hash_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn valid_objects_are_read_as_serde_json_reads_them(value in json(), pretty in any::<bool>()) {
        let object = serde_json::json!({"value": value});
        let text = if pretty { serde_json::to_string_pretty(&object) } else { serde_json::to_string(&object) };
        let read: serde_json::Value = serde_json::from_str(&parsed(&text.unwrap())).unwrap();
        prop_assert_eq!(read, object);
    }

    #[test]
    fn anything_else_is_refused_as_serde_json_refuses_it(
        text in r#"[\[\]{}",:0-9.eE+\-\\u ntrfalsbd\x00-\x20é]{0,24}"#,
    ) {
        let text = format!("{{\"a\":{text}}}");
        // Lone surrogates, duplicate keys and overflow are judged otherwise on purpose.
        if parse_arguments(&text).is_ok() && !text.contains("\\u") {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
        }
        if serde_json::from_str::<serde_json::Value>(&text).is_ok()
            && let Err(error) = parse_arguments(&text)
        {
            prop_assert!(error.problem.starts_with("duplicate key"), "{}: {}", text, error);
        }
    }
}
