//! Numbers are read and compared as they are written, however large.

use amplifier_core::{Json, MAX_DIGITS};

use super::policy;

#[test]
fn an_integer_of_the_most_digits_passes_as_it_is() {
    let text = format!(r#"{{"n":{}}}"#, "9".repeat(MAX_DIGITS));
    let passed = policy("{}").check_json("tool", text.as_bytes());
    assert_eq!(Json::Object(passed.expect("exact")).to_string(), text);
}

fn passes(schema: &str, value: &str) -> bool {
    let schema = format!(r#"{{"properties":{{"v":{schema}}}}}"#);
    let checked = policy(&schema).check_json("tool", format!(r#"{{"v":{value}}}"#).as_bytes());
    checked.is_ok()
}

#[test]
fn integers_are_held_to_bounds_however_large() {
    let large = "9".repeat(400);
    let negative = format!("-{large}");
    for (schema, value, expected) in [
        (r#"{"type":"integer"}"#, "9223372036854775808", true),
        (
            r#"{"maximum":9223372036854775807}"#,
            "9223372036854775807",
            true,
        ),
        (
            r#"{"maximum":9223372036854775807}"#,
            "9223372036854775808",
            false,
        ),
        (
            r#"{"maximum":9223372036854775807}"#,
            "18446744073709551616",
            false,
        ),
        (
            r#"{"minimum":-9223372036854775808}"#,
            "-9223372036854775809",
            false,
        ),
        (r#"{"minimum":0}"#, "99999999999999999999999999", true),
        (
            r#"{"exclusiveMinimum":0}"#,
            "-99999999999999999999999999",
            false,
        ),
        (r#"{"maximum":1e308}"#, &large, false),
        (r#"{"minimum":1e308}"#, &large, true),
        (
            r#"{"exclusiveMaximum":18446744073709551616.0}"#,
            "18446744073709551615",
            true,
        ),
        (
            r#"{"exclusiveMaximum":18446744073709551616.0}"#,
            "18446744073709551616",
            false,
        ),
        (r#"{"multipleOf":5}"#, "18446744073709551615", true),
        (r#"{"multipleOf":2}"#, "18446744073709551615", false),
        (
            r#"{"multipleOf":3}"#,
            "100000000000000000000000000000002",
            true,
        ),
        (
            r#"{"multipleOf":3}"#,
            "100000000000000000000000000000003",
            false,
        ),
        (r#"{"multipleOf":3}"#, &large, true),
        (r#"{"multipleOf":3}"#, "1e300", false),
        (r#"{"multipleOf":3}"#, "-0.0", true),
        (
            r#"{"multipleOf":7}"#,
            "-100000000000000000000000000000000",
            false,
        ),
        (r#"{"minimum":0}"#, &large, true),
        (r#"{"minimum":0}"#, &negative, false),
        (r#"{"maximum":0}"#, &large, false),
        (r#"{"maximum":0}"#, &negative, true),
        (r#"{"type":"integer"}"#, &negative, true),
    ] {
        assert_eq!(passes(schema, value), expected, "{schema} {value}");
    }
}

#[test]
fn numbers_are_equal_where_their_values_are() {
    let large = "9".repeat(400);
    let negative = format!("-{large}");
    for (schema, value, expected) in [
        (r#"{"const":9007199254740993}"#, "9007199254740992.0", false),
        (r#"{"const":9007199254740992}"#, "9007199254740992.0", true),
        (
            r#"{"const":18446744073709551616.0}"#,
            "18446744073709551616",
            true,
        ),
        (r#"{"const":1}"#, &large, false),
        (
            r#"{"uniqueItems":true}"#,
            "[18446744073709551616,18446744073709551617]",
            true,
        ),
        (
            r#"{"uniqueItems":true}"#,
            "[18446744073709551616,18446744073709551616.0]",
            false,
        ),
        (r#"{"uniqueItems":true}"#, "[1e39,1e40]", true),
        (r#"{"uniqueItems":true}"#, "[1e39,1e39]", false),
        (r#"{"uniqueItems":true}"#, "[1.5,1]", true),
        (
            r#"{"uniqueItems":true}"#,
            &format!("[{large},{large}]"),
            false,
        ),
        (
            r#"{"uniqueItems":true}"#,
            &format!("[{large},{negative}]"),
            true,
        ),
    ] {
        assert_eq!(passes(schema, value), expected, "{schema} {value}");
    }
}
