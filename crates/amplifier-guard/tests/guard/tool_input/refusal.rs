//! A refusal says where something is wrong, what was found, and what would be right.

use amplifier_core::Json;
use amplifier_guard::{ToolInputError, ToolInputPolicy};

use super::{FILE, json, policy, refusal};

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
            "argument `/path` of `tool` must be of type string, found `7`",
        ),
        (
            r#"{"path":"x","n":5.5}"#,
            "argument `/n` of `tool` must be of type integer, found `5.5`",
        ),
        (
            r#"{"path":"x","n":true}"#,
            "argument `/n` of `tool` must be of type integer, found `true`",
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
            "argument `/tags/0` of `tool` must be of type string, found an array of 1",
        ),
        (
            r#"{"path":"x","tags":["a","b","a"]}"#,
            "argument `/tags` of `tool` must have no duplicate items, found an array of 3",
        ),
        (
            r#"{"path":"x","a/b":1}"#,
            "argument `/a~1b` of `tool` must be absent, found `1`",
        ),
        (
            r#"{"path":"x","api_key":"hunter2hunter2"}"#,
            "argument `/api_key` of `tool` must be of type integer, found \"[REDACTED:key]\"",
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
fn a_schema_tells_twenty_choices_and_no_more() {
    let schema = |count: u32| {
        let choices: Vec<u32> = (1..=count).collect();
        format!(r#"{{"properties":{{"v":{{"enum":{choices:?}}}}}}}"#)
    };
    assert_eq!(
        refusal(&schema(20), r#"{"v":0}"#),
        "argument `/v` of `tool` must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, \
         15, 16, 17, 18, 19, 20, found `0`"
    );
    assert_eq!(
        refusal(&schema(21), r#"{"v":0}"#),
        "argument `/v` of `tool` must be one of the values that its schema lists, found `0`"
    );
}

#[test]
fn a_refusal_has_its_tool_and_its_place() {
    let long = ToolInputPolicy::new(128, 10, 1).expect("settings");
    let policy = policy(FILE);
    let refused = |tool: &str, arguments: &str| {
        let error = policy
            .check_json(tool, arguments.as_bytes())
            .expect_err(arguments);
        (error.tool().to_owned(), error.pointer().to_owned())
    };
    let places = |tool: &str, pointer: &str| (tool.to_owned(), pointer.to_owned());
    assert_eq!(
        refused("tool", r#"{"path":"x","tags":["a",1]}"#),
        places("tool", "/tags/1")
    );
    assert_eq!(
        refused("tool", r#"{"path":"x","~/":1}"#),
        places("tool", "/~0~1")
    );
    assert_eq!(refused("tool", "{}"), places("tool", ""));
    assert_eq!(refused("tool", "{"), places("tool", ""));
    assert_eq!(refused("other\u{200b}", "{}"), places("other\\u{200b}", ""));
    let error = long.check_json("tool", b"{        }").expect_err("unknown");
    assert_eq!(
        error,
        ToolInputError::UnknownTool {
            tool: "tool".to_owned()
        }
    );
    let error = long.check_json("tool", b"{         }").expect_err("long");
    let expected = ToolInputError::TooLong {
        tool: "tool".to_owned(),
        bytes: 11,
        most: 10,
    };
    assert_eq!(
        (error.tool(), error.pointer(), &error),
        ("tool", "", &expected)
    );
}

#[test]
fn the_place_is_right_behind_other_values() {
    let mut policy = ToolInputPolicy::default();
    policy.set_schema("tool", &json("{}")).expect("a schema");
    let inner =
        |number: f64| Json::from_iter([("y", Json::from(vec![Json::from(0), number.into()]))]);
    let list: Json = vec![inner(1.0), inner(2.0)].into();
    let arguments = Json::from_iter([("a", list), ("b", inner(f64::INFINITY))]);
    assert_eq!(
        policy
            .check_value("tool", &arguments)
            .expect_err("infinite")
            .to_string(),
        "argument `/b/y/1` of `tool` must be a finite number, found `inf`"
    );
}

#[test]
fn what_was_no_longer_looked_at_is_not_called_wrong() {
    let branches = vec![r#"{"items":{"const":1}}"#; 2_000].join(",");
    let schema =
        format!(r#"{{"properties":{{"a":{{"anyOf":[{branches}]}},"b":{{"type":"string"}}}}}}"#);
    let arguments = format!(r#"{{"a":[{}0],"b":"x"}}"#, "1,".repeat(200));
    assert_eq!(
        refusal(&schema, &arguments),
        "the arguments of `tool` must hold to its schema, found `a`, `b`"
    );
}
