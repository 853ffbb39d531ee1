//! No tool runs with arguments that its schema does not allow, whatever schema and arguments are.

mod properties;
mod schema;

use amplifier_core::{Json, MAX_DIGITS};
use amplifier_guard::{ToolInputError, ToolInputPolicy};

const FILE: &str = r#"{
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1, "pattern": "^[a-z/]+$"},
        "n": {"type": "integer", "minimum": 0, "maximum": 100},
        "mode": {"enum": ["r", "w", 1]},
        "tags": {"type": "array", "maxItems": 3, "items": {"type": "string"}, "uniqueItems": true},
        "api_key": {"type": "integer"}
    },
    "required": ["path"],
    "additionalProperties": false
}"#;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).expect(text)
}

fn policy(schema: &str) -> ToolInputPolicy {
    let mut policy = ToolInputPolicy::default();
    policy.set_schema("tool", &json(schema)).expect(schema);
    policy
}

fn refusal(schema: &str, arguments: &str) -> String {
    let checked = policy(schema).check_json("tool", arguments.as_bytes());
    checked.expect_err(arguments).to_string()
}

#[test]
fn what_the_schema_allows_passes_unchanged() {
    let policy = policy(FILE);
    for arguments in [
        r#"{"path":"a/b"}"#,
        r#"{"path":"a","n":0,"mode":"r","tags":[]}"#,
        r#"{"path":"a","n":100.0,"mode":1.0,"tags":["x","y","X"]}"#,
    ] {
        let passed = policy
            .check_json("tool", arguments.as_bytes())
            .expect(arguments);
        assert_eq!(Json::Object(passed), json(arguments));
    }
}

#[test]
fn a_refusal_says_where_what_was_found_and_what_would_be_right() {
    for (arguments, said) in [
        ("{}", "the arguments of `tool` must have `path`, found none"),
        (
            r#"{"path":""}"#,
            "argument `/path` of `tool` must have at least 1 characters, found \"\"",
        ),
        (
            r#"{"path":"A"}"#,
            "argument `/path` of `tool` must match the pattern `^[a-z/]+$`, found \"A\"",
        ),
        (
            r#"{"path":7}"#,
            "argument `/path` of `tool` must be of the type string, found `7`",
        ),
        (
            r#"{"path":"x","n":5.5}"#,
            "argument `/n` of `tool` must be of the type integer, found `5.5`",
        ),
        (
            r#"{"path":"x","n":true}"#,
            "argument `/n` of `tool` must be of the type integer, found `true`",
        ),
        (
            r#"{"path":"x","n":101}"#,
            "argument `/n` of `tool` must be at most 100, found `101`",
        ),
        (
            r#"{"path":"x","n":-1}"#,
            "argument `/n` of `tool` must be at least 0, found `-1`",
        ),
        (
            r#"{"path":"x","n":9223372036854775808}"#,
            "argument `/n` of `tool` must be at most 100, found `9223372036854775808` (19 digits)",
        ),
        (
            r#"{"path":"x","mode":"R"}"#,
            "argument `/mode` of `tool` must be one of \"r\", \"w\", 1, found \"R\"",
        ),
        (
            r#"{"path":"x","tags":[["a"]]}"#,
            "argument `/tags/0` of `tool` must be of the type string, found an array of 1",
        ),
        (
            r#"{"path":"x","tags":["a","b","a"]}"#,
            "argument `/tags` of `tool` must have no item twice, found an array of 3",
        ),
        (
            r#"{"path":"x","a/b":1}"#,
            "argument `/a~1b` of `tool` must be absent, found `1`",
        ),
        (
            r#"{"path":"x","api_key":"hunter2hunter2"}"#,
            "argument `/api_key` of `tool` must be of the type integer, found \"[REDACTED:key]\"",
        ),
        (
            "null",
            "the arguments of `tool` must be an object, found `null`",
        ),
        (
            "[1]",
            "the arguments of `tool` must be an object, found an array of 1",
        ),
        (
            r#""{}""#,
            "the arguments of `tool` must be an object, found \"{}\"",
        ),
    ] {
        assert_eq!(refusal(FILE, arguments), said);
    }
}

