//! What each keyword asks for, in the words of a refusal.

use super::refusal;

/// A schema, a value that does not hold to it, and what is said.
const WORDS: &[(&str, &str, &str)] = &[
    (
        r#"{"type":"integer"}"#,
        "[]",
        "be of type integer, found an array of 0",
    ),
    (
        r#"{"type":["integer","array"]}"#,
        "{}",
        "be of type integer or array, found an object of 0",
    ),
    (
        r#"{"type":["null","boolean"]}"#,
        "\"\"",
        "be of type null or boolean, found \"\"",
    ),
    (
        r#"{"required":["x"]}"#,
        "{}",
        "have `x`, found an object of 0",
    ),
    ("false", "1.50", "be absent, found `1.5`"),
    (
        r#"{"enum":[1,"a",null]}"#,
        "2",
        "be one of 1, \"a\", null, found `2`",
    ),
    (r#"{"const":{"a":1}}"#, "null", "be {\"a\":1}, found `null`"),
    (r#"{"minimum":2}"#, "1", "be at least 2, found `1`"),
    (r#"{"maximum":2}"#, "3", "be at most 2, found `3`"),
    (r#"{"exclusiveMinimum":2}"#, "2", "be above 2, found `2`"),
    (
        r#"{"exclusiveMaximum":2.5}"#,
        "2.5",
        "be below 2.5, found `2.5`",
    ),
    (r#"{"multipleOf":2}"#, "3", "be a multiple of 2, found `3`"),
    (
        r#"{"minLength":2}"#,
        "\"é\"",
        "have at least 2 characters, found \"é\"",
    ),
    (
        r#"{"maxLength":0}"#,
        "\"é\"",
        "have at most 0 characters, found \"é\"",
    ),
    (
        r#"{"minItems":2}"#,
        "[1]",
        "have at least 2 items, found an array of 1",
    ),
    (
        r#"{"maxItems":0}"#,
        "[1]",
        "have at most 0 items, found an array of 1",
    ),
    (
        r#"{"minProperties":2}"#,
        r#"{"a":1}"#,
        "have at least 2 entries, found an object of 1",
    ),
    (
        r#"{"maxProperties":0}"#,
        r#"{"a":1}"#,
        "have at most 0 entries, found an object of 1",
    ),
    (
        r#"{"uniqueItems":true}"#,
        "[1,1]",
        "have no duplicate items, found an array of 2",
    ),
    (
        r#"{"pattern":"^`"}"#,
        "\"a\"",
        "match the pattern `^``, found \"a\"",
    ),
    (
        r#"{"anyOf":[false,{"const":1}]}"#,
        "true",
        "match one of the schemas in `anyOf`, found `true`",
    ),
    (
        r#"{"oneOf":[false,{"const":1}]}"#,
        "2",
        "match one of the schemas in `oneOf`, found `2`",
    ),
    (
        r#"{"oneOf":[true,{"const":1}]}"#,
        "1",
        "match exactly one of the schemas in `oneOf`, found `1`",
    ),
    (
        r#"{"not":{}}"#,
        "1",
        "satisfy `not` of its schema, found `1`",
    ),
    (
        r#"{"contains":false}"#,
        "[1]",
        "satisfy `contains` of its schema, found an array of 1",
    ),
];

#[test]
fn each_keyword_has_its_words() {
    for (schema, value, said) in WORDS {
        let schema = format!(r#"{{"properties":{{"v":{schema}}}}}"#);
        let refused = refusal(&schema, &format!(r#"{{"v":{value}}}"#));
        assert_eq!(refused, format!("argument `/v` of `tool` must {said}"));
    }
}

#[test]
fn an_integer_of_more_than_forty_digits_is_not_shown() {
    let refused = |digits: &str| {
        refusal(
            r#"{"properties":{"v":false}}"#,
            &format!(r#"{{"v":{digits}}}"#),
        )
    };
    let forty = "9".repeat(40);
    assert_eq!(
        refused(&forty),
        format!("argument `/v` of `tool` must be absent, found `{forty}` (40 digits)")
    );
    assert_eq!(
        refused(&(forty + "9")),
        "argument `/v` of `tool` must be absent, found an integer of 41 digits"
    );
}
