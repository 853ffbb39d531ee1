//! No tool runs with arguments that its schema does not allow, whatever schema and arguments are.

mod keywords;
mod numbers;
mod properties;
mod refusal;
mod schema;
mod words;

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
}

#[test]
fn depth_is_counted_alike_in_values_and_in_text() {
    let policy = policy("{}");
    let listed = |inner: Json| Json::from(vec![inner]);
    let keyed = |inner: Json| Json::from_iter([("k", inner)]);
    for wrap in [&listed as &dyn Fn(Json) -> Json, &keyed] {
        let nested = |count| (0..count).fold(Json::Null, |inner, _| wrap(inner));
        for (count, passes) in [(127, true), (128, false)] {
            let arguments = Json::from_iter([("a", nested(count))]);
            let refused = policy
                .check_value("tool", &arguments)
                .map_err(|error| error.to_string());
            let in_text = policy.check_json("tool", arguments.to_string().as_bytes());
            assert_eq!(
                (refused.is_ok(), in_text.is_ok()),
                (passes, passes),
                "{count}"
            );
            if let Err(message) = refused {
                let said = "must be nested at most 128 levels deep, found `null`";
                assert!(message.ends_with(said), "{message}");
            }
        }
    }
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