#[test]
fn what_two_readers_could_take_for_different_things_is_refused() {
    let depths = format!("{}1{}", r#"{"a":"#.repeat(129), "}".repeat(129));
    let digits = format!(r#"{{"n":{}}}"#, "9".repeat(MAX_DIGITS + 1));
    for (arguments, said) in [
        (r#"{"a":1,"a":2}"#, "duplicate key `a`"),
        (r#"{"a":NaN}"#, "expected value"),
        (r#"{"a":Infinity}"#, "expected value"),
        (r#"{"a":1e999}"#, "number out of range"),
        (digits.as_str(), "number out of range"),
        (depths.as_str(), "nested deeper than 128 levels"),
        ("\u{feff}{}", "expected value"),
        ("{}}", "trailing characters"),
        (r#"{"a":1"#, "EOF while parsing an object"),
        (r#"{"a":1,}"#, "trailing comma"),
        ("{'a':1}", "key must be a string"),
        ("{\"a\":\"\u{1}\"}", "control character"),
        (r#"{"a":"\ud800"}"#, "unexpected end of hex escape"),
        ("", "EOF while parsing a value"),
        ("{\"a\": // c\n 1}", "expected value"),
    ] {
        let refused = refusal("{}", arguments);
        let start = "the arguments of `tool` are invalid JSON: ";
        assert!(refused.starts_with(start), "{refused}");
        assert!(refused.contains(said), "{refused}");
    }
    let not_utf8 = policy("{}").check_json("tool", b"{\"a\":\"\xff\"}");
    assert!(matches!(not_utf8, Err(ToolInputError::Json { .. })));
}

#[test]
fn large_integers_stay_exact() {
    let text = format!(r#"{{"n":{}}}"#, "9".repeat(MAX_DIGITS));
    let passed = policy("{}")
        .check_json("tool", text.as_bytes())
        .expect("exact");
    assert_eq!(Json::Object(passed).to_string(), text);
    for (schema, number, passes) in [
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
        (r#"{"const":9007199254740993}"#, "9007199254740992.0", false),
        (r#"{"const":9007199254740992}"#, "9007199254740992.0", true),
    ] {
        let schema = format!(r#"{{"properties":{{"n":{schema}}}}}"#);
        let checked = policy(&schema).check_json("tool", format!(r#"{{"n":{number}}}"#).as_bytes());
        assert_eq!(checked.is_ok(), passes, "{schema} {number} {checked:?}");
    }
    let large = "9".repeat(400);
    for (schema, passes) in [
        (r#"{"maximum":1e308}"#, false),
        (r#"{"minimum":1e308}"#, true),
    ] {
        let schema = format!(r#"{{"properties":{{"n":{schema}}}}}"#);
        let checked = policy(&schema).check_json("tool", format!(r#"{{"n":{large}}}"#).as_bytes());
        assert_eq!(checked.is_ok(), passes, "{schema}");
    }
}

#[test]
fn values_that_were_read_before_are_held_to_the_same_rules() {
    let policy = policy("{}");
    let refused = |value: Json| {
        let arguments = Json::from_iter([("a", vec![value])]);
        policy
            .check_value("tool", &arguments)
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(
        refused(f64::NAN.into()),
        "argument `/a/0` of `tool` must be a finite number, found `NaN`"
    );
    let deep = (0..127).fold(Json::Null, |value, _| vec![value].into());
    assert!(refused(deep).contains("must lie in at most 128 arrays and objects, found `null`"));
}

#[test]
fn an_unknown_tool_runs_with_nothing() {
    let mut policy = policy("{}");
    assert_eq!(
        policy.check_json("t\u{43e}ol", b"{}"),
        Err(ToolInputError::UnknownTool {
            tool: "t\u{43e}ol".into()
        })
    );
    assert!(policy.check_json("tool", b"{}").is_ok());
    assert!(policy.remove("tool"));
    assert!(policy.check_json("tool", b"{}").is_err());
}
