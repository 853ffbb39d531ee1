//! No tool runs with arguments that its schema does not allow, whatever schema and arguments are.

use amplifier_core::{Json, MAX_DIGITS};
use amplifier_guard::{ToolInputError, ToolInputPolicy};
use proptest::prelude::*;

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

fn flaw(schema: &str) -> String {
    let mut policy = ToolInputPolicy::default();
    policy
        .set_schema("tool", &json(schema))
        .expect_err(schema)
        .to_string()
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

#[test]
fn a_schema_is_compiled_when_it_changes_and_tools_are_bounded() {
    let mut policy = ToolInputPolicy::new(128, 10, 1).expect("settings");
    assert_eq!(policy.set_schema("a", &json("{}")), Ok(true));
    assert_eq!(policy.set_schema("a", &json("{}")), Ok(false));
    assert_eq!(
        policy.set_schema("a", &json(r#"{"required":["x"]}"#)),
        Ok(true)
    );
    assert!(policy.check_json("a", b"{}").is_err());
    assert_eq!(
        policy
            .set_schema("b", &json("{}"))
            .expect_err("full")
            .to_string(),
        "the schema of tool `b` cannot be used: there are 1 tools already, no more are taken at ``"
    );
    assert_eq!(
        policy
            .check_json("a", br#"{"x":"yyyy"}"#)
            .expect_err("long")
            .to_string(),
        "the arguments of `a` have 12 bytes, at most 10 are read"
    );
    assert!(ToolInputPolicy::new(0, 1, 1).is_err());
}

#[test]
fn a_schema_reads_nothing_but_itself() {
    for target in [
        "http://127.0.0.1:9/x",
        "file:///etc/passwd",
        "other.json",
        "#anchor",
        "//h/x",
    ] {
        let schema = format!(r#"{{"properties":{{"a":{{"$ref":"{target}"}}}}}}"#);
        assert_eq!(
            flaw(&schema),
            format!(
                "the schema of tool `tool` cannot be used: `{target}` refers to something that is \
                 not `#/…` of this schema at `/properties/a/$ref`"
            )
        );
    }
    assert!(flaw(r##"{"$ref":"#/$defs/none"}"##).contains("`#/$defs/none` refers to nothing"));
    assert!(flaw(r##"{"allOf":[{"$dynamicRef":"#x"}]}"##).contains("only `$ref` is followed"));
    assert!(
        flaw(r#"{"not":{"$id":"http://x/"}}"#).contains("only the whole schema may have an id")
    );
    assert!(flaw(r#"{"$schema":"http://evil.example/"}"#).contains("cannot be used"));
}

#[test]
fn a_schema_that_cannot_be_used_is_refused_by_its_place() {
    assert!(flaw("true").contains("it must be an object, found a boolean"));
    assert!(flaw(r#"{"properties":{"a":{"type":"text"}}}"#).ends_with("at `/properties/a/type`"));
    assert!(
        flaw(r#"{"properties":{"a":{"pattern":"(?=a)"}}}"#).ends_with("at `/properties/a/pattern`")
    );
    assert!(flaw(r#"{"properties":{"a":{"pattern":"(\\w{1,999}){999}"}}}"#).ends_with("/pattern`"));
    assert!(flaw(r#"{"const":99999999999999999999}"#).contains("beyond 64 bits"));
}

#[test]
fn names_and_data_are_no_keywords() {
    let schema = r##"{
        "properties": {
            "$ref": {"type": "string"}, "id": {"type": "string"}, "default": {"$ref": "#/$defs/n"},
            "enum": {"const": {"$ref": "file:///x", "$id": "y"}}
        },
        "examples": [{"id": "a", "$ref": "b"}],
        "$defs": {"n": {"type": "integer"}, "a b/c": true}
    }"##;
    let policy = policy(schema);
    let passes = |arguments: &str| policy.check_json("tool", arguments.as_bytes()).is_ok();
    assert!(passes(
        r#"{"$ref":"x","id":"y","default":1,"enum":{"$ref":"file:///x","$id":"y"}}"#
    ));
    assert!(!passes(r#"{"default":"x"}"#));

    let escaped = r##"{"$defs":{"a b/c":{"required":["x"]}},"$ref":"#/$defs/a%20b~1c"}"##;
    assert!(refusal(escaped, "{}").contains("must have `x`"));
}

/// A definition that refers twice to the next one, `length` of them.
fn doubling(length: usize) -> String {
    let definitions: Vec<String> = (0..length)
        .map(|index| {
            let next = index + 1;
            format!(r##""d{index}":{{"anyOf":[{{"$ref":"#/$defs/d{next}"}},{{"$ref":"#/$defs/d{next}"}}]}}"##)
        })
        .collect();
    format!(
        r##"{{"$defs":{{{},"d{length}":{{"type":"string"}}}},"$ref":"#/$defs/d0"}}"##,
        definitions.join(",")
    )
}

#[test]
fn a_small_schema_that_stands_for_a_huge_one_is_refused() {
    assert!(flaw(&doubling(40)).contains("stands for more than 20000 objects"));
    assert!(
        refusal(&doubling(8), "{}").contains("must be what one of the schemas in `anyOf` asks for")
    );
}

#[test]
fn alternatives_that_multiply_with_the_depth_end() {
    let schema = r##"{"$defs":{"n":{"anyOf":[
        {"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"k":{"const":1}}},
        {"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"k":{"const":2}}}]}},
        "$ref":"#/$defs/n"}"##;
    let arguments = format!("{}1{}", r#"{"a":"#.repeat(120), "}".repeat(120));
    let refused = refusal(schema, &arguments);
    assert!(
        refused.starts_with("the arguments of `tool` must "),
        "{refused}"
    );
}

#[test]
fn a_schema_of_circles_ends() {
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}"##,
        r##"{"allOf":[{"$ref":"#"}],"properties":{"x":{"$ref":"#"}}}"##,
    ] {
        assert!(
            policy(schema)
                .check_json("tool", br#"{"x":{"x":{}}}"#)
                .is_ok()
        );
    }
    let chain: Vec<String> = (0..5_000)
        .map(|index| format!(r##""d{index}":{{"$ref":"#/$defs/d{}"}}"##, index + 1))
        .collect();
    let long = format!(
        r##"{{"$defs":{{{},"d5000":{{}}}},"$ref":"#/$defs/d0"}}"##,
        chain.join(",")
    );
    assert!(flaw(&long).contains("it is deeper than 512 levels"));
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(190), "}".repeat(190));
    policy(&deep);
}

#[test]
fn a_comparison_that_takes_too_long_is_refused() {
    let branches = vec![r#"{"items":{"const":1}}"#; 2_000].join(",");
    let schema = format!(r#"{{"properties":{{"a":{{"anyOf":[{branches}]}}}}}}"#);
    // Each alternative reads as far as the last item.
    let list = |length| format!(r#"{{"a":[{}0]}}"#, "1,".repeat(length));
    assert_eq!(
        refusal(&schema, &list(200)),
        "the arguments of `tool` must hold to its schema, found `a`"
    );
    assert_eq!(
        refusal(&schema, &list(6_000)),
        "the arguments of `tool` take too long to be compared with its schema"
    );
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "[-+.0-9eE]{1,30}".prop_filter_map("a number", |digits| Json::integer(&digits)),
        "\\PC{0,12}".prop_map(Json::from),
        prop::sample::select(vec![
            "#",
            "#/properties/a",
            "object",
            "integer",
            "^a*$",
            "(",
            "a|b"
        ])
        .prop_map(Json::from),
    ];
    let key = prop_oneof![
        prop::sample::select(vec![
            "$ref",
            "$id",
            "$schema",
            "$defs",
            "type",
            "properties",
            "items",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
            "if",
            "then",
            "else",
            "const",
            "enum",
            "minimum",
            "maximum",
            "multipleOf",
            "pattern",
            "required",
            "additionalProperties",
            "patternProperties",
            "uniqueItems",
            "minLength",
            "a",
            "b",
            "propertyNames",
            "contains",
            "unevaluatedProperties",
            "dependentSchemas",
            "format",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,6}",
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(Json::from_iter),
        ]
    })
}

proptest! {
    // Each case compiles a schema, which takes milliseconds.
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "\\PC{0,60}") {
        let policy = policy(FILE);
        let _ = policy.check_json("tool", &bytes);
        let _ = policy.check_json("tool", text.as_bytes());
        let _ = policy.check_json("tool", format!("{{\"path\":{text:?}}}").as_bytes());
    }

    #[test]
    fn no_schema_panics(schema in any_json(), arguments in any_json()) {
        let mut policy = ToolInputPolicy::default();
        if policy.set_schema("tool", &schema).is_ok() {
            let _ = policy.check_value("tool", &arguments);
        }
    }

    #[test]
    fn a_value_is_the_one_that_a_schema_names(value in any_json(), other in any_json()) {
        let mut policy = ToolInputPolicy::default();
        let schema = Json::from_iter([("properties", Json::from_iter([
            ("a", Json::from_iter([("const", value.clone())])),
            ("b", Json::from_iter([("uniqueItems", Json::Bool(true))])),
        ]))]);
        prop_assume!(policy.set_schema("tool", &schema).is_ok());
        let passes = |name: &str, value: Json| {
            let checked = policy.check_value("tool", &Json::from_iter([(name, value)]));
            match checked {
                Ok(()) => true,
                Err(ToolInputError::Mismatch { .. }) => false,
                Err(error) => panic!("{error}"),
            }
        };
        prop_assert!(passes("a", value.clone()));
        let pair = vec![value.clone(), other.clone()];
        // The two notions of equality agree.
        if passes("b", vec![other.clone()].into()) {
            prop_assert_eq!(passes("a", other), !passes("b", pair.into()));
        }
    }
}
